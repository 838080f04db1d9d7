"""How tables of the lake are encoded as Parquet."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from archive.tables import DELTA_CODED
from solvers.errors import PermanentError

ZSTD_LEVEL = 1
"""Of numbers and ids higher levels make no less ..."""
WORDS_ZSTD_LEVEL = 3
"""... but of words."""
_IDS = ("job_id", "puzzle_id")
"""Columns in which hardly a text stands twice: a dictionary of them would be all of them."""


def parquet_writer(sink: pa.NativeFile, schema: pa.Schema) -> pq.ParquetWriter:
    """Write a table of the lake: the same rows give the same bytes."""
    path = (schema.metadata or {}).get(DELTA_CODED.encode(), b"").decode()
    plain = (*_IDS, path.partition(".")[0])
    # Encodings are chosen for leaves: those of a list have names of their own.
    leaves = [
        f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name
        for field in schema
    ]
    encoding: dict[str, Any] = {"column_encoding": {path: "DELTA_BYTE_ARRAY"}} if path else {}
    return pq.ParquetWriter(
        sink,
        schema,
        **encoding,
        use_dictionary=[leaf for leaf in leaves if leaf.partition(".")[0] not in plain],
        compression="zstd",
        compression_level=WORDS_ZSTD_LEVEL if path else ZSTD_LEVEL,
        write_page_index=True,
        write_page_checksum=True,
    )


def check_declared(schema: pa.Schema, path: str) -> None:
    """Raise PermanentError for a schema that is not one of `archive.tables`."""
    if not schema.metadata or b"nightgrid.table" not in schema.metadata:
        raise PermanentError(
            f"{path}: the table's schema is not one of archive.tables; conform it first"
        )

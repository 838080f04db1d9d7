"""How tables of the lake are encoded as Parquet."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from archive.tables import DELTA_CODED
from solvers.errors import PermanentError

ZSTD_LEVEL = 3


def parquet_writer(sink: pa.NativeFile, schema: pa.Schema) -> pq.ParquetWriter:
    """Write a table of the lake: the same rows give the same bytes."""
    path = (schema.metadata or {}).get(DELTA_CODED.encode(), b"").decode()
    column = path.partition(".")[0]
    encoding: dict[str, Any] = {}
    if path:
        encoding = {
            "use_dictionary": [name for name in schema.names if name != column],
            "column_encoding": {path: "DELTA_BYTE_ARRAY"},
        }
    return pq.ParquetWriter(
        sink,
        schema,
        **encoding,
        compression="zstd",
        compression_level=ZSTD_LEVEL,
        write_page_index=True,
        write_page_checksum=True,
    )


def check_declared(schema: pa.Schema, path: str) -> None:
    """Raise PermanentError for a schema that is not one of `archive.tables`."""
    if not schema.metadata or b"nightgrid.table" not in schema.metadata:
        raise PermanentError(
            f"{path}: the table's schema is not one of archive.tables; conform it first"
        )

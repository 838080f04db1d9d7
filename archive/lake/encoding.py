"""How tables of the lake are encoded as Parquet."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nightgrid.archive.lake.tables import DELTA_CODED
from nightgrid.solvers.errors import PermanentError

ZSTD_LEVEL = 1
"""Higher levels make numbers and ids no smaller ..."""
TEXT_ZSTD_LEVEL = 3
"""... but of texts."""
IDS = ("job_id", "puzzle_id")
"""Columns in which hardly a text stands twice, or the same one again and again: of the former a
dictionary would be all of them, and the latter zstd makes small without one."""
BYTE_SPLIT_TABLE = "manifest"
"""The table whose lists of numbers are stored byte by byte, the first bytes of all before the
second ones: to look each up in a dictionary takes longer, and makes no less of them. In tables
that others read they are not: not every reader knows how to put such numbers together."""


def parquet_writer(sink: pa.NativeFile, schema: pa.Schema) -> pq.ParquetWriter:
    """Write a table of the lake: the same rows give the same bytes."""
    encodings = dict.fromkeys(_byte_split(schema), "BYTE_STREAM_SPLIT")
    path = _metadata(schema, DELTA_CODED)
    if path:
        encodings[path] = "DELTA_BYTE_ARRAY"
    encoding: dict[str, Any] = {"column_encoding": encodings} if encodings else {}
    return pq.ParquetWriter(
        sink,
        schema,
        **encoding,
        use_dictionary=[
            leaf
            for leaf, field in leaves(schema).items()
            if field.name not in IDS and leaf not in encodings
        ],
        compression="zstd",
        compression_level={leaf: _level(field) for leaf, field in leaves(schema).items()},
        write_page_index=True,
        write_page_checksum=True,
    )


def leaves(schema: pa.Schema) -> dict[str, pa.Field]:
    """Name what encodings are chosen for, with its field: the leaf of a list has another name."""
    return {
        f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name: field
        for field in schema
    }


def _byte_split(schema: pa.Schema) -> list[str]:
    if _metadata(schema, "nightgrid.table") != BYTE_SPLIT_TABLE:
        return []
    return [
        leaf
        for leaf, field in leaves(schema).items()
        if pa.types.is_list(field.type) and field.type.value_type in (pa.int32(), pa.int64())
    ]


def _metadata(schema: pa.Schema, key: str) -> str:
    return (schema.metadata or {}).get(key.encode(), b"").decode()


def _level(field: pa.Field) -> int:
    kind = field.type.value_type if pa.types.is_list(field.type) else field.type
    return TEXT_ZSTD_LEVEL if pa.types.is_string(kind) and field.name not in IDS else ZSTD_LEVEL


def check_declared(schema: pa.Schema, path: str) -> None:
    """Raise PermanentError for a schema that is not one of `nightgrid.archive.lake.tables`."""
    if not schema.metadata or b"nightgrid.table" not in schema.metadata:
        raise PermanentError(
            f"{path}: the table's schema is not one of nightgrid.archive.lake.tables; conform it"
        )

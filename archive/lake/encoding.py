"""How tables of the lake are written as Parquet, and how their files are opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nightgrid.archive.lake.conforming import conform, shaped
from nightgrid.archive.lake.faults import DamagedFileError, NewerSchemaError
from nightgrid.archive.lake.schemas import SCHEMA_VERSION, VERSION_KEY
from nightgrid.solvers.errors import PermanentError

SMALL_ROWS = 4096
"""Tables up to this many rows are read by one thread, since starting more takes longer."""
WITHOUT_DICTIONARY = (
    "job_id", "puzzle_id", "raw_sha256", "sha256", "key", "backend_id", "official_solution",
    "source_id", "url", "date", "seen_at", "fetched_at", "last_modified", "kernel_ns",
)  # fmt: skip
"""Columns stored without a dictionary: either hardly any value repeats, so that the dictionary
would hold all of them, or one value repeats, which zstd compresses well by itself."""
SORTED_TEXTS_TABLE = "dictionaries"
"""The table whose sorted words are stored as differences to the previous word."""
BYTE_SPLIT_TABLE = "manifest"
"""The table whose lists of numbers are stored byte by byte (BYTE_STREAM_SPLIT): dictionary look-ups
take longer and compress no better. Not used in tables that others read, since not every reader
supports it."""


def parquet_writer(sink: pa.NativeFile, schema: pa.Schema) -> pq.ParquetWriter:
    """Write a table of the lake: the same rows give the same bytes."""
    encodings = _encodings(schema)
    encoding: dict[str, Any] = {"column_encoding": encodings} if encodings else {}
    return pq.ParquetWriter(
        sink,
        schema,
        **encoding,
        use_dictionary=[
            leaf
            for leaf, field in leaves(schema).items()
            if field.name not in WITHOUT_DICTIONARY and leaf not in encodings
        ],
        compression="zstd",
        write_page_index=True,
        write_page_checksum=True,
    )


def filled(
    path: str,
    tables: Iterable[pa.Table],
    schema: pa.Schema,
    *,
    row_group_rows: int | None = None,
) -> Callable[[pa.NativeFile], None]:
    """Return a function that writes tables, each as one row group or in `row_group_rows`."""
    if VERSION_KEY.encode() not in (schema.metadata or {}):
        raise PermanentError(
            f"{path}: the table's schema is not one of nightgrid.archive.lake.schemas; conform it"
        )

    def fill(sink: pa.NativeFile) -> None:
        with parquet_writer(sink, schema) as writer:
            for table in tables:
                # An empty table still gets a row group, and with it a schema that every reader
                # agrees on.
                rows = max(1, row_group_rows or len(table))
                writer.write_table(conform(table, schema), row_group_size=rows)

    return fill


def leaves(schema: pa.Schema) -> dict[str, pa.Field]:
    """Return the fields that encodings are chosen for by name; a list's leaf has another name."""
    return {
        f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name: field
        for field in schema
    }


def _encodings(schema: pa.Schema) -> dict[str, str]:
    """Return the encodings of columns that dictionaries do not suit."""
    table = metadata_of(schema, "nightgrid.table")
    if table == SORTED_TEXTS_TABLE:
        return {"words.list.element": "DELTA_BYTE_ARRAY"}
    numbers = (pa.int32(), pa.int64()) if table == BYTE_SPLIT_TABLE else ()
    return {
        leaf: "BYTE_STREAM_SPLIT"
        for leaf, field in leaves(schema).items()
        if pa.types.is_list(field.type) and field.type.value_type in numbers
    }


class TableFile(pq.ParquetFile):  # type: ignore[misc]
    """A Parquet file of the lake; page checksums are verified on reading."""

    def __init__(self, source: pa.NativeFile, path: str) -> None:
        """Open a file; raises as `check_version`, and Arrow's errors if it is not Parquet."""
        super().__init__(source, page_checksum_verification=True)
        self.path = path
        check_version(self.schema_arrow, path)

    def group_rows(self) -> list[int]:
        """Count the rows of every row group."""
        return [self.metadata.row_group(i).num_rows for i in range(self.num_row_groups)]

    def whole(self, wanted: pa.Schema) -> pa.Table:
        """Read all rows in the shape of a schema."""
        many = self.metadata.num_rows > SMALL_ROWS
        return shaped(self.read(columns=wanted.names, use_threads=many), wanted, self.path)

    def group(self, number: int, wanted: pa.Schema) -> pa.Table:
        """Read one row group in the shape of a schema."""
        return shaped(self.read_row_group(number, columns=wanted.names), wanted, self.path)


def check_version(schema: pa.Schema, path: str) -> None:
    """Raise NewerSchemaError for a file with a later schema version than this program's.

    Raises DamagedFileError for one without a version, which is not a table of the lake.
    """
    text = metadata_of(schema, VERSION_KEY)
    if not text.isdigit():
        raise DamagedFileError(f"{path} is not a table of this program: it has no schema version")
    if int(text) > SCHEMA_VERSION:
        raise NewerSchemaError(
            f"{path} has schema version {text}, this program reads up to {SCHEMA_VERSION}: "
            "expected the nightgrid that wrote it, or a later one"
        )


def metadata_of(schema: pa.Schema, key: str) -> str:
    """Read a text of a schema's metadata; "" if missing."""
    return (schema.metadata or {}).get(key.encode(), b"").decode()

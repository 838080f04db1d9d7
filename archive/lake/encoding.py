"""How tables of the lake are written as Parquet, and how their files are opened."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nightgrid.archive.lake.conforming import columns_to_read, conform, select, shaped
from nightgrid.archive.lake.faults import DamagedFileError, ForeignFileError, NewerSchemaError
from nightgrid.archive.lake.row_sums import (
    FileSums,
    RowSums,
    check_group,
    check_sums,
    has_sums_of_groups,
    metadata_of,
)
from nightgrid.archive.lake.tables import DELTA_CODED, SCHEMA_VERSION, VERSION_KEY
from nightgrid.archive.parquet_footers import FooterError, RowGroup, read_row_groups
from nightgrid.archive.parquet_sizes import OversizeError, check_footer
from nightgrid.solvers.errors import PermanentError

ZSTD_LEVEL = 1
"""Higher levels make numbers and ids no smaller ..."""
TEXT_ZSTD_LEVEL = 3
"""... but of texts."""
WITHOUT_DICTIONARY = (
    "job_id", "puzzle_id", "raw_sha256", "sha256", "key", "backend_id", "official_solution",
    "source_id", "url", "date", "seen_at", "fetched_at", "last_modified", "kernel_ns",
)  # fmt: skip
"""Columns whose values are written as they are, and whose texts with the lower level of zstd:
either hardly a value stands twice, so that a dictionary would hold all of them, or the same value
repeats, which zstd makes small by itself."""
BYTE_SPLIT_TABLE = "manifest"
"""The table whose lists of numbers are stored byte by byte, the first bytes of all before the
second ones: to look each up in a dictionary takes longer, and makes no less of them. In tables
that others read they are not: not every reader knows how to put such numbers together."""

_ARROW_SCHEMA = b"ARROW:schema"
_WRITTEN_TYPES = frozenset(
    kind.id
    for kind in (
        pa.bool_(), pa.uint8(), pa.int32(), pa.int64(), pa.float64(), pa.string(), pa.binary(1),
        pa.date32(), pa.timestamp("us"), pa.decimal128(38),
    )
)  # fmt: skip
"""Types of columns of the lake, and of what their lists have."""


def parquet_writer(sink: pa.NativeFile, schema: pa.Schema) -> pq.ParquetWriter:
    """Write a table of the lake: the same rows give the same bytes."""
    encodings = dict.fromkeys(_byte_split(schema), "BYTE_STREAM_SPLIT")
    path = metadata_of(schema, DELTA_CODED)
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
            if field.name not in WITHOUT_DICTIONARY and leaf not in encodings
        ],
        compression="zstd",
        compression_level={leaf: _level(field) for leaf, field in leaves(schema).items()},
        write_page_index=True,
        write_page_checksum=True,
    )


def filled(
    path: str,
    tables: Iterable[pa.Table],
    schema: pa.Schema,
    *,
    row_group_rows: int | None = None,
    metadata: Callable[[], Mapping[str, str]] = dict,
) -> Callable[[pa.NativeFile], None]:
    """Make what writes tables, each as one row group or as several of `row_group_rows`."""
    check_declared(schema, path)

    def fill(sink: pa.NativeFile) -> None:
        sums = FileSums(schema)
        with parquet_writer(sink, schema) as writer:
            for table in tables:
                # An empty table still gets a row group, and with it a schema any reader agrees on.
                rows = max(1, row_group_rows or len(table))
                conformed = conform(table, schema)
                writer.write_table(conformed, row_group_size=rows)
                sums.add(conformed, rows)
            if added := {**metadata(), **sums.to_metadata()}:
                writer.add_key_value_metadata(added)

    return fill


def leaves(schema: pa.Schema) -> dict[str, pa.Field]:
    """Name what encodings are chosen for, with its field: the leaf of a list has another name."""
    return {
        f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name: field
        for field in schema
    }


def _byte_split(schema: pa.Schema) -> list[str]:
    if metadata_of(schema, "nightgrid.table") != BYTE_SPLIT_TABLE:
        return []
    return [
        leaf
        for leaf, field in leaves(schema).items()
        if pa.types.is_list(field.type) and field.type.value_type in (pa.int32(), pa.int64())
    ]


def _level(field: pa.Field) -> int:
    kind = field.type.value_type if pa.types.is_list(field.type) else field.type
    is_text = pa.types.is_string(kind) and field.name not in WITHOUT_DICTIONARY
    return TEXT_ZSTD_LEVEL if is_text else ZSTD_LEVEL


def check_declared(schema: pa.Schema, path: str) -> None:
    """Raise PermanentError for a schema that is not one of `nightgrid.archive.lake.tables`."""
    if not schema.metadata or b"nightgrid.table" not in schema.metadata:
        raise PermanentError(
            f"{path}: the table's schema is not one of nightgrid.archive.lake.tables; conform it"
        )
    for field in _of_other_types(schema):
        raise PermanentError(
            f"{path}: column {field.name} has the type {field.type}, never written"
        )


class TableFile(pq.ParquetFile):  # type: ignore[misc]
    """A Parquet file of the lake, its footer looked at, and the checksums of its pages compared."""

    def __init__(self, source: pa.NativeFile, path: str) -> None:
        """Open a file; raises as `check_file`, and what Arrow raises for what is no Parquet."""
        super().__init__(source, page_checksum_verification=True)
        self._source, self._path = source, path
        self._compared: set[str] = set()
        check_file(self, source.size(), path)

    def row_groups(self) -> tuple[RowGroup, ...]:
        """Read what the footer says of each row group; raises DamagedFileError."""
        try:
            return read_row_groups(self._source)
        except FooterError as error:
            raise DamagedFileError(f"{self._path} is damaged: {error}") from error

    def group(self, number: int, wanted: pa.Schema) -> pa.Table:
        """Read one row group in the shape of a schema, compared with its sums.

        Raises DamagedFileError for rows that were changed since they were written.
        """
        table = self._shaped(number, wanted)
        self.check(table, number)
        return table

    def check(self, table: pa.Table, number: int) -> None:
        """Compare columns that were read of one row group with its sums.

        Where groups have none, all rows of the file are compared when a column is first read, which
        reads it twice. Raises DamagedFileError for rows that were changed since they were written.
        """
        if self._groups_have_sums:
            check_group(table, self.metadata, number, self._path)
            return
        names = [name for name in table.column_names if name not in self._compared]
        if names:
            sums = RowSums(select(table.schema, names))
            for group in range(self.num_row_groups) if sums.wanted else ():
                sums.add(self._shaped(group, select(table.schema, names)))
            check_sums(sums, self.metadata.metadata, self._path)
            self._compared.update(names)

    @cached_property
    def _groups_have_sums(self) -> bool:
        return has_sums_of_groups(self.metadata)

    def _shaped(self, number: int, wanted: pa.Schema) -> pa.Table:
        there = columns_to_read(wanted.names, self.schema_arrow.names)
        return shaped(self.read_row_group(number, columns=there), wanted, self._path)


def check_file(file: TableFile, file_bytes: int, path: str) -> None:
    """Look at the footer of a file of the lake before it is read.

    Raises NewerSchemaError for a file that a later version of this program has written,
    ForeignFileError for one that another program has written, DamagedFileError for one that says it
    has far more values than its bytes can tell, and for one whose columns have other names or types
    than they were written with.
    """
    try:
        check_footer(file.metadata, file_bytes, file.row_groups)
    except (FooterError, OversizeError) as error:
        raise DamagedFileError(f"{path}: {error}") from error
    schema = file.schema_arrow
    mark = (schema.metadata or {}).get(VERSION_KEY.encode())
    if mark is None:
        # It is not read: a text that is stored once may stand in each of its rows, and take more
        # memory than there is.
        raise ForeignFileError(f"{path} is foreign: another program wrote it")
    text = mark.decode("ascii", "replace")
    if text.isdigit() and int(text) > SCHEMA_VERSION:
        raise NewerSchemaError(
            f"{path} has schema version {text}, this program reads up to {SCHEMA_VERSION}: "
            "expected the nightgrid that wrote it, or a later one"
        )
    # Arrow leaves its schema beside that of Parquet: a name that changed stands in one of them.
    written = (file.metadata.metadata or {}).get(_ARROW_SCHEMA)
    if written is not None:
        twin = pa.ipc.read_schema(pa.py_buffer(b64decode(written, validate=True)))
        if [(field.name, field.type) for field in twin] != [(f.name, f.type) for f in schema]:
            raise DamagedFileError(f"{path} is damaged: its columns are not those that it names")
    # Where both say the same, Arrow may have taken the types of its own: durations for numbers.
    if b"nightgrid.table" in (schema.metadata or {}):
        for field in _of_other_types(schema):
            raise DamagedFileError(
                f"{path} is damaged: its column {field.name} has the type {field.type}"
            )


def _of_other_types(schema: pa.Schema) -> list[pa.Field]:
    kinds = ((f.type.value_type if pa.types.is_list(f.type) else f.type, f) for f in schema)
    return [field for kind, field in kinds if kind.id not in _WRITTEN_TYPES]

"""How tables of the lake are encoded as Parquet, and the sums by which changed rows are noticed."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nightgrid.archive.lake.conforming import conform
from nightgrid.archive.lake.faults import DamagedFileError, NewerSchemaError
from nightgrid.archive.lake.tables import DELTA_CODED, SCHEMA_VERSION
from nightgrid.archive.parquet_footers import FooterError, RowGroup, read_row_groups
from nightgrid.archive.parquet_sizes import OversizeError, check_footer
from nightgrid.solvers.errors import PermanentError

ZSTD_LEVEL = 1
"""Higher levels make numbers and ids no smaller ..."""
TEXT_ZSTD_LEVEL = 3
"""... but of texts."""
IDS = (
    "job_id", "puzzle_id", "raw_sha256", "sha256", "key", "backend_id", "official_solution",
)  # fmt: skip
"""Columns without a dictionary: either hardly a text stands twice, so that it would hold all of
them, or the same text repeats, which zstd makes small by itself."""
BYTE_SPLIT_TABLE = "manifest"
"""The table whose lists of numbers are stored byte by byte, the first bytes of all before the
second ones: to look each up in a dictionary takes longer, and makes no less of them. In tables
that others read they are not: not every reader knows how to put such numbers together."""

SUMMED_TABLES = ("parts", "results", "solutions")
"""Tables whose files carry the sums of their columns: answers, which no other file can tell."""
ROW_SUMS = "nightgrid.row_sums"
"""Where the metadata of a file keep them."""
GROUP_TABLES = ("results", "solutions")
"""Tables among them that are read by row groups: where a file has several, it carries the sums of
each, too."""
GROUP_SUMS = "nightgrid.group_sums"
"""Where the metadata keep those: {column: eight hexadecimal digits for each row group}."""
_ARROW_SCHEMA = b"ARROW:schema"
_WITHOUT_SUMS = (b"1", b"2", b"3", b"4")
"""Schema versions that left no sums."""


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
        sums, groups = RowSums(schema), GroupSums(schema)
        with parquet_writer(sink, schema) as writer:
            for table in tables:
                # An empty table still gets a row group, and with it a schema any reader agrees on.
                rows = max(1, row_group_rows or len(table))
                conformed = conform(table, schema)
                writer.write_table(conformed, row_group_size=rows)
                sums.add(conformed)
                groups.add(conformed, rows)
            if added := {**metadata(), **sums.to_metadata(), **groups.to_metadata()}:
                writer.add_key_value_metadata(added)

    return fill


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


class TableFile(pq.ParquetFile):  # type: ignore[misc]
    """A Parquet file of the lake, its footer looked at, and the checksums of its pages compared."""

    def __init__(self, source: pa.NativeFile, path: str) -> None:
        """Open a file; raises as `check_file`, and what Arrow raises for what is no Parquet."""
        super().__init__(source, page_checksum_verification=True)
        self._source, self._path = source, path
        check_file(self, source.size(), path)

    def row_groups(self) -> tuple[RowGroup, ...]:
        """Read what the footer says of each row group; raises DamagedFileError."""
        try:
            return read_row_groups(self._source)
        except FooterError as error:
            raise DamagedFileError(f"{self._path} is damaged: {error}") from error


def check_file(file: TableFile, file_bytes: int, path: str) -> None:
    """Look at the footer of a file of the lake before it is read.

    Raises NewerSchemaError for a file that a later version of this program has written,
    DamagedFileError for one that says it has far more values than its bytes can tell, and for one
    whose columns have other names or types than they were written with.
    """
    try:
        check_footer(file.metadata, file_bytes, file.row_groups)
    except (FooterError, OversizeError) as error:
        raise DamagedFileError(f"{path}: {error}") from error
    schema = file.schema_arrow
    text = (schema.metadata or {}).get(b"nightgrid.schema_version", b"").decode("ascii", "replace")
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


class RowSums:
    """Checksums of the columns of a table, which do not depend on how its rows are cut."""

    def __init__(self, schema: pa.Schema) -> None:
        self._sums = {field.name: [0, 0, 0] for field in schema}
        self.wanted = _metadata(schema, "nightgrid.table") in SUMMED_TABLES

    def add(self, table: pa.Table) -> None:
        """Go on with rows; columns of texts, numbers or truth values, which may be null."""
        for name, sums in self._sums.items() if self.wanted else ():
            for chunk in table.column(name).chunks:
                for i, data in enumerate(column_bytes(chunk)):
                    sums[i] = crc32(data, sums[i])

    def to_metadata(self) -> dict[str, str]:
        """Write the sums as metadata of a file; nothing of a table without."""
        if not self.wanted:
            return {}
        return {ROW_SUMS: json.dumps(self.told, separators=(",", ":"))}

    @property
    def told(self) -> dict[str, str]:
        """The sum of each column."""
        return {
            name: f"{crc32(b''.join(part.to_bytes(4, 'little') for part in sums)):08x}"
            for name, sums in self._sums.items()
        }


class GroupSums:
    """Checksums of the columns of each row group of a file that is written."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._sums: list[dict[str, str]] = []
        self.wanted = _metadata(schema, "nightgrid.table") in GROUP_TABLES

    def add(self, table: pa.Table, group_rows: int) -> None:
        """Go on with a table that is written as row groups of so many rows."""
        for start in range(0, max(1, len(table)), group_rows) if self.wanted else ():
            sums = RowSums(self._schema)
            sums.add(table.slice(start, group_rows))
            self._sums.append(sums.told)

    def to_metadata(self) -> dict[str, str]:
        """Write them as metadata; {} for a single group, whose sums are those of the file."""
        if len(self._sums) < 2:
            return {}
        told = {name: "".join(sums[name] for sums in self._sums) for name in self._schema.names}
        return {GROUP_SUMS: json.dumps(told, separators=(",", ":"))}


def check_group(table: pa.Table, metadata: pq.FileMetaData, number: int, path: str) -> None:
    """Compare columns of one row group with the sums in a file's metadata.

    Files of several groups that were written before groups had sums are not compared. Raises
    DamagedFileError as `check_rows`.
    """
    told = metadata.metadata or {}
    text = told.get(GROUP_SUMS.encode())
    if text is None:
        # Without any sums the file is an old one, or another program's.
        if metadata.num_row_groups == 1 or ROW_SUMS.encode() not in told:
            check_rows(table, told, path)
        return
    sums = RowSums(table.schema)
    if not sums.wanted:
        return
    sums.add(table)
    at = slice(8 * number, 8 * number + 8)
    _compare(sums, text, path, lambda known: known[at])


def check_rows(table: pa.Table, metadata: Mapping[bytes, bytes] | None, path: str) -> None:
    """Compare columns with the sums in a file's metadata; versions before 5 have left none.

    Raises DamagedFileError for rows that were changed since, and for a file of another program,
    which leaves no sums.
    """
    sums = RowSums(table.schema)
    sums.add(table)
    check_sums(sums, metadata, path)


def check_sums(sums: RowSums, metadata: Mapping[bytes, bytes] | None, path: str) -> None:
    """Compare the sums of all rows of a file as `check_rows`."""
    if not sums.wanted:
        return
    metadata = metadata or {}
    text = metadata.get(ROW_SUMS.encode())
    if text is None:
        if metadata.get(b"nightgrid.schema_version", b"") in _WITHOUT_SUMS:
            return
        raise DamagedFileError(f"{path} is foreign: another program wrote it")
    _compare(sums, text, path)


def _compare(
    sums: RowSums, text: bytes, path: str, of: Callable[[str], str] = lambda known: known
) -> None:
    try:
        known = {str(name): of(str(told)) for name, told in dict(json.loads(text)).items()}
    except (ValueError, TypeError) as error:
        raise DamagedFileError(f"{path} is damaged: its sums are no JSON") from error
    changed = [name for name, told in sums.told.items() if known.get(name, told) != told]
    if changed:
        what = ", ".join(changed)
        raise DamagedFileError(f"{path} is damaged: {what} changed since it was written")


def digest_of_rows(table: pa.Table) -> str:
    """Hash the values of a table, however it is cut into chunks: hexadecimal digits."""
    hashes = sha256()
    for column in table.columns:
        for data in column_bytes(column.combine_chunks()):
            hashes.update(data)
    return hashes.hexdigest()


def column_bytes(chunk: pa.Array) -> list[Any]:
    """Lay a column out as bytes that do not depend on where it was cut: validity, values, lengths.

    Of what is null only that it is null counts.
    """
    if not len(chunk):
        return []
    found: list[Any] = [chunk.is_valid().cast(pa.uint8()).to_numpy(zero_copy_only=False)]
    kind = chunk.type
    if chunk.null_count:
        zero: Any = "" if pa.types.is_string(kind) else False if pa.types.is_boolean(kind) else 0
        chunk = pc.fill_null(chunk, pa.scalar(zero, kind))
    if pa.types.is_boolean(kind):
        return [*found, chunk.cast(pa.uint8()).to_numpy(zero_copy_only=False)]
    buffer = chunk.buffers()
    if not pa.types.is_string(kind):
        width = kind.byte_width
        return [*found, buffer[1].slice(chunk.offset * width, len(chunk) * width)]
    ends = np.frombuffer(buffer[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    data = (buffer[2] or pa.py_buffer(b"")).slice(int(ends[0]), int(ends[-1] - ends[0]))
    return [*found, data, np.diff(ends)]

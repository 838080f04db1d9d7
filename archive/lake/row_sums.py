"""The sums by which rows of the lake are noticed that were changed since they were written.

A checksum of Parquet covers the data of a page, and not what its header says of them; nor does
another program that writes a file again leave the sums of the rows that were.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.tables import VERSION_KEY

UNSUMMED_TABLE = "frontier"
"""The table whose files carry no sums of their columns: gigabytes, of one column that no reader
takes for another."""
ANSWER_TABLES = ("parts", "results", "solutions")
"""Tables that have carried sums since schema version 5; files of the others may be without."""
ROW_SUMS = "nightgrid.row_sums"
"""Where the metadata of a file keep the sums of its columns."""
GROUP_SUMS = "nightgrid.group_sums"
"""Where the metadata of a file of several row groups keep the sums of each: {column: eight
hexadecimal digits for each row group}."""
_WITHOUT_SUMS = (b"1", b"2", b"3", b"4")
"""Schema versions that left no sums."""


def metadata_of(schema: pa.Schema, key: str) -> str:
    """Read a text of a schema's metadata, or nothing."""
    return (schema.metadata or {}).get(key.encode(), b"").decode()


class RowSums:
    """Checksums of the columns of a table, which do not depend on how its rows are cut."""

    def __init__(self, schema: pa.Schema) -> None:
        self._table = metadata_of(schema, "nightgrid.table")
        self.wanted = self._table not in ("", UNSUMMED_TABLE)
        self.crcs = {
            field.name: [0] * (5 if pa.types.is_list(field.type) else 3) for field in schema
        }

    def add(self, table: pa.Table, beside: RowSums | None = None) -> None:
        """Go on with rows: columns of texts, numbers or truth values, or lists of these.

        `beside` goes on with the same rows, which are laid out once for both.
        """
        for name in self.crcs if self.wanted else ():
            both = [one.crcs[name] for one in (self, beside) if one is not None]
            for chunk in table.column(name).chunks:
                for i, data in enumerate(column_bytes(chunk)):
                    for sums in both:
                        sums[i] = crc32(data, sums[i])

    @property
    def may_lack(self) -> bool:
        """Whether files of this program may be without, whichever version wrote them."""
        return self._table not in ANSWER_TABLES

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
            for name, sums in self.crcs.items()
        }


class FileSums:
    """Checksums of the columns of a file that is written, of all rows and of each row group."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._whole = RowSums(schema)
        self._groups: list[dict[str, str]] = []

    def add(self, table: pa.Table, group_rows: int) -> None:
        """Go on with a table that is written as row groups of so many rows."""
        for start in range(0, max(1, len(table)), group_rows) if self._whole.wanted else ():
            # The sums of all rows so far are those of the first group when it ends.
            group = RowSums(self._schema) if self._groups else None
            self._whole.add(table.slice(start, group_rows), group)
            self._groups.append((group or self._whole).told)

    def to_metadata(self) -> dict[str, str]:
        """Write them as metadata; those of a single group are those of the file."""
        whole = self._whole.to_metadata()
        if len(self._groups) < 2:
            return whole
        told = {name: "".join(sums[name] for sums in self._groups) for name in self._schema.names}
        return {**whole, GROUP_SUMS: json.dumps(told, separators=(",", ":"))}


def has_sums_of_groups(metadata: pq.FileMetaData) -> bool:
    """Tell whether a row group of a file can be compared without the others.

    Files of several groups that were written before groups had sums tell those of all rows alone;
    files that another program has cut otherwise tell those of groups that are no more.
    """
    told, groups = metadata.metadata or {}, metadata.num_row_groups
    if ROW_SUMS.encode() not in told:
        return True
    text = told.get(GROUP_SUMS.encode())
    if text is None:
        return groups == 1
    try:
        return all(len(sums) == 8 * groups for sums in dict(json.loads(text)).values())
    except (ValueError, TypeError):
        return True  # `check_group` says what is wrong.


def check_group(table: pa.Table, metadata: pq.FileMetaData, number: int, path: str) -> None:
    """Compare columns of one row group with the sums in a file's metadata: `has_sums_of_groups`.

    Raises DamagedFileError as `check_rows`.
    """
    text = (metadata.metadata or {}).get(GROUP_SUMS.encode())
    if text is None:
        # Without any sums the file is an old one, or another program's.
        check_rows(table, metadata.metadata, path)
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
        if sums.may_lack or metadata.get(VERSION_KEY.encode(), b"") in _WITHOUT_SUMS:
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
    # Reads the buffers of columns without nulls: `to_numpy` takes several times as long.
    if not len(chunk):
        return []
    found: list[Any] = [_validity(chunk)]
    kind = chunk.type
    if pa.types.is_list(kind):
        lengths = pc.list_value_length(chunk)
        lengths = pc.fill_null(lengths, 0) if chunk.null_count else lengths
        return [*found, _values(lengths), *column_bytes(chunk.flatten())]
    if chunk.null_count:
        zero: Any = "" if pa.types.is_string(kind) else False if pa.types.is_boolean(kind) else 0
        chunk = pc.fill_null(chunk, pa.scalar(zero, kind))
    if pa.types.is_boolean(kind):
        return [*found, _values(chunk.cast(pa.uint8()))]
    if not pa.types.is_string(kind):
        return [*found, _values(chunk)]
    buffer = chunk.buffers()
    ends = np.frombuffer(buffer[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    data = (buffer[2] or pa.py_buffer(b"")).slice(int(ends[0]), int(ends[-1] - ends[0]))
    return [*found, data, np.diff(ends)]


def _validity(chunk: pa.Array) -> pa.Buffer | bytes:
    """Give a byte for each value: 1, or 0 where it is null."""
    if chunk.null_count:
        return _values(chunk.is_valid().cast(pa.uint8()))
    return b"\x01" * len(chunk)


def _values(chunk: pa.Array) -> pa.Buffer:
    """Give the bytes of one value or more, of fixed width and none of them null."""
    width = chunk.type.byte_width
    return chunk.buffers()[1].slice(chunk.offset * width, len(chunk) * width)

"""Look at what a Parquet file says of its sizes before anything in it is expanded.

A value that repeats takes a few bytes of a file, however often it repeats: 3 KB can stand for
gigabytes. The footer says how many values there are, and the header in front of each page says what
reading it takes; Arrow goes by the latter, so files from elsewhere are looked at page by page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow.parquet as pq

ANY_VALUES = 2**22
"""Values that any file may have: they take some 64 MB."""
VALUES_PER_BYTE = 64
"""Beyond ANY_VALUES, values for each byte of the file. Tables of ours have less than one, because
ids repeat nothing; boards have up to about ten."""
GROUP_VALUES_MAX = 2**27
"""Values that a row group from elsewhere may have, over the columns that are read."""
PAGE_BYTES_MAX = 2**28
"""What one page from elsewhere may be once it is decompressed; writers end pages at 1 to 100 MB."""
PREFIXED_BYTES_MAX = 2**28
"""What texts may take that are stored as what differs from the text before them, at worst."""
_BATCH_VALUES = 2_048
_HEADER_BYTES = (1 << 12, 1 << 24)
"""What is read of a header at first, and if that is not all of it: Arrow's own bound."""
_DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_V2 = 0, 2, 3
_DELTA_BYTE_ARRAY = 7


class OversizeError(Exception):
    """A file that says it takes more memory than it may; the text says what and how much."""


def check_footer(metadata: pq.FileMetaData, file_bytes: int) -> None:
    """Raise OversizeError for a file whose footer has far more values than its bytes can tell.

    Costs no request and a few microseconds a row group.
    """
    schema = metadata.schema
    count = metadata.num_columns
    lists = [i for i in range(count) if schema.column(i).max_repetition_level]
    values = 0
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        # Arrow ends the process where it is asked for a column whose statistics are damaged.
        values += row_group.num_rows * (count - len(lists))
        values += sum(row_group.column(i).num_values for i in lists)
    _check_values(values, file_bytes)


def check_row_group(
    stream: BinaryIO, metadata: pq.FileMetaData, group: int, columns: Collection[str]
) -> None:
    """Raise OversizeError for a row group that takes too much, as the headers of its pages say.

    `stream` is the file, and `columns` are the names at the top of the schema that are read.
    """
    row_group = metadata.row_group(group)
    values = stored = 0
    for i in range(row_group.num_columns):
        chunk = row_group.column(i)
        if chunk.path_in_schema.split(".", 1)[0] not in columns or not chunk.num_values:
            # Arrow reads no page of a column that is said to have no value.
            continue
        declared = 0
        for page in _pages(stream, chunk):
            declared += page.values
            if page.bytes > PAGE_BYTES_MAX:
                raise OversizeError(
                    f"a page of {chunk.path_in_schema} says it takes {page.bytes:,} bytes; "
                    f"expected at most {PAGE_BYTES_MAX:,}"
                )
            at_once = min(page.values, _BATCH_VALUES)
            if page.prefixed and at_once * page.bytes > PREFIXED_BYTES_MAX:
                raise OversizeError(
                    f"the texts of {chunk.path_in_schema} are stored as what differs from the one "
                    "before, so that their lengths show too late; expected another encoding"
                )
        values += max(declared, chunk.num_values)
        stored += chunk.total_compressed_size
    _check_values(values, stored)
    if values > GROUP_VALUES_MAX:
        raise OversizeError(
            f"row group {group} has {values:,} values; expected at most {GROUP_VALUES_MAX:,}: "
            "write smaller row groups"
        )


def _check_values(values: int, stored: int) -> None:
    if values > max(ANY_VALUES, VALUES_PER_BYTE * stored):
        raise OversizeError(
            f"{values:,} values are said to be in {stored:,} bytes; expected at most "
            f"{VALUES_PER_BYTE} for each byte"
        )


@dataclass(frozen=True, slots=True)
class _Page:
    values: int
    """Values of a data page; 0 of a dictionary."""
    bytes: int
    """Once it is decompressed."""
    prefixed: bool


def _pages(stream: BinaryIO, chunk: Any) -> Iterator[_Page]:
    """Read the headers of the pages of a column chunk."""
    offset = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        offset = min(offset, chunk.dictionary_page_offset)
    end = offset + chunk.total_compressed_size
    while 0 <= offset < end:
        fields, length = _header(stream, offset, chunk.path_in_schema)
        try:
            yield _page_of(fields)
            size = int(fields[3])
        except (KeyError, TypeError, ValueError) as error:
            raise OversizeError(_NO_HEADER.format(chunk.path_in_schema)) from error
        if size < 0:
            raise OversizeError(_NO_HEADER.format(chunk.path_in_schema))
        offset += length + size


_NO_HEADER = "the header of a page of {} cannot be read, and with it what the page takes"


def _header(stream: BinaryIO, offset: int, column: str) -> tuple[dict[int, Any], int]:
    for most in _HEADER_BYTES:
        stream.seek(offset)
        try:
            return _Compact(stream.read(most)).struct()
        except IndexError:
            continue
        except (ValueError, RecursionError) as error:
            raise OversizeError(_NO_HEADER.format(column)) from error
    raise OversizeError(_NO_HEADER.format(column))


def _page_of(fields: dict[int, Any]) -> _Page:
    """Read a PageHeader of parquet.thrift: 1 type, 2 uncompressed and 3 compressed size, ..."""
    about = {_DATA_PAGE: 5, _DICTIONARY_PAGE: 7, _DATA_PAGE_V2: 8}.get(fields[1])
    if about is None:
        return _Page(0, fields[2], prefixed=False)
    inner = fields[about]
    is_data = fields[1] != _DICTIONARY_PAGE
    # Of a data page of version 2 the encoding comes after two more numbers.
    encoding = inner.get(4 if fields[1] == _DATA_PAGE_V2 else 2)
    prefixed = encoding == _DELTA_BYTE_ARRAY
    return _Page(inner[1] if is_data else 0, fields[2], prefixed=prefixed)


class _Compact:
    """Reads a struct of Thrift's compact protocol: numbers and structs by the ids of their fields.

    https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def struct(self) -> tuple[dict[int, Any], int]:
        """Read the struct that begins here; also where it ends."""
        found: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            delta = head >> 4
            field = field + delta if delta else self._number()
            found[field] = self._value(head & 0x0F)
        return found, self._at

    def _value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._number()
        if kind == 7:
            return self._skip(8)
        if kind == 8:
            return self._skip(self._varint())
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4
            if count == 15:
                count = self._varint()
            if count > len(self._data):
                raise ValueError("a list is longer than the header")
            return [self._value(head & 0x0F) for _ in range(count)]
        if kind == 12:
            return self.struct()[0]
        raise ValueError("no header of a page has a map")

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def _number(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _skip(self, count: int) -> None:
        self._at += count

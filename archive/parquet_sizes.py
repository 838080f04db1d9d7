"""Look at what a Parquet file says of its sizes before anything in it is expanded.

A value that repeats takes a few bytes of a file, however often it repeats: 3 KB can stand for
gigabytes. The footer says how many values there are, and the header in front of each page says what
reading it takes; Arrow goes by the latter, so files from elsewhere are looked at page by page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from nightgrid.archive.parquet_footers import (
    ColumnChunk,
    FooterError,
    read_row_groups,
    read_struct,
)

ANY_VALUES = 2**22
"""Values that any file may have: they take some 64 MB."""
VALUES_PER_BYTE = 64
"""Beyond ANY_VALUES, values for each byte of the file. Tables of ours have less than one, because
ids repeat nothing; boards have up to about ten."""
GROUP_VALUES_MAX = 2**27
"""Values that a row group from elsewhere may have, over the columns that are read."""
PAGE_BYTES_MAX = 2**28
"""What one page from elsewhere may be once it is decompressed, and what those may be together that
are read at once, one of each column; writers end pages at 1 to 100 MB."""
DICTIONARY_BYTES_MAX = 2**26
"""What the dictionaries of a row group from elsewhere may be: they are held decompressed, decoded
and as Arrow's, four times what they are. Most writers end them at 1 MB."""
PREFIXED_BYTES_MAX = 2**28
"""What texts may take that are stored as what differs from the text before them, at worst."""
_BATCH_VALUES = 2_048
_HEADER_BYTES = (1 << 12, 1 << 24)
"""What is read of a header at first, and if that is not all of it: Arrow's own bound."""
_DATA_PAGE, _DATA_PAGE_V2 = 0, 3
_DELTA_BYTE_ARRAY = 7


class OversizeError(Exception):
    """A file that says it takes more memory than it may; the text says what and how much."""


def check_row_group(stream: BinaryIO, group: int, columns: Collection[str]) -> None:
    """Raise OversizeError for a row group that takes too much, as the headers of its pages say.

    `stream` is the file, and `columns` are the names at the top of the schema that are read. Raises
    FooterError for a footer, or the header of a page, that cannot be read.
    """
    values = stored = pages = dictionaries = 0
    for chunk in read_row_groups(stream)[group].columns:
        if chunk.path.partition(".")[0] not in columns or not chunk.value_count:
            # Arrow reads no page of a column that is said to have no value.
            continue
        declared = largest = 0
        for page in _pages(stream, chunk):
            declared += page.values
            if page.is_data:
                largest = max(largest, page.bytes)
            else:
                dictionaries += page.bytes
            if page.bytes > PAGE_BYTES_MAX:
                raise OversizeError(
                    f"a page of {chunk.path} says it takes {page.bytes:,} bytes; "
                    f"expected at most {PAGE_BYTES_MAX:,}"
                )
            at_once = min(page.values, _BATCH_VALUES)
            if page.prefixed and at_once * page.bytes > PREFIXED_BYTES_MAX:
                raise OversizeError(
                    f"the texts of {chunk.path} are stored as what differs from the one "
                    "before, so that their lengths show too late; expected another encoding"
                )
        values += max(declared, chunk.value_count)
        stored += chunk.stored_bytes
        pages += largest
    if pages > PAGE_BYTES_MAX:
        raise OversizeError(
            f"the largest pages of the columns of row group {group} say they take {pages:,} bytes "
            f"together; expected at most {PAGE_BYTES_MAX:,}: write smaller pages"
        )
    if dictionaries > DICTIONARY_BYTES_MAX:
        raise OversizeError(
            f"the dictionaries of row group {group} say they take {dictionaries:,} bytes; "
            f"expected at most {DICTIONARY_BYTES_MAX:,}: write columns whose values differ without "
            "a dictionary"
        )
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
    """Values of a data page; 0 of any other."""
    bytes: int
    """Once it is decompressed."""
    prefixed: bool
    is_data: bool
    """It is no dictionary."""


def _pages(stream: BinaryIO, chunk: ColumnChunk) -> Iterator[_Page]:
    """Read the headers of the pages of a column chunk."""
    offset, end = chunk.begin, chunk.begin + chunk.stored_bytes
    while offset < end:
        fields, length = _header(stream, offset, chunk.path)
        try:
            page, size = _page_of(fields), fields[3]
        except KeyError as error:
            raise FooterError(_NO_HEADER.format(chunk.path)) from error
        if min(page.values, page.bytes, size) < 0:
            raise FooterError(_NO_HEADER.format(chunk.path))
        if fields.get(7, {}).get(1, 0) > page.bytes:
            # Arrow makes room for all of them first.
            raise OversizeError(
                f"a dictionary of {chunk.path} says it has {fields[7][1]:,} values in "
                f"{page.bytes:,} bytes; expected at most one for each byte"
            )
        yield page
        offset += length + size


_NO_HEADER = "the header of a page of {} cannot be read, and with it what the page takes"
# 1 type, 2 uncompressed and 3 compressed size; 5 and 8 are of one type of data page each, and 7 of
# dictionaries. Of these 1 is the number of values, and then comes the encoding: after two more
# numbers in version 2.
_HEADER = {1: 5, 2: 5, 3: 5, 5: {1: 5, 2: 5}, 7: {1: 5}, 8: {1: 5, 4: 5}}
_ABOUT = {_DATA_PAGE: (5, 2), _DATA_PAGE_V2: (8, 4)}


def _header(stream: BinaryIO, offset: int, column: str) -> tuple[dict[int, Any], int]:
    for most in _HEADER_BYTES:
        stream.seek(offset)
        try:
            return read_struct(stream.read(most), _HEADER)
        except IndexError:
            continue
        except ValueError as error:
            raise FooterError(_NO_HEADER.format(column)) from error
    raise FooterError(_NO_HEADER.format(column))


def _page_of(fields: dict[int, Any]) -> _Page:
    """Read a PageHeader of parquet.thrift."""
    if fields[1] not in _ABOUT:
        # Arrow reads only dictionaries that are encoded plainly.
        return _Page(0, fields[2], prefixed=False, is_data=False)
    about, encoding = _ABOUT[fields[1]]
    inner = fields[about]
    is_prefixed = inner.get(encoding) == _DELTA_BYTE_ARRAY
    return _Page(inner[1], fields[2], prefixed=is_prefixed, is_data=True)

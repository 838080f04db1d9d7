"""Read what the footer of a Parquet file says of its row groups, and the headers of its pages.

Arrow says it too, but its Python binding ends the process where it is asked for a column chunk of
which the statistics do not fit, and no other package reads footers of which nothing is trusted
(docs/adr/0029-damaged-files.md). So what is needed of Thrift's compact protocol is read here.

https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, BinaryIO, NamedTuple

from cachetools import LRUCache, cached

FOOTER_BYTES_MAX = 2**24
"""Bytes of a footer that is read: some 100,000 column chunks. As records they take ten times as
much."""
_TAIL_BYTES = 8
_MAGIC = b"PAR1"
_KEPT_FOOTERS = 64
"""So many footers are kept as they were read, at most, of FOOTER_BYTES_MAX together: row groups are
read one by one, each after a look at the footer of its file, and a night looks at the same small
files several times."""
_DEPTH_MAX = 16
"""Structs and lists within one another; parquet.thrift has eight."""


class FooterError(Exception):
    """A footer, or the header of a page, that cannot be read as such."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChunk:
    """The values of one column in one row group."""

    path: str
    """Names from the top of the schema down, with dots between them."""
    value_count: int
    stored_bytes: int
    """With the headers of its pages, as they lie in the file."""
    begin: int
    """Where in the file its first page begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowGroup:
    """Some rows of a file, column by column in the order of the schema's leaves."""

    row_count: int
    columns: tuple[ColumnChunk, ...]


class _Footer(NamedTuple):
    size: int
    """Its share of FOOTER_BYTES_MAX among the footers that are kept."""
    groups: tuple[RowGroup, ...]


def read_row_groups(stream: BinaryIO) -> tuple[RowGroup, ...]:
    """Read what the footer of a file says of its row groups.

    Raises FooterError for a footer that is damaged, encrypted or longer than FOOTER_BYTES_MAX.
    """
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(size - _TAIL_BYTES, 0))
    tail = bytes(stream.read(_TAIL_BYTES))
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > size - _TAIL_BYTES:
        raise FooterError("the file does not end as Parquet does")
    if length > FOOTER_BYTES_MAX:
        raise FooterError(
            f"its footer has {length:,} bytes; expected at most {FOOTER_BYTES_MAX:,}: write larger "
            "row groups"
        )
    stream.seek(size - _TAIL_BYTES - length)
    return _read_footer(bytes(stream.read(length))).groups


@cached(LRUCache(FOOTER_BYTES_MAX, lambda footer: footer.size), lock=Lock())
def _read_footer(footer: bytes) -> _Footer:
    try:
        found, _ = read_struct(footer, _FILE)
        groups = tuple(_row_group(fields) for fields in found[_ROW_GROUPS])
        _check_columns(found[_SCHEMA], found[_ROW_GROUPS])
    except (KeyError, IndexError, ValueError, RecursionError, StopIteration) as error:
        # What Python says of it names no place in the file.
        raise FooterError("its footer cannot be read") from error
    return _Footer(max(len(footer), FOOTER_BYTES_MAX // _KEPT_FOOTERS), groups)


_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE = 1, 2, 3, 4, 5, 6, 7
_BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = 8, 9, 10, 11, 12, 13
_WIDTHS = {_TRUE: 0, _FALSE: 0, _BYTE: 1, _DOUBLE: 8, _UUID: 16}
_BITS = {_I32: 32, _I64: 64}

# Which fields are read, by their ids: a kind, the fields of a struct, or [what a list has].
_SCHEMA, _ROW_GROUPS = 2, 4
_ELEMENT = {1: _I32, 3: _I32, 5: _I32}  # type, repetition_type, num_children
_OPTIONAL, _REPEATED = 1, 2
_SIZES = {2: [_I64], 3: [_I64]}  # how many values have each repetition and definition level
_COLUMN = {1: _I32, 3: [_BINARY], 5: _I64, 7: _I64, 9: _I64, 11: _I64, 16: _SIZES}
_ROW_GROUP = {1: [{3: _COLUMN}], 3: _I64}
_FILE: Mapping[int, Any] = {_SCHEMA: [_ELEMENT], _ROW_GROUPS: [_ROW_GROUP]}


def _check_columns(
    schema: Sequence[Mapping[int, Any]], groups: Sequence[Mapping[int, Any]]
) -> None:
    """Raise ValueError for column chunks that do not fit the leaves of the schema.

    Arrow ends the process, or never ends, where its own threads meet such a chunk.
    """
    elements = iter(schema)
    # The top of the schema is no column, and writers differ in what they say of it.
    tops = next(elements).get(5, 0)
    leaves = [leaf for _ in range(tops) for leaf in _leaves(elements)]
    for group in groups:
        chunks = [fields[3] for fields in group[1]]
        if [chunk[1] for chunk in chunks] != [kind for kind, *_ in leaves]:
            raise ValueError("a column has another type than in the schema")
        for chunk, (_, *levels) in zip(chunks, leaves, strict=True):
            if not levels[0] and chunk[5] != group[3]:
                raise ValueError("a column outside of lists has not one value for each row")
            sizes = chunk.get(16, {})
            for counts, level in zip((sizes.get(2), sizes.get(3)), levels, strict=True):
                if counts and len(counts) != level + 1:
                    raise ValueError("a column has another number of levels than in the schema")


def _leaves(
    elements: Iterator[Mapping[int, Any]], repeated: int = 0, defined: int = 0
) -> Iterator[tuple[int, int, int]]:
    """Give the type of each leaf below the next element, and its highest levels."""
    element = next(elements, {})
    repetition = element.get(3, 0)
    repeated += repetition == _REPEATED
    defined += repetition in (_OPTIONAL, _REPEATED)
    children = element.get(5, 0)
    if not children:
        yield element[1], repeated, defined
    for _ in range(children):
        yield from _leaves(elements, repeated, defined)


def _row_group(fields: Mapping[int, Any]) -> RowGroup:
    return RowGroup(
        row_count=_count(fields[3]), columns=tuple(_column(chunk[3]) for chunk in fields[1])
    )


def _column(fields: Mapping[int, Any]) -> ColumnChunk:
    begin = _count(fields[9])
    # A dictionary lies before the pages that look up in it; some writers write 0 for none.
    if dictionary := _count(fields.get(11, 0)):
        begin = min(begin, dictionary)
    return ColumnChunk(
        path=".".join(name.decode() for name in fields[3]),
        value_count=_count(fields[5]),
        stored_bytes=_count(fields[7]),
        begin=begin,
    )


def _count(number: int) -> int:
    if number < 0:
        raise ValueError("a number is negative that counts")
    return number


def read_struct(data: bytes, wanted: Mapping[int, Any], at: int = 0) -> tuple[dict[int, Any], int]:
    """Read fields of the struct that begins at a place of `data`; also where the struct ends.

    `wanted` gives what is read, by the ids of the fields: 5 (a number of 32 bits), 6 (of 64), 8
    (bytes), the fields of a struct, or a list with one of these. All else is passed over. Raises
    IndexError where the data end before the struct does, and ValueError for what is no such struct.

    Where Arrow passes over a field of another kind, takes the last of two or cuts a number to its
    width, this is an error, so that both never read different numbers.
    """
    found: dict[int, Any] = {}
    field = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            field += head >> 4
        else:
            field, at = _number(data, at, 16)
        if field in found or field >= 2**15:
            raise ValueError("a field stands twice")
        if field in wanted:
            found[field], at = _value(data, at, head & 0x0F, wanted[field])
        else:
            at = _skip(data, at, head & 0x0F)
    return found, at + 1


def _value(data: bytes, at: int, kind: int, wanted: Any) -> tuple[Any, int]:
    if isinstance(wanted, list) and kind == _LIST:
        kind, count, at = _list(data, at)
        values = []
        for _ in range(count):
            value, at = _value(data, at, kind, wanted[0])
            values.append(value)
        return values, at
    if isinstance(wanted, Mapping) and kind == _STRUCT:
        return read_struct(data, wanted, at)
    if kind != wanted:
        raise ValueError("a field is of another kind")
    if kind == _BINARY:
        end = _skip(data, at, kind)
        begin = _skip(data, at, _I32)
        return data[begin:end], end
    return _number(data, at, _BITS[kind])


def _skip(data: bytes, at: int, kind: int, depth: int = 0) -> int:
    """Pass over a value; return where it ends, which is within the data or right behind them."""
    if depth > _DEPTH_MAX:
        raise ValueError("structs are too deep within one another")
    if kind in (_I16, _I32, _I64):
        # Most of a footer are numbers.
        while data[at] > 0x7F:
            at += 1
        return at + 1
    if kind == _STRUCT:
        while head := data[at]:
            at += 1
            if not head >> 4:
                at = _skip(data, at, _I16)
            at = _skip(data, at, head & 0x0F, depth + 1)
        return at + 1
    if kind in (_LIST, _SET):
        kind, count, at = _list(data, at)
        for _ in range(count):
            at = _skip(data, at, kind, depth + 1)
        return at
    if kind == _MAP:
        return _skip_map(data, at, depth)
    if kind == _BINARY:
        size, at = _varint(data, at)
    elif kind in _WIDTHS:
        size = _WIDTHS[kind]
    else:
        raise ValueError("a value is of no kind")
    if at + size > len(data):
        raise IndexError("the data end within a value")
    return at + size


def _skip_map(data: bytes, at: int, depth: int) -> int:
    count, at = _varint(data, at)
    if not count:
        return at
    kinds, at = data[at], at + 1
    for _ in range(count):
        for kind in (kinds >> 4, kinds & 0x0F):
            at = _skip(data, at, _in_list(kind), depth + 1)
    return at


def _list(data: bytes, at: int) -> tuple[int, int, int]:
    """Read what a list says of itself: the kind of what it has, how many, where they begin.

    Each takes a byte at least, so that counting to a number that is too high ends with the data.
    """
    head, at = data[at], at + 1
    count = head >> 4
    if count == 15:
        count, at = _varint(data, at)
    return _in_list(head & 0x0F), count, at


def _in_list(kind: int) -> int:
    """Tell how a value of a kind lies in a list: a truth value of a field has no byte."""
    return _BYTE if kind in (_TRUE, _FALSE) else kind


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte, at = data[at], at + 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number has more than 64 bits")


def _number(data: bytes, at: int, bits: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    if value >> bits:
        raise ValueError(f"a number has more than {bits} bits")
    return (value >> 1) ^ -(value & 1), at

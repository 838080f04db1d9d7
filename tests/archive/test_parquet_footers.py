"""What a footer says of row groups is what Arrow reads in it; a damaged one is an error of ours."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nightgrid.archive import parquet_footers
from nightgrid.archive.parquet_footers import FooterError, read_row_groups, read_struct

TABLE = pa.table(
    {
        "text": [f"{i:04x}" for i in range(100)],
        "number": range(100),
        "lists": [[i] * (i % 3) for i in range(100)],
        "nested": [{"inner": i % 2 == 0} for i in range(100)],
        "null": pa.nulls(100, pa.string()),
    }
)


def _file(**options: Any) -> io.BytesIO:
    stream = io.BytesIO()
    pq.write_table(TABLE, stream, **options)
    return stream


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"row_group_size": 7, "write_page_index": True, "write_page_checksum": True},
        {"use_dictionary": False, "data_page_version": "2.0", "compression": "zstd"},
        {"write_statistics": False, "version": "1.0", "store_schema": False},
    ],
)
def test_row_groups_are_those_that_arrow_reads(options: dict[str, Any]) -> None:
    stream = _file(**options)
    metadata = pq.ParquetFile(stream).metadata
    groups = read_row_groups(stream)
    assert len(groups) == metadata.num_row_groups
    for number, group in enumerate(groups):
        theirs = metadata.row_group(number)
        assert (group.row_count, len(group.columns)) == (theirs.num_rows, theirs.num_columns)
        for i, column in enumerate(group.columns):
            chunk = theirs.column(i)
            begins = [chunk.data_page_offset, chunk.dictionary_page_offset]
            assert column.path == chunk.path_in_schema
            assert column.value_count == chunk.num_values
            assert column.stored_bytes == chunk.total_compressed_size
            assert column.begin == min(begin for begin in begins if begin is not None)


def test_a_footer_is_read_once_as_long_as_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []
    check = parquet_footers._check_columns

    def checking(schema: Any, groups: Any) -> None:
        read.append(schema)
        check(schema, groups)

    monkeypatch.setattr(parquet_footers, "_check_columns", checking)
    parquet_footers._read_footer.cache.clear()
    files = [_file(row_group_size=size) for size in range(3, 33)]
    first = [read_row_groups(file) for file in files]
    assert len(read) == len(files)
    assert [read_row_groups(file) for file in files] == first
    assert len(read) == len(files)
    for number in range(parquet_footers._KEPT_FOOTERS):
        read_row_groups(_file(row_group_size=33 + number))
    read.clear()
    read_row_groups(files[-1])
    assert len(read) == 1, "no more than _KEPT_FOOTERS are kept"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PAR1",
        b"\0\0\0\0PAR2",
        b"\1\0\0\0PAR1",
        b"PAR1\0\1\0\0\0PAR1",
        b"PAR1\x49\x1c\xff\xff\xff\xff\x0f\7\0\0\0PAR1",
    ],
    ids=["no bytes", "the end alone", "another", "a length too long", "no groups", "many groups"],
)
def test_what_has_no_sound_footer_is_refused(data: bytes) -> None:
    with pytest.raises(FooterError):
        read_row_groups(io.BytesIO(data))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\0\0\0\0PAR1", "its footer cannot be read"),
        (b"\0\0\0\1PAR1", "the file does not end as Parquet does"),
        (b"PAR1\1\0\0\0PAR1", "its footer cannot be read"),
        (b"PAR1\5\0\0\0PAR1", "the file does not end as Parquet does"),
    ],
    ids=["an empty one", "its highest byte", "one byte", "one too long"],
)
def test_a_footer_lies_before_the_end_of_its_file(data: bytes, says: str) -> None:
    with pytest.raises(FooterError) as error:
        read_row_groups(io.BytesIO(data))
    assert str(error.value) == says


def test_a_column_with_fewer_values_than_rows_is_refused() -> None:
    data = _file(compression="none").getvalue()
    count = b"\x18\x06number\x15\x00\x16\xc8\x01"  # 100 values, not compressed
    assert data.count(count) == 1
    for fewer in (b"\xc6\x01", b"\x80\x00"):
        with pytest.raises(FooterError, match="cannot be read"):
            read_row_groups(io.BytesIO(data.replace(count, count[:-2] + fewer)))


def test_a_long_footer_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _file()
    length = int.from_bytes(stream.getvalue()[-8:-4], "little")
    monkeypatch.setattr(parquet_footers, "FOOTER_BYTES_MAX", length)
    read_row_groups(stream)
    monkeypatch.setattr(parquet_footers, "FOOTER_BYTES_MAX", length - 1)
    with pytest.raises(FooterError, match=f"its footer has {length:,} bytes; expected at most"):
        read_row_groups(stream)


WANTED = {1: 5, 2: [8], 3: {1: 6}}


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"\x15\x02\x19\x28\x01a\x02bc\x1c\x16\x03\x00\x00", {1: 1, 2: [b"a", b"bc"], 3: {1: -2}}),
        # What is not wanted: truth values, a byte, a double, an empty and a full map, a list of
        # truth values, a set of structs, a UUID, and a field that names its id in full.
        (b"\x41\x12\x13\xff\x17" + bytes(8) + b"\0", {}),
        (b"\x4b\x00\x1b\x02\x81\x01a\x01\x01b\x02\0", {}),
        (b"\x49\x31\x01\x02\x01\x1a\x2c\0\0\x1d" + bytes(16) + b"\x05\xc8\x01\x02\0", {}),
        (b"\x05\x02\x80\x80\x04\0", {1: 32768}),
        # Ids in full: of a list, within a struct that is passed over, and the greatest.
        (b"\x09\x04\x18\x01a\0", {2: [b"a"]}),
        (b"\x4c\x08\x06\x03abc\0\x05\x02\x02\0", {1: 1}),
        (b"\x05\xfe\xff\x03\x02\0", {}),
        (b"\x4c\x13\xff\0\x05\x02\x02\0", {1: 1}),
        (b"\x15\x7f\0", {1: -64}),
        # The least and the greatest numbers.
        (b"\x15" + b"\xff" * 4 + b"\x0f\0", {1: -(2**31)}),
        (b"\x15\xfe" + b"\xff" * 3 + b"\x0f\0", {1: 2**31 - 1}),
        (b"\x3c\x16" + b"\xff" * 9 + b"\x01\0\0", {3: {1: -(2**63)}}),
        (b"\x3c\x16\xfe" + b"\xff" * 8 + b"\x01\0\0", {3: {1: 2**63 - 1}}),
        # Field 1 right behind what is passed over.
        (b"\x41\x05\x02\x02\0", {1: 1}),
        (b"\x42\x05\x02\x02\0", {1: 1}),
        (b"\x43\xff\x05\x02\x02\0", {1: 1}),
        (b"\x44\xff\x01\x05\x02\x02\0", {1: 1}),
        (b"\x47" + b"\xff" * 8 + b"\x05\x02\x02\0", {1: 1}),
        (b"\x4d" + b"\xff" * 16 + b"\x05\x02\x02\0", {1: 1}),
        (b"\x48\x03abc\x05\x02\x02\0", {1: 1}),
        (b"\x49\x23\xff\xff\x05\x02\x02\0", {1: 1}),
        (b"\x49\xf3\x10" + b"\xff" * 16 + b"\x05\x02\x02\0", {1: 1}),
        (b"\x4b\x00\x05\x02\x02\0", {1: 1}),
        (b"\x4b\x02\x37" + b"\xff" * 18 + b"\x05\x02\x02\0", {1: 1}),
        (b"\x4c\x06\x80\x80\x01\x7f\0\x05\x02\x02\0", {1: 1}),
        # A list of fifteen has its number behind its head.
        (b"\x29\xf8\x0f" + b"\x01a" * 15 + b"\0", {2: [b"a"] * 15}),
        (b"\x29\xe8" + b"\x01a" * 14 + b"\0", {2: [b"a"] * 14}),
    ],
)
def test_fields_are_read_and_others_passed_over(data: bytes, found: dict[int, Any]) -> None:
    assert read_struct(data, WANTED) == (found, len(data))
    assert read_struct(b"__" + data + b"__", WANTED, 2) == (found, len(data) + 2)
    for end in range(len(data)):
        with pytest.raises(IndexError):
            read_struct(data[:end], WANTED)


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x02\0",
        b"\x15\x02\x05\x02\x04\0",
        b"\x15\x80\x80\x80\x80\x10\0",
        b"\x29\x15\x02\0",
        b"\x05\x82\x80\x08\x02\0",
        b"\x4e\0",
        b"\x48" + b"\x80" * 10 + b"\1\0",
        b"\x4c" + b"\x1c" * 30 + b"\0" * 40,
        b"\x3c\x16" + b"\xff" * 9 + b"\x02\0\0",
        b"\x15" + b"\xff" * 4 + b"\x10\0",
        b"\x25\x02\0",
        b"\x35\x02\0",
        b"\x1c\0\0",
        b"\x19\x05\0",
        b"\x05\x81\x80\x04\x02\0",
        b"\x05\xfe\xff\x03\x02\x15\x02\0",
    ],
    ids=[
        "of another width", "twice", "33 bits", "a list of others", "an id of 17 bits", "no kind",
        "a long length", "deep", "65 bits", "33 bits and a sign",
        "a number for a list", "a number for a struct", "a struct for a number",
        "a list for a number",
        "a negative id of 17 bits", "an id behind the greatest",
    ],
)  # fmt: skip
def test_what_arrow_could_read_otherwise_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"a |structs"):
        read_struct(data, WANTED)


@pytest.mark.parametrize(
    ("field", "around", "empty"),
    [(b"\x4c", b"\x1c", b""), (b"\x49", b"\x19", b"\x09"), (b"\x4b", b"\x01\x1b\x01", b"\x00")],
    ids=["structs", "lists", "maps"],
)
def test_what_lies_too_deep_is_refused(field: bytes, around: bytes, empty: bytes) -> None:
    def within(depth: int) -> bytes:
        ends = (depth + 1) * b"\0" if field == b"\x4c" else b""
        return field + depth * around + empty + ends + b"\0"

    deepest = within(parquet_footers._DEPTH_MAX)
    assert read_struct(deepest, WANTED) == ({}, len(deepest))
    with pytest.raises(ValueError, match="too deep"):
        read_struct(within(parquet_footers._DEPTH_MAX + 1), WANTED)


COLUMN = {
    1: 5, 3: [8], 5: 6, 7: 6, 9: 6, 11: 6, 12: {5: 8, 6: 8}, 16: {2: [6], 3: [6]}
}  # fmt: skip
FOOTER = {2: [{1: 5, 3: 5, 5: 5}], 4: [{1: [{3: COLUMN}], 3: 6}]}
"""Fields of FileMetaData of parquet.thrift, as `read_struct` wants them."""


def _varint(number: int) -> bytes:
    rest, low = divmod(number, 128)
    return bytes([low | 128]) + _varint(rest) if rest else bytes([low])


def _written(value: Any, kind: Any) -> tuple[int, bytes]:
    """Write a value in Thrift's compact protocol: its kind, and its bytes."""
    if isinstance(kind, dict):
        data, last = b"", 0
        for number, field in sorted(value.items()):
            code, inside = _written(field, kind[number])
            data, last = data + bytes([number - last << 4 | code]) + inside, number
        return 12, data + b"\0"
    if isinstance(kind, list):
        (of,) = kind
        items = [_written(item, of) for item in value]
        code = items[0][0] if items else 5
        return 9, bytes([len(items) << 4 | code]) + b"".join(data for _, data in items)
    if kind == 8:
        return 8, _varint(len(value)) + value
    return kind, _varint(value << 1 if value >= 0 else (-value << 1) - 1)


def _read(schema: list[dict[int, int]], *columns: dict[int, Any], rows: int = 10) -> Any:
    """Read a footer of a schema and one row group."""
    footer = {2: schema, 4: [{1: [{3: column} for column in columns], 3: rows}]}
    _, data = _written(footer, FOOTER)
    stream = io.BytesIO(b"PAR1" + data + len(data).to_bytes(4, "little") + b"PAR1")
    (group,) = read_row_groups(stream)
    assert group.row_count == rows
    return group.columns


def _column(**changes: Any) -> dict[int, Any]:
    changed = {int(name.removeprefix("f")): value for name, value in changes.items()}
    return {1: 1, 3: [b"a"], 5: 10, 7: 100, 9: 4, **changed}


FLAT = [{5: 1}, {1: 1, 3: 1}]
LISTS = [{5: 1}, {3: 1, 5: 1}, {3: 2, 5: 1}, {1: 1, 3: 1}]
REQUIRED = [{5: 1}, {1: 1, 3: 0}]
PAIR = [{5: 2}, {3: 1, 5: 2}, {1: 1, 3: 0}, {1: 2, 3: 1}, {1: 3}]
"""A struct of two columns, the second of which may be null, and a column beside it."""


@pytest.mark.parametrize(
    ("schema", "columns"),
    [
        (FLAT, [_column()]),
        (FLAT, [_column(f16={2: [10], 3: [4, 6]})]),
        (FLAT, [_column(f16={2: [], 3: []})]),
        (REQUIRED, [_column(f16={2: [10], 3: [10]})]),
        (LISTS, [_column(f5=33, f16={2: [10, 23], 3: [1, 1, 1, 30]})]),
        (
            PAIR,
            [
                _column(f16={3: [1, 9]}),
                _column(f1=2, f16={3: [1, 2, 7]}),
                _column(f1=3, f16={3: [10]}),
            ],
        ),
    ],
)
def test_columns_that_fit_the_schema_are_read(
    schema: list[dict[int, int]], columns: list[dict[int, Any]]
) -> None:
    assert [column.value_count for column in _read(schema, *columns)] == [c[5] for c in columns]


@pytest.mark.parametrize(
    ("schema", "columns"),
    [
        ([{}, {1: 1, 3: 1}], [_column()]),
        ([{5: 2}, {1: 1, 3: 1}], [_column()]),
        ([{5: 1}, {1: 1, 3: 1}], [_column(), _column()]),
        (FLAT, []),
        (FLAT, [_column(f1=2)]),
        (FLAT, [_column(f5=9)]),
        (FLAT, [_column(f16={2: [10, 1]})]),
        (FLAT, [_column(f16={3: [10]})]),
        (FLAT, [_column(f16={3: [1, 2, 7]})]),
        (REQUIRED, [_column(f16={3: [4, 6]})]),
        (LISTS, [_column(f16={2: [10]})]),
        (LISTS, [_column(f16={3: [1, 1, 8]})]),
        (PAIR, [_column(), _column(f1=3), _column(f1=2)]),
        (PAIR, [_column(f16={3: [1, 2, 7]}), _column(f1=2), _column(f1=3)]),
        (PAIR, [_column(), _column(f1=2), _column(f1=3, f16={3: [1, 9]})]),
        *((FLAT, [_column(**{name: -1})]) for name in ("f5", "f7", "f9", "f11")),
        (LISTS, [_column(f5=-1)]),
    ],
)
def test_columns_that_do_not_fit_the_schema_are_refused(
    schema: list[dict[int, int]], columns: list[dict[int, Any]]
) -> None:
    with pytest.raises(FooterError, match="its footer cannot be read"):
        _read(schema, *columns)


def test_a_column_chunk_is_told_as_it_is_written() -> None:
    (column,) = _read(FLAT, _column(f3=[b"a", b"b"], f12={5: b"z", 6: b"c"}, f9=50, f11=4))
    assert (column.path, column.value_count, column.stored_bytes) == ("a.b", 10, 100)
    assert column.begin == 4, "a dictionary lies before the pages"
    for offsets in ({"f9": 50}, {"f9": 50, "f11": 0}, {"f9": 50, "f11": 60}):
        (column,) = _read(FLAT, _column(**offsets))
        assert column.begin == 50
    (empty,) = _read(FLAT, _column(f5=0, f7=0, f9=0), rows=0)
    assert (empty.value_count, empty.stored_bytes, empty.begin) == (0, 0, 0)

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
            if chunk.statistics is None or not chunk.statistics.has_min_max:
                assert (column.lowest, column.highest) == (None, None)
            elif column.path == "text":
                bounds = (chunk.statistics.min.encode(), chunk.statistics.max.encode())
                assert (column.lowest, column.highest) == bounds


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
    ],
    ids=[
        "of another width", "twice", "33 bits", "a list of others", "an id of 17 bits", "no kind",
        "a long length", "deep",
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

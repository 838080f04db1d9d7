"""What a Parquet file says of its sizes is looked at before it is read."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nightgrid.archive import parquet_sizes
from nightgrid.archive.parquet_footers import FooterError
from nightgrid.archive.parquet_sizes import (
    OversizeError,
    check_row_group,
)

ZEROS = pa.table({"a": np.zeros(1000, np.int32), "b": np.zeros(1000, np.int32)})
NOISE = pa.table({"a": np.random.default_rng(7).integers(0, 2**31, 1000)})


def _file(table: pa.Table, **options: Any) -> io.BytesIO:
    stream = io.BytesIO()
    pq.write_table(table, stream, **options)
    return stream


def _check(stream: io.BytesIO, columns: str = "ab") -> None:
    check_row_group(stream, 0, set(columns))


def _refusal(check: Callable[[], None]) -> str:
    with pytest.raises((FooterError, OversizeError)) as refusal:
        check()
    return str(refusal.value)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_values_are_counted_page_by_page(
    monkeypatch: pytest.MonkeyPatch, version: str, dictionary: bool
) -> None:
    monkeypatch.setattr(parquet_sizes, "ANY_VALUES", 1)
    stream = _file(
        ZEROS,
        data_page_version=version,
        use_dictionary=dictionary,
        data_page_size=100,
        write_batch_size=10,
        compression="zstd",
    )
    metadata = pq.ParquetFile(stream).metadata
    stored = sum(metadata.row_group(0).column(i).total_compressed_size for i in range(2))
    monkeypatch.setattr(parquet_sizes, "VALUES_PER_BYTE", 0)
    assert _refusal(lambda: _check(stream)) == (
        f"2,000 values are said to be in {stored:,} bytes; expected at most 0 for each byte"
    )
    assert _refusal(lambda: _check(stream, "a")).startswith("1,000 values")


def test_a_file_of_few_values_or_many_bytes_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    _check(_file(ZEROS))
    monkeypatch.setattr(parquet_sizes, "ANY_VALUES", 1)
    _check(_file(NOISE))


def test_values_of_lists_and_structs_are_counted_under_the_name_of_their_column(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parquet_sizes, "ANY_VALUES", 1)
    monkeypatch.setattr(parquet_sizes, "VALUES_PER_BYTE", 0)
    nested = pa.table({"a": [[0] * 1000], "b": [{"a": 1, "c": [2] * 500}]})
    for columns, values in (("a", "1,000"), ("b", "501"), ("ab", "1,501")):
        refusal = _refusal(lambda named=columns: _check(_file(nested), named))
        assert refusal.startswith(f"{values} values")
    _check(_file(nested), "c")


def test_a_dictionary_counts_no_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_sizes, "GROUP_VALUES_MAX", 1000)
    text = pa.table({"a": ["x"] * 1000})
    for used in (True, False):
        _check(_file(text, use_dictionary=used))
        one_more = pa.table({"a": ["x"] * 1001})
        refusal = _refusal(lambda on=used, more=one_more: _check(_file(more, use_dictionary=on)))
        assert refusal.startswith("row group 0 has 1,001 values")


def test_what_columns_hold_at_once_is_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given two columns of which each may be so large, Then both together may not."""
    texts = pa.array([f"{i:04}" + "x" * 96 for i in range(1000)])
    fields = [pa.field(name, pa.string(), nullable=False) for name in "ab"]
    table = pa.table([texts, texts], schema=pa.schema(fields))
    for is_used, bound in ((True, "DICTIONARY_BYTES_MAX"), (False, "PAGE_BYTES_MAX")):
        stream = _file(table, use_dictionary=is_used)
        with monkeypatch.context() as patch:
            patch.setattr(parquet_sizes, bound, 104_000)
            _check(stream, "a")
            refusal = _refusal(lambda made=stream: _check(made))
            assert "row group 0 say they take 208,000 bytes" in refusal
            patch.setattr(parquet_sizes, bound, 208_000)
            _check(stream)


def test_a_page_of_another_type_counts_no_values() -> None:
    stream = _file(NOISE, use_dictionary=False)
    at = pq.ParquetFile(stream).metadata.row_group(0).column(0).data_page_offset
    assert stream.getvalue()[at : at + 2] == b"\x15\x00", "a header begins with its type"
    stream.getbuffer()[at + 1] = 2  # INDEX_PAGE, which nothing writes
    _check(stream)


def _data_page(stream: io.BytesIO) -> int:
    """Tell where the first data page of the first column begins."""
    place = pq.ParquetFile(stream).metadata.row_group(0).column(0).data_page_offset
    assert isinstance(place, int)
    return place


def _replace(stream: io.BytesIO, before: bytes, after: bytes) -> None:
    """Write other bytes of the same number over the first such in the first data page."""
    at = stream.getvalue().index(before, _data_page(stream))
    stream.getbuffer()[at : at + len(before)] = after


def test_values_are_those_of_the_pages_where_the_footer_has_fewer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = _file(ZEROS.select(["a"]), use_dictionary=False)
    # A header says 1001, as a number of Thrift with its sign behind it.
    _replace(stream, b"\x15\xd0\x0f", b"\x15\xd2\x0f")
    monkeypatch.setattr(parquet_sizes, "GROUP_VALUES_MAX", 1000)
    assert _refusal(lambda: _check(stream)).startswith("row group 0 has 1,001 values")


@pytest.mark.parametrize("number", ["values", "bytes", "stored bytes"])
def test_a_negative_number_of_a_header_is_refused(number: str) -> None:
    options = {"use_dictionary": False, "compression": "snappy"}
    stream = _file(ZEROS.select(["a"]), **options)
    at = _data_page(stream)
    header = stream.getvalue()[at : at + 12]
    # Fields one after the other: type, bytes, stored bytes, then a struct that begins with values.
    assert header[:3] == b"\x15\x00\x15"
    assert header[5:6] == b"\x15"
    assert header[8:10] == b"\x2c\x15"
    place = at + {"values": 10, "bytes": 3, "stored bytes": 6}[number]
    stream.getbuffer()[place : place + 2] = b"\x81\x00"  # -1 in two bytes
    assert "the header of a page of a cannot be read" in _refusal(lambda: _check(stream))


def test_a_header_that_is_longer_than_what_is_read_at_first_is_read_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parquet_sizes, "_HEADER_BYTES", (4, 1 << 24))
    _check(_file(ZEROS))


def test_a_page_is_bounded_by_what_it_takes_once_it_is_decompressed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = pa.table({"a": ["x" * 1000] * 10})
    for dictionary, taken in ((True, 1004), (False, 10_046)):
        stream = _file(text, use_dictionary=dictionary, compression="zstd")
        monkeypatch.setattr(parquet_sizes, "PAGE_BYTES_MAX", taken)
        _check(stream)
        monkeypatch.setattr(parquet_sizes, "PAGE_BYTES_MAX", taken - 1)
        assert _refusal(lambda made=stream: _check(made)).startswith(
            f"a page of a says it takes {taken:,} bytes"
        )


def test_prefixed_texts_are_bounded_by_what_a_batch_of_them_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = pa.table({"a": ["x" * 100] * 100})
    stream = _file(texts, use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"})
    with monkeypatch.context() as smaller:
        smaller.setattr(parquet_sizes, "PAGE_BYTES_MAX", 0)
        page_bytes = int(_refusal(lambda: _check(stream)).split()[7].replace(",", ""))
    for batch in (100, 50):
        monkeypatch.setattr(parquet_sizes, "_BATCH_VALUES", batch)
        monkeypatch.setattr(parquet_sizes, "PREFIXED_BYTES_MAX", batch * page_bytes)
        _check(stream)
        monkeypatch.setattr(parquet_sizes, "PREFIXED_BYTES_MAX", batch * page_bytes - 1)
        assert "stored as what differs" in _refusal(lambda: _check(stream))


def test_a_row_group_a_page_and_prefixed_texts_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parquet_sizes, "GROUP_VALUES_MAX", 1999)
    assert _refusal(lambda: _check(_file(ZEROS))) == (
        "row group 0 has 2,000 values; expected at most 1,999: write smaller row groups"
    )
    monkeypatch.setattr(parquet_sizes, "PAGE_BYTES_MAX", 7999)
    assert _refusal(lambda: _check(_file(NOISE, use_dictionary=False))) == (
        "a page of a says it takes 8,007 bytes; expected at most 7,999"
    )
    texts = pa.table({"a": ["x" * 100] * 100})
    plain = {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY"}}
    for version in ("1.0", "2.0"):
        stream = _file(texts, data_page_version=version, **plain)
        _check(stream)
        with monkeypatch.context() as smaller:
            smaller.setattr(parquet_sizes, "PREFIXED_BYTES_MAX", 1000)
            assert "stored as what differs" in _refusal(lambda made=stream: _check(made))
            _check(_file(texts))


def test_a_header_that_cannot_be_read_is_refused() -> None:
    stream = _file(ZEROS, use_dictionary=False)
    at = pq.ParquetFile(stream).metadata.row_group(0).column(0).data_page_offset
    for garbage in (b"\x1b\xff", b"\xff" * 40, b"\x00"):
        data = bytearray(stream.getvalue())
        data[at : at + len(garbage)] = garbage
        broken = io.BytesIO(bytes(data))
        assert "the header of a page of a cannot be read" in _refusal(lambda b=broken: _check(b))


def test_a_group_without_rows_has_nothing_to_look_at() -> None:
    _check(_file(ZEROS.schema.empty_table()))


@pytest.mark.parametrize(
    "column", [pa.array([1, 2, 3] * 100), pa.array(["x", "y", "z"] * 100)], ids=["numbers", "texts"]
)
def test_a_dictionary_of_more_values_than_bytes_is_refused(column: pa.Array) -> None:
    stream = _file(pa.table({"a": column}), compression="none")
    chunk = pq.ParquetFile(stream).metadata.row_group(0).column(0)
    at = chunk.dictionary_page_offset
    size = stream.getvalue()[at + 3] // 2
    # The header says how many in five bytes now, not in one: the dictionary loses the other four.
    head = bytes([0x15, 4, 0x15, 2 * size - 8, 0x15, 2 * size - 8, 0x4C])
    many = head + b"\x15\xfe\xff\xff\xff\x0f\x15\x00\x12\x00\x00"
    place = slice(at, chunk.data_page_offset - 4)
    old = stream.getvalue()[place]
    assert old[:3] == head[:3], "a dictionary's header begins so"
    stream.getbuffer()[place] = many + old[len(many) - 4 : -4]
    assert _refusal(lambda: _check(stream)) == (
        f"a dictionary of a says it has 2,147,483,647 values in {size - 4:,} bytes; "
        "expected at most one for each byte"
    )

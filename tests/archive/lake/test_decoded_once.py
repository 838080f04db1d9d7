"""What is decoded once is what the file has now, whoever wrote it."""

from __future__ import annotations

import datetime as dt
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest

from nightgrid.archive.lake import decoded_once, storage
from nightgrid.archive.lake.decoded_once import decoding_once
from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import QUARANTINE, SEEN_FILES
from nightgrid.solvers.errors import PermanentError

PATH = "seen/strands.parquet"
NAMES = ["date", "sha256"]


def files(*days: int) -> pa.Table:
    rows = [
        {
            "folder": "f",
            "date": dt.date(2025, 1, day),
            "size_bytes": day,
            "mtime_ns": 1,
            "ctime_ns": 1,
            "inode": 1,
            "sha256": f"{day:064x}",
        }
        for day in days
    ]
    return pa.Table.from_pylist(rows, SEEN_FILES)


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Count what is decoded."""
    spy = mock.Mock(side_effect=storage._decode)
    monkeypatch.setattr(storage, "_decode", spy)
    return spy


def test_the_same_bytes_are_decoded_once_and_others_again(lake: Lake, decoded: Any) -> None:
    lake.write_table(PATH, files(1, 2))
    with decoding_once():
        assert lake.read_table(PATH, SEEN_FILES).equals(files(1, 2))
        assert lake.read_table(PATH, SEEN_FILES).equals(files(1, 2), check_metadata=True)
        assert decoded.call_count == 1
        # Another process, to which nothing is known of this one, writes and takes away.
        Lake.open(lake.url)._commit(PATH, storage.filled(PATH, [files(3)], SEEN_FILES))
        assert lake.read_table(PATH, SEEN_FILES).equals(files(3))
        assert decoded.call_count == 2
        lake.delete(PATH)
        assert len(lake.read_table(PATH, SEEN_FILES)) == 0
        with pytest.raises(MissingFileError):
            lake.read_file(PATH, SEEN_FILES)
    lake.write_table(PATH, files(1))
    assert lake.read_table(PATH, SEEN_FILES).equals(files(1))
    assert lake.read_table(PATH, SEEN_FILES).equals(files(1))
    assert decoded.call_count == 4


def test_what_is_written_needs_no_decoding(lake: Lake, decoded: Any) -> None:
    with decoding_once():
        halves = pa.concat_tables([files(1), files(2)])
        lake.write_table(PATH, halves)
        table, metadata = lake.read_with_metadata(PATH, SEEN_FILES)
        assert table.equals(files(1, 2), check_metadata=True)
        assert decoded.call_count == 0
    assert lake.read_with_metadata(PATH, SEEN_FILES) == (table, metadata)
    assert decoded.call_count == 1


def test_the_files_have_the_same_bytes_within_a_block(lake: Lake) -> None:
    lake.write_table(PATH, files(1, 2))
    without = lake.read_bytes(PATH)
    with decoding_once():
        lake.write_table(PATH, files(1, 2))
    assert lake.read_bytes(PATH) == without


def test_columns_come_from_a_whole_table_and_never_the_other_way(lake: Lake, decoded: Any) -> None:
    lake.write_table(PATH, files(1, 2))
    with decoding_once():
        some = lake.read_table(PATH, SEEN_FILES, NAMES)
        assert lake.read_table(PATH, SEEN_FILES).equals(files(1, 2))
        assert decoded.call_count == 2
        assert lake.read_table(PATH, SEEN_FILES, NAMES[::-1]).column_names == NAMES[::-1]
        assert lake.read_table(PATH, SEEN_FILES, NAMES).equals(some, check_metadata=True)
        assert decoded.call_count == 2


def test_a_table_read_as_another_one_is_shaped_as_that(lake: Lake) -> None:
    lake.write_table(PATH, files(1, 2))
    with pytest.raises(DamagedFileError) as told:
        lake.read_table(PATH, QUARANTINE)
    with decoding_once():
        lake.read_table(PATH, SEEN_FILES)
        with pytest.raises(DamagedFileError) as again:
            lake.read_table(PATH, QUARANTINE)
    assert str(again.value) == str(told.value)


def test_a_file_that_is_damaged_meanwhile_is_told(lake: Lake) -> None:
    lake.write_table(PATH, files(1, 2))
    sound = lake.read_bytes(PATH)
    seen = set()
    # From the first bytes of the first page to beyond the last one.
    for place in range(4, len(sound) // 2, 7):
        data = bytearray(sound)
        data[place] ^= 0x10
        lake.write_bytes(PATH, bytes(data))
        told = verdict(lake)
        with decoding_once():
            lake.write_table(PATH, files(1, 2))
            lake.write_bytes(PATH, bytes(data))
            assert [verdict(lake), verdict(lake)] == [told, told]
        seen.add(bool(told))
    assert seen == {True, False}


def verdict(lake: Lake) -> str:
    """Read the table: what is wrong with it, or nothing."""
    try:
        assert lake.read_table(PATH, SEEN_FILES).equals(files(1, 2))
    except DamagedFileError as error:
        return str(error)
    return ""


def test_a_write_that_fails_is_not_kept(lake: Lake) -> None:
    lake.write_table(PATH, files(1))
    with decoding_once():
        with (
            mock.patch.object(lake._storage, "commit", side_effect=OSError(28, "full")),
            pytest.raises(Exception, match="full"),
        ):
            lake.write_table(PATH, files(2))
        assert lake.read_table(PATH, SEEN_FILES).equals(files(1))


def test_a_table_that_cannot_be_written_is_told_in_the_same_words(lake: Lake) -> None:
    rows = files(1).set_column(
        SEEN_FILES.get_field_index("sha256"), SEEN_FILES.field("sha256"), pa.array([None], "string")
    )
    with pytest.raises(PermanentError) as told:
        lake.write_table(PATH, rows)
    with decoding_once(), pytest.raises(PermanentError) as again:
        lake.write_table(PATH, rows)
    assert str(again.value) == str(told.value)


@pytest.mark.parametrize("limit", ["FILE_BYTES", "KEPT_BYTES"])
def test_what_is_large_is_decoded_each_time(
    lake: Lake, decoded: Any, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(decoded_once, limit, 100)
    with decoding_once():
        lake.write_table(PATH, files(1, 2))
        for reads in (1, 2):
            assert lake.read_table(PATH, SEEN_FILES).equals(files(1, 2))
            assert decoded.call_count == reads


def test_room_is_that_of_the_last_of_each_file(
    lake: Lake, decoded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoded_once, "KEPT_BYTES", files(1, 2).get_total_buffer_size() * 2)
    with decoding_once():
        for _ in range(5):
            for day in (3, 2):
                lake.write_table(PATH, files(1, day))
        assert lake.read_table(PATH, SEEN_FILES).equals(files(1, 2))
    assert decoded.call_count == 0


def test_the_last_of_many_files_are_kept(
    lake: Lake, decoded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoded_once, "KEPT_BYTES", files(1, 2).get_total_buffer_size() * 2)
    paths = [f"seen/{number}.parquet" for number in range(4)]
    with decoding_once():
        for path in paths:
            lake.write_table(path, files(1, 2))
        for path in reversed(paths):
            lake.read_table(path, SEEN_FILES)
    assert decoded.call_count == 2

"""A file of a source is read once, and again whenever it may have changed."""

from __future__ import annotations

import datetime as dt
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nightgrid.archive.ingest.fetch import FetchReport, fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.sources import Answer, AnswerKind, Validators
from nightgrid.archive.sources import folder as folders
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.archive.state import read_state, state_path

Now = Callable[[], dt.datetime]


class Counting(FolderSource):
    """A folder that records the dates for which it was read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.read: list[int] = []

    def fetch(self, date: dt.date, validators: Validators | None) -> Answer:
        answer = super().fetch(date, validators)
        if answer.kind != AnswerKind.UNCHANGED:
            self.read.append(date.day)
        return answer


@pytest.fixture
def days(tmp_path: Path, make_payload: Callable[..., dict[str, Any]]) -> Path:
    """Make a folder of the first to the third of January."""
    folder = tmp_path / "days"
    folder.mkdir()
    for number in (1, 2, 3):
        date = dt.date(2026, 1, number)
        (folder / f"{date}.json").write_text(json.dumps(make_payload(date, number)))
    return folder


@pytest.fixture
def now() -> Now:
    return lambda: dt.datetime.now(dt.UTC)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files count as settled when they are a clock's tick old."""
    monkeypatch.setattr(folders, "SETTLED_S", 0.0)


def read(lake: Lake, folder: Path, now: Now) -> tuple[list[int], FetchReport]:
    source = Counting(folder)
    report = fetch(lake, source, now=now)
    normalise(lake)
    return source.read, report


def test_a_file_that_is_as_it_was_is_not_read_and_is_reported_as_unchanged(
    lake: Lake, days: Path, now: Now
) -> None:
    first, report = read(lake, days, now)
    assert (first, len(report.new)) == ([1, 2, 3], 3)
    again, told = read(lake, days, now)
    assert again == []
    assert told.asked == told.unchanged == report.new


def same_size_and_time(path: Path) -> None:
    told = path.stat()
    path.write_text(path.read_text().replace(": ", ":\t", 1))
    os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns))


def another_inode(path: Path) -> None:
    new = path.with_suffix(".new")
    new.write_text(path.read_text())
    os.utime(new, ns=(0, path.stat().st_mtime_ns))
    new.replace(path)


def longer(path: Path) -> None:
    path.write_text(path.read_text() + "\n")


@pytest.mark.parametrize("change", [same_size_and_time, another_inode, longer, Path.touch])
def test_a_file_that_was_changed_in_any_way_is_read_again(
    lake: Lake, days: Path, now: Now, change: Callable[[Path], None]
) -> None:
    read(lake, days, now)
    time.sleep(0.02)
    change(days / "2026-01-02.json")
    read_again, report = read(lake, days, now)
    assert read_again == [2]
    # A file with the same bytes is read every time from then on.
    assert read(lake, days, now)[0] == ([] if report.new else [2])


def test_a_file_that_has_just_changed_is_not_cached(
    lake: Lake, days: Path, now: Now, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "SETTLED_S", 3600.0)
    for _ in range(2):
        assert read(lake, days, now)[0] == [1, 2, 3]


def test_files_are_read_again_after_another_folder_gave_other_boards(
    lake: Lake, days: Path, tmp_path: Path, now: Now, make_payload: Callable[..., dict[str, Any]]
) -> None:
    read(lake, days, now)
    other = tmp_path / "other"
    other.mkdir()
    date = dt.date(2026, 1, 2)
    (other / f"{date}.json").write_text(json.dumps(make_payload(date, 77)))
    assert read(lake, other, now)[0] == [2]
    asked, report = read(lake, days, now)
    assert (asked, report.new) == ([2], [date])
    assert len(RawArchive(lake, "pips").of(date)) == 3


def test_a_draft_and_a_payload_in_quarantine_are_read_every_time(
    lake: Lake, days: Path, now: Now, make_payload: Callable[..., dict[str, Any]]
) -> None:
    (days / "2026-01-03.json").write_text("{}")
    date = dt.date(2999, 1, 9)
    (days / f"{date}.json").write_text(json.dumps(make_payload(date, 9)))
    assert read(lake, days, now)[0] == [1, 2, 3, 9]
    assert read(lake, days, now)[0] == [3, 9]
    after = dt.datetime(2999, 1, 10, tzinfo=dt.UTC)
    assert read(lake, days, lambda: after)[0] == [3, 9]
    assert read(lake, days, lambda: after)[0] == [3]


def noted(lake: Lake) -> list[str] | None:
    return (read_state(lake, "pips", "unindexed") or {}).get("dates")


def test_dates_missing_from_the_index_are_noted(
    lake: Lake, days: Path, now: Now, make_payload: Callable[..., dict[str, Any]]
) -> None:
    read(lake, days, now)
    date = dt.date(2026, 1, 4)
    (days / f"{date}.json").write_text(json.dumps(make_payload(date, 4)))
    fetch(lake, FolderSource(days), now=now)
    assert noted(lake) == [str(date)]
    assert [sighting.date for sighting in RawArchive(lake, "pips").new] == [date]
    before = lake.read_bytes(state_path("pips"))
    normalise(lake)
    assert noted(lake) == []
    assert RawArchive(lake, "pips").new == []
    # Of a process that was killed between the index and the note.
    lake.write_bytes(state_path("pips"), before)
    assert RawArchive(lake, "pips").new == []
    normalise(lake)
    assert noted(lake) == []

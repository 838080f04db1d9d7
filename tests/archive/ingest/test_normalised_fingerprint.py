"""Tables that have not changed since nothing was left to do are not read; all others are."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

from nightgrid.archive.ingest import normalise as normalising
from nightgrid.archive.ingest.editions import editions_path, quarantine_path
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import NormaliseReport, normalise
from nightgrid.archive.ingest.puzzles import readable_puzzle_ids
from nightgrid.archive.ingest.raw import RawArchive, index_path
from nightgrid.archive.lake.schemas import EDITIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.archive.state import state_path

SAMPLE = Path(__file__).parents[3] / "service" / "sample" / "strands"
Now = Callable[[], dt.datetime]


def work(lake: Lake, source: Path, now: Now) -> tuple[NormaliseReport, bool]:
    """Fetch and normalise; return whether tables were read."""
    fetch(lake, FolderSource(source), game="strands", now=now)
    with mock.patch.object(normalising, "RawArchive", wraps=RawArchive) as read:
        report = normalise(lake, game="strands")
    return report, bool(read.call_count)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "days"
    folder.mkdir()
    for path in sorted(SAMPLE.glob("*.json"))[:3]:
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "2025-12-02.json").write_text("{}")
    return folder


@pytest.fixture
def fingerprinted(lake: Lake, source: Path, now: Now) -> Lake:
    """Return a lake whose fingerprint is current."""
    first, read = work(lake, source, now)
    assert read
    again, read = work(lake, source, now)
    assert read
    known, read = work(lake, source, now)
    assert not read
    assert known == again
    told = (first.edition_count, first.quarantine_count, first.observation_count)
    assert told == (known.edition_count, known.quarantine_count, known.observation_count)
    assert known.edition_count == 3
    assert known.quarantine_count > 0
    return lake


def test_nothing_of_the_tables_is_read_while_the_mark_holds(
    fingerprinted: Lake, source: Path, now: Now
) -> None:
    fetch(fingerprinted, FolderSource(source), game="strands", now=now)
    failing = mock.patch.object(Lake, "open_parquet", side_effect=AssertionError)
    with failing, mock.patch.object(Lake, "write_table", side_effect=AssertionError):
        assert normalise(fingerprinted, game="strands").edition_count == 3


def test_a_new_payload_is_normalised(fingerprinted: Lake, source: Path, now: Now) -> None:
    path = sorted(SAMPLE.glob("*.json"))[3]
    (source / path.name).write_bytes(path.read_bytes())
    report, read = work(fingerprinted, source, now)
    assert read
    assert (report.editions_added, report.edition_count) == (1, 4)
    assert work(fingerprinted, source, now)[1]
    assert not work(fingerprinted, source, now)[1]


def lose_a_row(lake: Lake) -> None:
    table = lake.read_table(editions_path("strands"), EDITIONS)
    lake.write_table(editions_path("strands"), table.slice(1))


def lose_the_table(lake: Lake) -> None:
    lake.delete(editions_path("strands"))


def lose_the_quarantine(lake: Lake) -> None:
    lake.delete(quarantine_path("strands"))


def lose_the_index(lake: Lake) -> None:
    lake.delete(index_path("strands"))


@pytest.mark.parametrize(
    "harm",
    [
        lose_a_row,
        lose_the_table,
        lose_the_quarantine,
        lose_the_index,
    ],
)
def test_lost_rows_are_restored_by_the_next_call(
    fingerprinted: Lake, source: Path, now: Now, harm: Callable[[Lake], None]
) -> None:
    before = fingerprinted.read_table(editions_path("strands"), EDITIONS)
    ids = sorted(readable_puzzle_ids(fingerprinted, "strands").to_pylist())
    harm(fingerprinted)
    report, read = work(fingerprinted, source, now)
    assert read
    assert fingerprinted.read_table(editions_path("strands"), EDITIONS).equals(before)
    assert sorted(readable_puzzle_ids(fingerprinted, "strands").to_pylist()) == ids
    assert (report.edition_count, report.quarantine_count > 0) == (3, True)


@pytest.mark.parametrize("data", [b"", b"{}"])
def test_a_state_that_is_lost_costs_only_time(
    fingerprinted: Lake, source: Path, now: Now, data: bytes
) -> None:
    fingerprinted.write_bytes(state_path("strands"), data)
    assert work(fingerprinted, source, now)[1]
    assert work(fingerprinted, source, now)[1]
    assert not work(fingerprinted, source, now)[1]


def test_a_payload_that_is_pending_is_processed(
    fingerprinted: Lake, source: Path, now: Now
) -> None:
    path = sorted(SAMPLE.glob("*.json"))[3]
    (source / path.name).write_bytes(path.read_bytes())
    fetch(fingerprinted, FolderSource(source), game="strands", now=now)
    paths = (index_path("strands"), state_path("strands"))
    before = {path: fingerprinted.read_bytes(path) for path in paths}
    report = normalise(fingerprinted, game="strands")
    # As a night that was killed before the index knew: all other tables are as they were.
    for path, data in before.items():
        fingerprinted.write_bytes(path, data)
    assert report.edition_count == 4
    assert work(fingerprinted, source, now)[0].edition_count == 4

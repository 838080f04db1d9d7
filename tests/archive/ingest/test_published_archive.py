"""The real archive: 88 days, and other payloads of some of them at other times."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from nightgrid.archive.ingest.editions import current_editions
from nightgrid.archive.ingest.fetch import fetch
from nightgrid.archive.ingest.normalise import normalise
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.lake.schemas import COUNTS_BY_DATE, EDITIONS, QUARANTINE
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.gold.rebuild import COUNTS_PATH, write_gold
from nightgrid.archive.sources.folder import FolderSource
from nightgrid.archive.state import state_path
from nightgrid.solvers.pips.game import PipsGame

pytestmark = pytest.mark.archive
Now = Callable[[], dt.datetime]


@pytest.fixture
def complete(lake: Lake, published: Path, now: Now) -> Lake:
    report = fetch(lake, FolderSource(published / "pips"), now=now)
    assert (len(report.new), report.failed) == (88, [])
    done = normalise(lake)
    assert (done.editions_added, done.revisions_added, done.quarantined) == (264, 0, {})
    return lake


def test_every_published_puzzle_is_an_edition_with_a_valid_official_solution(
    complete: Lake,
) -> None:
    rows = current_editions(complete).to_pylist()
    assert Counter(row["level"] for row in rows) == {"easy": 88, "medium": 88, "hard": 88}
    assert {row["date"] for row in rows} == {
        dt.date(2025, 8, 18) + dt.timedelta(days=i) for i in range(88)
    }
    write_gold(complete, PipsGame())
    counts = complete.read_table(COUNTS_PATH, COUNTS_BY_DATE)
    assert counts.column("official_solution_valid").to_pylist() == [True] * 264
    assert read_puzzle_table(complete, "pips").num_rows == len({row["puzzle_id"] for row in rows})


def test_null_puzzles_are_quarantined_and_repaired_boards_become_revisions(
    complete: Lake, published: Path, now: Now
) -> None:
    revisions = published / "pips-revisions"
    fetch(complete, FolderSource(revisions / "november-2025"), now=now)
    report = normalise(complete)
    assert report.quarantined == {"null-puzzle": 12}
    rows = complete.read_table("quarantine", QUARANTINE).to_pylist()
    assert sorted((str(row["date"]), row["level"]) for row in rows) == [
        ("2025-08-31", "medium"),
        ("2025-09-01", "medium"),
        ("2025-09-13", "hard"),
        ("2025-09-19", "medium"),
        ("2025-10-01", "hard"),
        ("2025-10-01", "medium"),
        ("2025-10-02", "hard"),
        ("2025-10-06", "hard"),
        ("2025-10-07", "easy"),
        ("2025-10-08", "medium"),
        ("2025-11-12", "easy"),
        ("2025-11-13", "easy"),
    ]
    assert all(row["place"] == row["level"] for row in rows)
    assert report.revisions_added == 1

    # Converted payloads without ids and solutions, in which two hard boards are swapped.
    fetch(complete, FolderSource(revisions / "third-party"), now=now)
    report = normalise(complete)
    assert (report.quarantined, report.editions_added, report.revisions_added) == ({}, 0, 2)
    fetch(complete, FolderSource(published / "pips"), now=now)
    normalise(complete)
    hard = [
        row
        for row in complete.read_table("editions", EDITIONS).to_pylist()
        if row["level"] == "hard" and str(row["date"]) in ("2025-09-30", "2025-10-01")
    ]
    by_date = {str(row["date"]): [] for row in hard}
    for row in hard:
        by_date[str(row["date"])].append(row["puzzle_id"])
    for boards in by_date.values():
        assert boards[0] == boards[-1], "the published board stands again"
        assert len(boards) >= 3
    assert current_editions(complete).num_rows == 264


def test_a_second_run_over_the_archive_changes_no_byte(
    complete: Lake, published: Path, now: Now, snapshot: Callable[[Path], dict[str, str]]
) -> None:
    before = snapshot(Path(complete.url))
    marked = []
    for _ in range(2):
        report = fetch(complete, FolderSource(published / "pips"), now=now)
        assert (report.new, normalise(complete).payloads) == ([], 0)
        after = snapshot(Path(complete.url))
        # Only the first run with nothing left to do records that.
        marked.append(after.pop(state_path("pips")))
        assert after == {path: told for path, told in before.items() if path != state_path("pips")}
    assert marked[0] == marked[1]

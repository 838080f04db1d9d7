"""Retention of results: what nothing asks for goes, and nothing that a night or a count shows."""

from __future__ import annotations

import datetime as dt
import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.chaos.lakes.nights import write_days
from benchmarks.nights.month_night import Killed, dying_at, raise_killed
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.contradictions import contradicted_count
from nightgrid.archive.results.results import read_results
from nightgrid.archive.views.catalogue import view_named
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.prune import prune_lake
from nightgrid.flows.maintenance.repair import repair_lake
from nightgrid.flows.maintenance.retention.pruned import Kept, Pruned
from tests.flows.maintenance.retention.lakes import (
    LATE,
    NEXT,
    add_loser,
    age_files,
    count,
    counts_by_date,
    keys,
    new_version,
    night,
    pruned,
    versions,
)

BOARDS = 6


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Six boards of nights and four of a corpus."""
    write_days(tmp_path / "source", [0, 1])
    night(tmp_path)
    count(tmp_path)
    return Lake.open(str(tmp_path / "lake"))


def prune(lake: Lake, what: Kept = Kept.RESULTS, **more: Any) -> Pruned:
    return pruned(lake, what, **more)


def test_rows_of_a_corpus_go_with_it_and_those_of_nights_stay(lake: Lake, tmp_path: Path) -> None:
    before, shown = keys(lake), counts_by_date(lake)
    age_files(lake, "corpora")
    would = prune(lake, dry_run=True)
    assert keys(lake) == before
    done = prune(lake)
    assert done == would
    assert (done.what, done.game, done.count) == (Kept.RESULTS, "pips", 4)
    assert done.freed_bytes > 0
    assert len(read_results(lake)) == BOARDS
    assert lake.list("corpora") == []
    assert counts_by_date(lake) == shown
    assert list(check_lake_files(lake)) == []
    assert list(repair_lake(lake)) == []
    assert len(read_results(lake)) == BOARDS
    assert prune(lake).count == 0
    report = night(tmp_path)
    assert (report.planned, report.failed) == (0, False)
    # What is asked again is worked again.
    again = count(tmp_path)
    assert (again.planned, again.figures.statuses["solved"]) == (4, 4)
    assert len(read_results(lake)) == BOARDS + 4


def test_runtimes_are_made_anew(lake: Lake, tmp_path: Path) -> None:
    night(tmp_path)
    assert "unpublished" in view_named("runtimes").read(lake).column("level").to_pylist()
    prune(lake)
    assert "unpublished" not in view_named("runtimes").read(lake).column("level").to_pylist()


def test_a_game_keeps_what_another_one_drops(lake: Lake) -> None:
    before = keys(lake)
    (done,) = prune_lake(lake, {Kept.RESULTS: 30.0}, ["strands"], now=LATE)
    assert (done.game, done.count, keys(lake)) == ("strands", 0, before)


def test_what_is_young_stays(lake: Lake) -> None:
    before = keys(lake)
    assert prune(lake, days=500).count == 0
    assert prune(lake, now=dt.datetime.now(dt.UTC)).count == 0
    assert keys(lake) == before


def test_the_age_of_a_run_that_is_gone_is_that_of_its_file(lake: Lake) -> None:
    list(prune_lake(lake, {Kept.RUNS: 0.0}, now=LATE))
    assert lake.folders("runs/run=") == []
    assert prune(lake, now=dt.datetime.now(dt.UTC)).count == 0
    age_files(lake, "results")
    assert prune(lake, now=dt.datetime.now(dt.UTC)).count == 4


def test_a_row_that_lost_against_another_of_its_job_goes(lake: Lake) -> None:
    add_loser(lake)
    answers = view_named("results").read(lake).sort_by("job_id")
    done = prune(lake, days=0, now=dt.datetime.now(dt.UTC) + dt.timedelta(hours=1))
    assert done.count == 1 + 4
    assert "c" * 32 not in read_results(lake).column("run_id").to_pylist()
    left = view_named("results").read(lake).sort_by("job_id")
    assert set(left.column("job_id").to_pylist()) < set(answers.column("job_id").to_pylist())


def test_versions_go_once_the_present_one_has_repeated_them(lake: Lake, tmp_path: Path) -> None:
    assert prune(lake).count == 4
    with new_version():
        # Nothing is compared yet, so that nothing goes.
        assert prune(lake).count == 0
        night(tmp_path)
        assert versions(lake) == {"pips-2": BOARDS, NEXT: BOARDS}
        shown = counts_by_date(lake)
        assert prune(lake).count == BOARDS
        assert versions(lake) == {NEXT: BOARDS}
        assert counts_by_date(lake) == shown
        assert list(check_lake_files(lake)) == []
        assert night(tmp_path).planned == 0


def contradict(lake: Lake, tmp_path: Path) -> str:
    """Let the version before have counted one published board wrongly; name the board."""
    prune(lake)
    (path,) = lake.list("results")
    table = lake.read_table(path, read_results(lake).schema)
    told = table.column("count").to_pylist()
    told[2] += 1
    at = table.column_names.index("count")
    changed = table.set_column(at, table.field(at), pa.array(told, table.field(at).type))
    lake.write_table(path, changed)
    puzzle: str = table.column("puzzle_id")[2].as_py()
    return puzzle


def test_what_contradicts_stays_until_it_is_named(lake: Lake, tmp_path: Path) -> None:
    puzzle = contradict(lake, tmp_path)
    with new_version():
        assert night(tmp_path).contradictions == 1
        assert prune(lake).count == BOARDS - 1
        assert contradicted_count(lake, "pips") == 1
        rows = view_named("contradictions").read(lake).to_pylist()
        assert {row["puzzle_id"] for row in rows} == {puzzle}
        assert prune(lake, Kept.CONTRADICTED).count == 1
        assert contradicted_count(lake, "pips") == 0
        assert versions(lake) == {NEXT: BOARDS}
        assert night(tmp_path).planned == 0
    assert list(check_lake_files(lake)) == []


@pytest.fixture
def mixed(lake: Lake, tmp_path: Path) -> Iterator[Callable[[int], bool]]:
    """A lake with a row that lost and two versions; kill a call in a copy of it, and end it."""
    add_loser(lake)
    with new_version():
        night(tmp_path)
        shown = counts_by_date(lake)

        def is_ended_after(write: int) -> bool:
            folder = tmp_path / f"{write}"
            for name in ("lake", "source"):
                shutil.copytree(tmp_path / name, folder / name)
            at = Lake.open(str(folder / "lake"))
            killed = is_killed_at(write, at)
            assert counts_by_date(at) == shown
            prune(at)
            assert versions(at) == {NEXT: BOARDS}
            assert counts_by_date(at) == shown
            assert list(check_lake_files(at)) == []
            assert not at.exists("checked/pips-pruned.json")
            assert killed or night(folder).planned == 0
            return killed

        yield is_ended_after


def test_one_that_is_killed_is_ended_by_the_next(mixed: Callable[[int], bool]) -> None:
    assert mixed(3)


@pytest.mark.long(
    short="tests/flows/maintenance/retention/test_results.py::"
    "test_one_that_is_killed_is_ended_by_the_next"
)
def test_one_that_is_killed_at_any_write_is_ended_by_the_next(
    mixed: Callable[[int], bool],
) -> None:
    kills = sum(itertools.takewhile(bool, map(mixed, itertools.count(1))))
    assert kills > 4


def is_killed_at(write: int, lake: Lake) -> bool:
    try:
        with dying_at(write, raise_killed):
            prune(lake)
    except Killed:
        return True
    return False

"""Retention of solutions: listings go with their rows, and neither counts nor nights lose by it."""

from __future__ import annotations

import datetime as dt
import itertools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchmarks.chaos.lakes.nights import write_days
from benchmarks.nights.month_night import Killed, dying_at, raise_killed
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS
from nightgrid.archive.merging.without import drop_rows
from nightgrid.archive.results.dropped import DroppedError, dropped_path, read_dropped
from nightgrid.archive.results.files import RESULT_FILES
from nightgrid.archive.results.results import read_results
from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.archive.views.catalogue import view_named
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.prune import prune_lake
from nightgrid.flows.maintenance.repair import repair_lake
from nightgrid.flows.maintenance.retention import going
from nightgrid.flows.maintenance.retention.pruned import Kept, Pruned
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.naming import jobs_named
from nightgrid.workers.runs.retry import Retry
from tests.flows.maintenance.retention.lakes import (
    CORPUS,
    NEXT,
    age_files,
    called_at_work,
    count,
    keys,
    listing_night,
    new_version,
    night,
)

LATE = dt.datetime.now(dt.UTC) + dt.timedelta(days=400)
BOARDS = 3


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three boards of a night that were counted and listed."""
    folder = tmp_path_factory.mktemp("worked")
    write_days(folder / "source", [0])
    listing_night(folder)
    return folder


@pytest.fixture
def lake(worked: Path, tmp_path: Path) -> Lake:
    """Copy the lake of that night."""
    for name in ("lake", "source"):
        shutil.copytree(worked / name, tmp_path / name)
    return Lake.open(str(tmp_path / "lake"))


def prune(lake: Lake, what: Kept = Kept.SOLUTIONS, days: float = 30, **more: Any) -> Pruned:
    (done,) = prune_lake(lake, {what: days}, ["pips"], now=more.pop("now", LATE), **more)
    return done


def shown(lake: Lake) -> list[dict[str, Any]]:
    names = ["date", "level", "puzzle_id", "status", "count"]
    return view_named("counts").read(lake, names).sort_by("puzzle_id").to_pylist()


def asks(lake: Lake) -> dict[str, int]:
    told = pc.value_counts(read_results(lake).column("ask")).to_pylist()
    return {row["values"]: row["counts"] for row in told}


def listed_jobs(lake: Lake) -> list[str]:
    rows = read_results(lake)
    jobs = rows.filter(pc.equal(rows.column("ask"), "all")).column("job_id")
    return sorted(jobs.to_pylist())


def test_rows_and_listings_go_and_counts_stay(lake: Lake, tmp_path: Path) -> None:
    before, counts, jobs = keys(lake), shown(lake), listed_jobs(lake)
    would = prune(lake, dry_run=True)
    assert keys(lake) == before
    done = prune(lake)
    assert done == would
    assert (done.what, done.game, done.count, done.stays) == (Kept.SOLUTIONS, "pips", BOARDS, 0)
    assert done.freed_bytes > 0
    assert asks(lake) == {"count": BOARDS}
    assert lake.list("listings") == []
    assert shown(lake) == counts
    assert sorted(read_dropped(lake, "pips").column("job_id").to_pylist()) == jobs
    assert list(check_lake_files(lake)) == []
    assert list(repair_lake(lake)) == []
    assert asks(lake) == {"count": BOARDS}
    assert prune(lake).count == 0
    for _ in range(2):
        (report,) = listing_night(tmp_path)
        assert (report.planned, report.already_known) == (0, 2 * BOARDS)
        assert (report.failed, report.attention) == (False, ())


def test_files_are_made_in_a_folder_apart_for_a_dry_run_alone(lake: Lake) -> None:
    with mock.patch.object(going.tempfile, "TemporaryDirectory") as apart:
        assert prune(lake).count == BOARDS
    apart.assert_not_called()


def test_a_job_that_was_dropped_says_so(lake: Lake) -> None:
    (job, *_) = listed_jobs(lake)
    assert len(result(lake, job)["solutions"])  # type: ignore[index]
    prune(lake)
    sentence = f"solutions of job {job} were dropped on {LATE.date()}; ask again to have them"
    for ask in (result, jobs_named):
        with pytest.raises(DroppedError, match=sentence):
            ask(lake, job)


def test_what_is_asked_again_is_answered_and_no_longer_noted(lake: Lake, tmp_path: Path) -> None:
    jobs = listed_jobs(lake)
    prune(lake)
    (report,) = listing_night(tmp_path, Retry.POISON)
    assert report.planned == 0
    (report,) = listing_night(tmp_path, Retry.ALL)
    assert (report.planned, report.solved) == (BOARDS, BOARDS)
    assert listed_jobs(lake) == jobs
    for job in jobs:
        found = result(lake, job)
        assert found is not None
        assert len(found["solutions"]) == found["count"]
    assert list(check_lake_files(lake)) == []
    assert prune(lake, days=1000).count == 0
    assert not lake.exists(dropped_path("pips"))
    assert listing_night(tmp_path)[0].planned == 0


def test_a_lake_that_forgets_what_was_dropped_lists_again(lake: Lake, tmp_path: Path) -> None:
    prune(lake)
    listing_night(tmp_path)
    lake.delete(dropped_path("pips"))
    assert listing_night(tmp_path)[0].planned == BOARDS


def test_a_damaged_note_is_named_and_lists_again(lake: Lake, tmp_path: Path) -> None:
    prune(lake)
    lake.write_bytes(dropped_path("pips"), b"harm")
    try:
        assert listing_night(tmp_path)[0].planned == BOARDS
        assert dropped_path("pips") in skipped_files()
    finally:
        forget(*skipped_files())


def test_an_answer_whose_count_no_row_has_stays(lake: Lake) -> None:
    rows = read_results(lake)
    counts = rows.filter(pc.equal(rows.column("ask"), "count"))
    drop_rows(lake, RESULT_FILES, ("job_id",), counts.column("job_id").slice(0, 1))
    change_count(lake, counts.column("job_id")[1].as_py())
    would = prune(lake, dry_run=True)
    done = prune(lake)
    assert done == would
    assert (done.count, done.stays) == (1, 2)
    assert done.to_json()["stays"] == 2
    assert asks(lake) == {"count": BOARDS - 1, "all": 2}
    assert len(read_dropped(lake, "pips")) == 1
    for job in listed_jobs(lake):
        assert result(lake, job)


def test_a_count_lists_again_what_is_dropped_while_it_is_worked(tmp_path: Path) -> None:
    files = {"listing_row_bytes": 1, "listing_chunk_bytes": 1}
    for ask in ("count", "all"):
        count(tmp_path, CORPUS, ask, **files)
    lake = Lake.open(str(tmp_path / "lake"))
    larger, dropped = CORPUS.replace("n=4", "n=8"), []
    with called_at_work(lambda: dropped.append(prune(lake).count)):
        report = count(tmp_path, larger, "all", **files)
    assert dropped == [4]
    assert report.figures.statuses == {"solved": 8}
    assert count(tmp_path, larger, "all", **files).finished_before


def change_count(lake: Lake, job_id: str) -> None:
    """Let a row say one solution more."""
    for path in lake.list("results"):
        table = lake.read_table(path, RESULTS)
        changed = pc.equal(table.column("job_id"), job_id).to_pylist()
        told = zip(table.column("count").to_pylist(), changed, strict=True)
        at = table.column_names.index("count")
        counts = pa.array([number + more for number, more in told], table.field(at).type)
        lake.write_table(path, table.set_column(at, table.field(at), counts))


def test_what_is_young_stays(lake: Lake) -> None:
    before = keys(lake)
    done = prune(lake, days=500)
    assert (done.count, done.stays) == (0, 0)
    # A run that ended within the days holds its rows, however old the boards are.
    assert prune(lake, now=dt.datetime.now(dt.UTC)).count == 0
    assert keys(lake) == before
    assert not lake.exists(dropped_path("pips"))


def test_listings_of_a_corpus_go_and_are_listed_again_by_the_same_count(
    tmp_path: Path,
) -> None:
    (tmp_path / "source").mkdir()
    count(tmp_path)
    files = {"listing_row_bytes": 1, "listing_chunk_bytes": 1}
    assert count(tmp_path, CORPUS, "all", **files).planned == 4
    lake = Lake.open(str(tmp_path / "lake"))
    age_files(lake, "corpora")
    assert prune(lake).count == 4
    assert asks(lake) == {"count": 4}
    again = count(tmp_path, CORPUS, "all", **files)
    assert (again.planned, again.figures.statuses["solved"]) == (4, 4)


def test_small_listings_beside_those_of_other_jobs_stay(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    count(tmp_path)
    count(tmp_path, CORPUS, "all")
    lake = Lake.open(str(tmp_path / "lake"))
    assert (prune(lake).count, asks(lake)) == (0, {"count": 4, "all": 4})


def test_retention_of_results_keeps_what_is_noted(lake: Lake, tmp_path: Path) -> None:
    prune(lake)
    prune(lake, Kept.RESULTS)
    assert len(read_dropped(lake, "pips")) == BOARDS
    assert listing_night(tmp_path)[0].planned == 0


def test_a_new_version_lists_again(lake: Lake, tmp_path: Path) -> None:
    prune(lake)
    with new_version():
        assert listing_night(tmp_path)[0].planned == 2 * BOARDS
        assert prune(lake).count == BOARDS
        assert listing_night(tmp_path)[0].planned == 0


def test_what_contradicts_stays_on_both_sides(lake: Lake, tmp_path: Path) -> None:
    change_count(lake, listed_jobs(lake)[0])
    with new_version():
        (report,) = listing_night(tmp_path)
        assert report.contradictions == 1
        done = prune(lake)
        assert (done.count, done.stays) == (2 * (BOARDS - 1), 0)
        rows = read_results(lake)
        left = rows.filter(pc.equal(rows.column("ask"), "all")).column("solver_version")
        assert sorted(left.to_pylist()) == sorted([NEXT, "pips-2"])


@pytest.fixture
def killed_in(lake: Lake, tmp_path: Path) -> Callable[[str, Any], bool]:
    """Kill a call in a copy of a lake, and end it by another one."""
    counts = shown(lake)

    def is_ended_after(name: str, dying: Any) -> bool:
        folder = tmp_path / name
        for part in ("lake", "source"):
            shutil.copytree(tmp_path / part, folder / part)
        at = Lake.open(str(folder / "lake"))
        killed = False
        try:
            with dying:
                prune(at)
        except Killed:
            killed = True
        assert shown(at) == counts
        noted = len(read_dropped(at, "pips"))
        assert noted in (0, BOARDS)
        assert noted or at.list("listings")
        prune(at)
        assert asks(at) == {"count": BOARDS}
        assert at.list("listings") == []
        assert len(read_dropped(at, "pips")) == BOARDS
        assert shown(at) == counts
        assert list(check_lake_files(at)) == []
        assert list(repair_lake(at)) == []
        assert not at.exists("checked/pips-pruned.json")
        assert listing_night(folder)[0].planned == 0
        return killed

    return is_ended_after


def dying_at_delete(number: int) -> Any:
    """Die before a file is deleted."""
    delete, numbers = Lake.delete, itertools.count(1)

    def deleting(self: Lake, *args: Any, **more: Any) -> Any:
        if next(numbers) == number:
            raise_killed()
        return delete(self, *args, **more)

    return mock.patch.object(Lake, "delete", deleting)


def test_one_that_is_killed_is_ended_by_the_next(
    killed_in: Callable[[str, Any], bool],
) -> None:
    assert killed_in("write", dying_at(3, raise_killed))
    assert killed_in("delete", dying_at_delete(8))


@pytest.mark.long(
    short="tests/flows/maintenance/retention/test_solutions.py::"
    "test_one_that_is_killed_is_ended_by_the_next"
)
def test_one_that_is_killed_anywhere_is_ended_by_the_next(
    killed_in: Callable[[str, Any], bool],
) -> None:
    writes = itertools.takewhile(
        lambda at: killed_in(f"write-{at}", dying_at(at, raise_killed)), itertools.count(1)
    )
    assert len(list(writes)) > 3
    deletes = itertools.takewhile(
        lambda at: killed_in(f"delete-{at}", dying_at_delete(at)), itertools.count(1)
    )
    assert len(list(deletes)) > 5


def test_one_that_is_killed_before_results_are_dropped_stays_noted(lake: Lake) -> None:
    """Given listings that are gone and rows that are there, Then results= forgets neither."""
    with (
        mock.patch("nightgrid.flows.maintenance.retention.going.drop_rows", raising),
        pytest.raises(Killed),
    ):
        prune(lake)
    assert asks(lake) == {"count": BOARDS, "all": BOARDS}
    with pytest.raises(DroppedError):
        result(lake, listed_jobs(lake)[0])
    prune(lake, Kept.RESULTS)
    assert len(read_dropped(lake, "pips")) == BOARDS
    assert prune(lake).count == BOARDS
    assert asks(lake) == {"count": BOARDS}


def raising(*_: Any, into: Lake | None = None, **more: Any) -> Any:
    if into is None:
        raise_killed()
    return drop_rows(*_, into=into, **more)


def test_an_ordinary_night_knows_nothing_of_it(lake: Lake, tmp_path: Path) -> None:
    prune(lake)
    assert night(tmp_path).planned == 0

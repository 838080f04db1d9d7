"""Retention of solutions: which answers go with their listings, and which stay."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.without import drop_rows
from nightgrid.archive.results.dropped import dropped_path, read_dropped
from nightgrid.archive.results.files import RESULT_FILES
from nightgrid.archive.results.results import read_results
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.repair import repair_lake
from nightgrid.flows.maintenance.retention.pruned import Kept, Pruned
from nightgrid.workers.ondemand.jobs.results import result
from tests.flows.maintenance.retention.lakes import (
    CORPUS,
    LISTED,
    NEXT,
    asks,
    change_count,
    count,
    counts_by_date,
    keys,
    listed_jobs,
    listing_night,
    new_version,
    pruned,
)


def prune(lake: Lake, what: Kept = Kept.SOLUTIONS, **more: Any) -> Pruned:
    return pruned(lake, what, **more)


def test_rows_and_listings_go_and_counts_stay(lake: Lake, tmp_path: Path) -> None:
    before, counts, jobs = keys(lake), counts_by_date(lake), listed_jobs(lake)
    would = prune(lake, dry_run=True)
    assert keys(lake) == before
    done = prune(lake)
    assert done == would
    assert (done.what, done.game, done.count, done.stays) == (Kept.SOLUTIONS, "pips", LISTED, 0)
    assert done.freed_bytes > 0
    assert asks(lake) == {"count": LISTED}
    assert lake.list("listings") == []
    assert counts_by_date(lake) == counts
    assert sorted(read_dropped(lake, "pips").column("job_id").to_pylist()) == jobs
    assert list(check_lake_files(lake)) == []
    assert list(repair_lake(lake)) == []
    assert asks(lake) == {"count": LISTED}
    assert prune(lake).count == 0
    for _ in range(2):
        (report,) = listing_night(tmp_path)
        assert (report.planned, report.already_known) == (0, 2 * LISTED)
        assert (report.failed, report.attention) == (False, ())


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
    assert asks(lake) == {"count": LISTED - 1, "all": 2}
    assert len(read_dropped(lake, "pips")) == 1
    for job in listed_jobs(lake):
        assert result(lake, job)


def test_what_is_young_stays(lake: Lake) -> None:
    before = keys(lake)
    done = prune(lake, days=500)
    assert (done.count, done.stays) == (0, 0)
    # A run that ended within the days holds its rows, however old the boards are.
    assert prune(lake, now=dt.datetime.now(dt.UTC)).count == 0
    assert keys(lake) == before
    assert not lake.exists(dropped_path("pips"))


def test_small_listings_beside_those_of_other_jobs_stay(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    count(tmp_path)
    count(tmp_path, CORPUS, "all")
    lake = Lake.open(str(tmp_path / "lake"))
    assert (prune(lake).count, asks(lake)) == (0, {"count": 4, "all": 4})


def test_what_contradicts_stays_on_both_sides(lake: Lake, tmp_path: Path) -> None:
    change_count(lake, listed_jobs(lake)[0])
    with new_version():
        (report,) = listing_night(tmp_path)
        assert report.contradictions == 1
        done = prune(lake)
        assert (done.count, done.stays) == (2 * (LISTED - 1), 0)
        rows = read_results(lake)
        left = rows.filter(pc.equal(rows.column("ask"), "all")).column("solver_version")
        assert sorted(left.to_pylist()) == sorted([NEXT, "pips-2"])

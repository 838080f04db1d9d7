"""Listings that were dropped: nights know them, and what asks again has them again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.dropped import DroppedError, dropped_path, read_dropped
from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.retention.pruned import Kept, Pruned
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.naming import jobs_named
from nightgrid.workers.runs.retry import Retry
from tests.flows.maintenance.retention.lakes import (
    CORPUS,
    LATE,
    LISTED,
    age_files,
    asks,
    called_at_work,
    count,
    listed_jobs,
    listing_night,
    new_version,
    night,
    pruned,
)


def prune(lake: Lake, what: Kept = Kept.SOLUTIONS, **more: Any) -> Pruned:
    return pruned(lake, what, **more)


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
    assert (report.planned, report.solved) == (LISTED, LISTED)
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
    assert listing_night(tmp_path)[0].planned == LISTED


def test_a_damaged_note_is_named_and_lists_again(lake: Lake, tmp_path: Path) -> None:
    prune(lake)
    lake.write_bytes(dropped_path("pips"), b"harm")
    try:
        assert listing_night(tmp_path)[0].planned == LISTED
        assert dropped_path("pips") in skipped_files()
    finally:
        forget(*skipped_files())


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


def test_retention_of_results_keeps_what_is_noted(lake: Lake, tmp_path: Path) -> None:
    prune(lake)
    prune(lake, Kept.RESULTS)
    assert len(read_dropped(lake, "pips")) == LISTED
    assert listing_night(tmp_path)[0].planned == 0


def test_a_new_version_lists_again(lake: Lake, tmp_path: Path) -> None:
    prune(lake)
    with new_version():
        assert listing_night(tmp_path)[0].planned == 2 * LISTED
        assert prune(lake).count == LISTED
        assert listing_night(tmp_path)[0].planned == 0


def test_an_ordinary_night_knows_nothing_of_it(lake: Lake, tmp_path: Path) -> None:
    prune(lake)
    assert night(tmp_path).planned == 0

"""A lake that version 4 of the schema wrote is read, worked on and upgraded.

fixtures/lake-v4 was written by the code of commit 0643c3d, over generated boards of Pips: a night
of two days and a payload that is none, with a count and a list of five; two counts, one of which
ends over budget; a count whose driver was killed before its end; and an on-demand job that waits.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.chaos.harm import change_count
from benchmarks.chaos.lakes.nights import night_of, write_days
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS, SCHEMA_VERSION
from nightgrid.archive.results.results import read_results
from nightgrid.archive.skipped_files import skipped_files
from nightgrid.flows.count.count import work_count
from nightgrid.flows.count.settings import CountSettings
from nightgrid.flows.maintenance.check import check_lake_files
from nightgrid.flows.maintenance.repair import repair_lake
from nightgrid.flows.night.night import work_night
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.executors import InlineExecutor
from nightgrid.workers.ondemand.jobs.results import result
from nightgrid.workers.ondemand.jobs.status import status
from nightgrid.workers.ondemand.record_files import open_records
from nightgrid.workers.ondemand.task.solving import solve_message
from nightgrid.workers.runs.manifest import read_done
from nightgrid.workers.upkeep import tidy

BEGUN = "815cc12efa840a89710441f611dcfd3d"
JOB = "cbe3a73744f8f59eaba522aecba579c9"


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    shutil.copytree(Path(__file__).parent / "fixtures" / "lake-v4", tmp_path / "lake")
    return Lake.open(str(tmp_path / "lake"))


def version_of(lake: Lake, path: str) -> bytes:
    found: bytes = lake.schema(path).metadata[b"nightgrid.schema_version"]
    return found


def versions(lake: Lake, folder: str) -> set[bytes]:
    return {version_of(lake, path) for path in lake.list(folder) if path.endswith(".parquet")}


def test_it_is_whole_and_of_version_4(lake: Lake) -> None:
    assert versions(lake, "") == {b"4"}
    assert list(check_lake_files(lake)) == []
    rows = read_results(lake).to_pylist()
    assert sorted({(row["ask"], row["status"]) for row in rows}) == [
        ("all(5)", "solved"),
        ("count", "over_budget"),
        ("count", "solved"),
    ]
    assert skipped_files() == {}


def test_a_night_knows_what_was_answered_and_adds_a_day(lake: Lake, tmp_path: Path) -> None:
    before = {row["job_id"]: row["count"] for row in read_results(lake).to_pylist()}
    write_days(tmp_path / "source", [0, 1, 2])
    report = work_night(night_of(lake.url, tmp_path / "source")).games[0]
    assert (report.already_known, report.solved) == (6, 3)
    after = {row["job_id"]: row["count"] for row in read_results(lake).to_pylist()}
    assert before.items() <= after.items()
    assert lake.read_table("editions", EDITIONS).num_rows == 9
    assert list(check_lake_files(lake)) == []
    tidy(lake, runs_kept_days=90)
    assert versions(lake, "results") == {str(SCHEMA_VERSION).encode()}


def test_a_count_that_was_begun_goes_on_and_one_that_ended_is_known(lake: Lake) -> None:
    workers = night_of(lake.url, Path(lake.url)).workers
    assert read_done(lake, BEGUN) is None
    summary = drive(lake, BEGUN, InlineExecutor(lake, workers), settings=workers)
    assert (summary.finished, summary.chunks_resumed) == (True, 1)
    again = CountSettings(corpus="pips:n=4,seed=2", executor="inline", workers=workers)
    assert work_count(again).figures.statuses == {"solved": 4}


def test_a_job_that_waits_is_worked(lake: Lake) -> None:
    (record,) = open_records(lake)
    assert (record.job_id, status(lake, JOB).state) == (JOB, "queued")
    solve_message(lake, record.message, night_of(lake.url, Path(lake.url)).workers, "w")
    row = result(lake, JOB)
    assert row is not None
    assert row["status"] == "solved"


def test_what_is_damaged_is_made_again_with_sums(lake: Lake) -> None:
    """Given a count that was changed in a file without sums, Then only one with sums tells."""
    (path,) = [path for path in lake.list("results") if BEGUN not in path][:1]
    lake.write_bytes(path, lake.read_bytes(path)[:-50])
    assert path in [found.path for found in check_lake_files(lake)]
    assert all(one.mended for one in repair_lake(lake))
    assert str(SCHEMA_VERSION).encode() in versions(lake, "results")
    assert list(check_lake_files(lake)) == []
    (made,) = (p for p in lake.list("results") if version_of(lake, p) != b"4")
    change_count(lake, made)
    assert made in [found.path for found in check_lake_files(lake)]

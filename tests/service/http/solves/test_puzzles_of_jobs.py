"""Each record is read once while it is listed, and one listing serves all that wait for one."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.solves import puzzles_of_jobs as module
from nightgrid.service.http.solves.puzzles_of_jobs import PuzzlesOfJobs
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.workers.ondemand.record import BadRecordError

MANY = 12_000
PATIENCE_S = 60.0


class Records:
    """Records in the place of those of a lake: each is about the puzzle of its last digit."""

    def __init__(self, jobs: list[str]) -> None:
        self.jobs = jobs
        self.listings = 0
        self.read: list[str] = []

    def list_jobs(self, _: Lake) -> list[str]:
        self.listings += 1
        return list(self.jobs)

    def read_record(self, _: Lake, job: str) -> str | None:
        self.read.append(job)
        if job.startswith("bad"):
            raise BadRecordError("no record")
        return None if job.startswith("gone") else job

    def puzzle_id_of(self, _: Lake, job: str) -> str:
        if job.startswith("odd"):
            raise PermanentError("no puzzle")
        return job[-1]


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> Records:
    made = Records([f"{number}" for number in range(MANY)])
    for name in ("list_jobs", "read_record", "puzzle_id_of"):
        monkeypatch.setattr(module, name, getattr(made, name))
    return made


def test_each_record_is_read_once_however_many_there_are(records: Records, lake: Lake) -> None:
    puzzles = PuzzlesOfJobs(lake)
    assert puzzles.jobs_about("7") == sorted(job for job in records.jobs if job[-1] == "7")
    assert len(puzzles.jobs_about("8")) == MANY // 10
    assert sorted(records.read) == sorted(records.jobs)


def test_what_is_listed_no_more_is_kept_no_more(records: Records, lake: Lake) -> None:
    puzzles = PuzzlesOfJobs(lake)
    puzzles.jobs_about("7")
    records.jobs = ["17", "18", "new7"]
    records.read.clear()
    assert puzzles.jobs_about("7") == ["17", "new7"]
    assert records.read == ["new7"]
    assert set(puzzles._known) == {"17", "18", "new7"}


def test_what_is_no_record_is_about_no_puzzle(records: Records, lake: Lake) -> None:
    records.jobs = ["bad7", "gone7", "odd7", "7"]
    assert PuzzlesOfJobs(lake).jobs_about("7") == ["7"]


class Gate:
    """A lock that tells of each thread that comes for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.came = threading.Semaphore(0)

    def __enter__(self) -> None:
        self.came.release()
        assert self.lock.acquire(timeout=PATIENCE_S)

    def __exit__(self, *_: object) -> None:
        self.lock.release()


@pytest.mark.parametrize("fails", [False, True])
def test_one_listing_serves_all_that_wait_for_one(
    records: Records, lake: Lake, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    """Given a listing under way, When five requests come, Then one more listing serves them."""
    begun, go_on = threading.Event(), threading.Event()
    records.jobs = ["17"]

    def list_jobs(_: Lake) -> list[str]:
        records.listings += 1
        if records.listings == 1:
            begun.set()
            assert go_on.wait(PATIENCE_S)
            if fails:
                raise TransientError("the lake does not answer")
            return []
        return records.jobs

    monkeypatch.setattr(module, "list_jobs", list_jobs)
    puzzles, gate = PuzzlesOfJobs(lake), Gate()
    puzzles._lock = gate  # type: ignore[assignment]
    with ThreadPoolExecutor(6) as threads:
        first = threads.submit(puzzles.jobs_about, "7")
        assert begun.wait(PATIENCE_S)
        others = [threads.submit(puzzles.jobs_about, "7") for _ in range(5)]
        for _ in range(6):
            assert gate.came.acquire(timeout=PATIENCE_S)
        go_on.set()
        assert [other.result() for other in others] == [["17"]] * 5
    assert records.listings == 2
    assert (first.exception() is not None) is fails

"""Open jobs are counted by key, over restarts, and those that ended unseen are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.guard.access import ANY, Client
from nightgrid.service.http.guard.open_jobs import GRACE_S, OPENED, OpenJobs
from nightgrid.service.http.problems import Problem

ALICE, BOB = Client(name="alice", jobs=2), Client(name="bob", jobs=1)
JOBS = [f"{i:032x}" for i in range(4)]


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake.open(str(tmp_path / "lake"))
    for job in JOBS:
        lake.write_bytes(submission_path(job), b"{}")
    return lake


def submission_path(job: str) -> str:
    return f"runs/ondemand/{job}/client.json"


def test_a_key_has_so_many_jobs_open(lake: Lake, clock: Clock):
    jobs = OpenJobs(lake, clock)
    jobs.add(ALICE, JOBS[0])
    jobs.add(ALICE, JOBS[1])
    jobs.add(ALICE, JOBS[0])
    jobs.add(BOB, JOBS[0])
    with pytest.raises(Problem, match="may have 2 jobs open at once") as raised:
        jobs.add(ALICE, JOBS[2])
    assert (raised.value.status, raised.value.headers) == (429, {"Retry-After": "5"})
    jobs.ended(JOBS[0])
    jobs.add(ALICE, JOBS[2])
    jobs.add(BOB, JOBS[3])


def test_a_client_without_a_key_has_no_limit(lake: Lake):
    jobs = OpenJobs(lake)
    for job in JOBS:
        jobs.add(ANY, job)
    assert lake.list(OPENED) == []


def test_the_limit_holds_over_a_restart(lake: Lake, clock: Clock):
    jobs = OpenJobs(lake, clock)
    jobs.add(ALICE, JOBS[0])
    jobs.add(ALICE, JOBS[1])
    lake.delete(submission_path(JOBS[1]))
    again = OpenJobs(lake, clock)
    assert again.count("alice") == 1
    again.add(ALICE, JOBS[2])
    with pytest.raises(Problem):
        again.add(ALICE, JOBS[3])
    again.left(ALICE, JOBS[0])
    again.left(BOB, JOBS[2])
    again.add(ALICE, JOBS[3])
    assert lake.list(OPENED) == [f"{OPENED}/alice/{job}" for job in JOBS[2:]]


def test_jobs_that_ended_unseen_make_room(lake: Lake, clock: Clock):
    jobs = OpenJobs(lake, clock)
    jobs.add(BOB, JOBS[0])
    lake.delete(submission_path(JOBS[0]))
    with pytest.raises(Problem):
        jobs.add(BOB, JOBS[1])  # its submission may be on its way
    clock.now += GRACE_S
    jobs.add(BOB, JOBS[1])
    assert lake.list(OPENED) == [f"{OPENED}/bob/{JOBS[1]}"]


def test_what_is_no_job_is_passed_over(lake: Lake):
    lake.write_bytes(f"{OPENED}/alice/note.txt", b"")
    lake.write_bytes(f"{OPENED}/{JOBS[0]}", b"")
    assert OpenJobs(lake).count("alice") == 0

"""Admission control: limits by a key's open jobs, and by the jobs ahead in the queue."""

from __future__ import annotations

import math
from collections.abc import Iterable

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.guard.keys import Key
from nightgrid.service.http.problems import Problem
from nightgrid.solvers.sentences import plural
from nightgrid.workers.driver.progress import clock_time
from nightgrid.workers.ondemand.submissions import Wanted, client_name, open_jobs
from nightgrid.workers.settings import Settings

JOB_S = 0.05
"""Overhead of a job besides its solve: its files and messages."""
RETRY_AFTER_S = 5


def client_for(key: Key | None) -> str:
    """Return the client name for an API key in submissions; empty without one."""
    return "" if key is None else client_name("key", key.name)


def in_same_class(wanted: Iterable[Wanted], expected_s: float, settings: Settings) -> list[Wanted]:
    """List the open jobs that compete for workers with a job of this expected time.

    Small jobs wait for small ones, large jobs for large ones.
    """
    most_s = settings.ondemand_seconds
    return [job for job in wanted if (job.last.expected_s <= most_s) is (expected_s <= most_s)]


def check_admission(
    lake: Lake, settings: Settings, key: Key | None, job_id: str, expected_s: float
) -> None:
    """Raise Problem with 429 for a job that would wait too long, or exceeds its key's limit.

    A job that is open already does not count again. The wait is the expected time of the jobs
    ahead, divided by the processes that solve them.
    """
    wanted = open_jobs(lake).wanted
    if job_id in wanted:
        return
    if key is not None:
        name = client_for(key)
        mine = [job for job in wanted.values() if name in {each.client for each in job.submissions}]
        if len(mine) >= key.jobs:
            raise Problem(
                "too-many-jobs",
                f"this key may have {plural(key.jobs, 'job')} open at once",
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )
    is_small = expected_s <= settings.ondemand_seconds
    wait_s = sum(
        min(job.last.expected_s + JOB_S, settings.ondemand_total_seconds)
        for job in in_same_class(wanted.values(), expected_s, settings)
    ) / (settings.interactive_processes if is_small else settings.batch_processes)
    most_s = settings.ondemand_wait_seconds
    if wait_s > most_s:
        raise Problem(
            "queue-full",
            f"a new job would wait about {clock_time(wait_s)} for the jobs that come first; "
            f"expected at most {clock_time(most_s)}",
            headers={"Retry-After": str(max(1, math.ceil(wait_s - most_s)))},
        )

"""Whether another job is taken: by the jobs that its key has open, and by those before it."""

from __future__ import annotations

import math

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.caches import Cached
from nightgrid.service.http.guard.access import Client
from nightgrid.service.http.problems import Problem
from nightgrid.solvers.sentences import plural
from nightgrid.workers.driver.progress import clock_time
from nightgrid.workers.ondemand.submissions import (
    CLIENT_DIGITS,
    OpenJobs,
    Wanted,
    client_name,
    open_jobs,
)
from nightgrid.workers.settings import Settings

LOOK_S = 0.5
"""How long a look at the open jobs counts."""
JOB_S = 0.05
"""What a job costs besides its solve: its files and messages."""
RETRY_AFTER_S = 5
_KEY_DIGITS = CLIENT_DIGITS // 2
"""Digits of a client's name that name its key; the others name its request, if that has a key."""


def client_for(client: Client, key: str | None) -> str:
    """Name a client by its API key and its request's key; empty without either."""
    if not client.name:
        return client_name("idempotency", "", key) if key else ""
    name = client_name("key", client.name)
    if not key:
        return name
    return name[:_KEY_DIGITS] + client_name("idempotency", client.name, key)[_KEY_DIGITS:]


class Admission:
    """Refuses jobs that would wait too long, or are too many of one key. Thread-safe."""

    def __init__(self, lake: Lake, settings: Settings) -> None:
        self._lake, self._settings = lake, settings
        self._open: Cached[OpenJobs] = Cached(lambda: open_jobs(lake), LOOK_S)

    def check(self, client: Client, job_id: str, expected_s: float) -> None:
        """Raise Problem with 429 for a job of a client that is not taken.

        A job that is open already is no further one. Small jobs wait for small ones, large jobs for
        large ones: what these are expected to take, divided by the processes that work them.
        """
        if client.jobs is not None:
            self._check_count(client, client.jobs, job_id)
        settings, wanted = self._settings, self._open.get().wanted
        is_small = expected_s <= settings.ondemand_seconds
        before_s = [
            min(job.last.expected_s + JOB_S, settings.ondemand_total_seconds)
            for job in wanted.values()
            if (job.last.expected_s <= settings.ondemand_seconds) is is_small
        ]
        wait_s = sum(before_s) / (
            settings.interactive_processes if is_small else settings.batch_processes
        )
        most_s = settings.ondemand_wait_seconds
        if wait_s <= most_s or job_id in wanted:
            return
        raise Problem(
            "queue-full",
            f"a new job would wait about {clock_time(wait_s)} for the jobs that come first; "
            f"expected at most {clock_time(most_s)}",
            headers={"Retry-After": str(max(1, math.ceil(wait_s - most_s)))},
        )

    def _check_count(self, client: Client, most: int, job_id: str) -> None:
        mine = client_for(client, None)[:_KEY_DIGITS]

        def is_mine(job: Wanted) -> bool:
            return any(each.client.startswith(mine) for each in job.submissions)

        opened = {job.job_id for job in open_jobs(self._lake).wanted.values() if is_mine(job)}
        if job_id not in opened and len(opened) >= most:
            raise Problem(
                "too-many-jobs",
                f"this key may have {plural(most, 'job')} open at once",
                headers={"Retry-After": str(RETRY_AFTER_S)},
            )

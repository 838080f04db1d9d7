"""Whether another job is taken: not while those before it would keep it waiting too long."""

from __future__ import annotations

import math

import redis

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.problems import Problem
from nightgrid.solvers.algebra import Budget, Expected
from nightgrid.workers.ondemand.jobs.expected_wait import SMALL, ExpectedWait, too_long
from nightgrid.workers.ondemand.record_files import record_path
from nightgrid.workers.settings import Settings


class Admission:
    """Refuses jobs that would wait too long. One for a service; any thread may use it."""

    def __init__(self, client: redis.Redis, lake: Lake, settings: Settings) -> None:
        self._lake = lake
        self._most_s = settings.ondemand_wait_seconds
        self.expected_wait = ExpectedWait(client, lake, settings)

    def check(
        self,
        expected: Expected = SMALL,
        job_id: str | None = None,
        budget: Budget | None = None,
    ) -> None:
        """Raise Problem where a job of which that is expected would wait too long.

        A job with an id that another client has asked for is no further one. Without a budget it
        has that of the settings.
        """
        wait_s = self.expected_wait.wait_s(expected, budget)
        if wait_s <= self._most_s or (job_id and self._lake.exists(record_path(job_id))):
            return
        again_s = max(1, math.ceil(wait_s - self._most_s))
        raise Problem(
            "queue-full",
            too_long("a new job", wait_s, self._most_s),
            headers={"Retry-After": str(again_s)},
        )

    def note(self, job_id: str, expected: Expected, budget: Budget | None = None) -> None:
        """Keep what a job that is about to wait is expected to take, and its budget."""
        self.expected_wait.note(job_id, expected, budget)

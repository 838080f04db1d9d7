"""Whether another job is taken: not while those before it would keep it waiting too long."""

from __future__ import annotations

import math

import redis

from nightgrid.service.http.monitoring.cached import Cached
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.solves.views import Kept
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.queues import INTERACTIVE, waiting_in_order
from nightgrid.workers.settings import Settings

LOOK_S = 0.25
"""How long a look at the queue counts."""
JOB_S = 0.02
"""What a job costs beside its solve: its record, its message, its files."""
SHARE = "/share"
"""What the message ends with that calls a process to a job of another."""
NOTED_MAX = 10_000
"""Jobs of which it is kept what they are expected to take."""


class Admission:
    """Refuses jobs that would wait too long. One for a service; any thread may use it."""

    def __init__(self, client: redis.Redis, settings: Settings) -> None:
        self._client = client
        self._settings = settings
        self._waiting = Cached(self._look, LOOK_S)
        self._expected: Kept[float] = Kept(NOTED_MAX)

    def check(self) -> None:
        """Raise Problem where a new job is expected to wait too long."""
        expected_s = self.expected_wait_s()
        most_s = self._settings.ondemand_wait_seconds
        if expected_s <= most_s:
            return
        again_s = max(1, math.ceil(expected_s - most_s))
        raise Problem(
            429,
            "queue-full",
            "Too many jobs wait",
            f"a new job is expected to wait {expected_s:,.0f} s; expected at most {most_s:,.0f} s",
            headers={"Retry-After": str(again_s)},
        )

    def note(self, job_id: str, expected_s: float) -> None:
        """Keep what a job that is about to wait is expected to take one core."""
        self._expected.put(job_id, expected_s)

    def expected_wait_s(self) -> float:
        """Estimate how long a new job waits for a worker."""
        return self._waiting.get() / self._settings.interactive_processes

    def _look(self) -> float:
        """Add up what the jobs that wait are expected to take in their first task."""
        try:
            waiting = waiting_in_order(self._client, self._settings, INTERACTIVE)
            number = self._client.llen(f"{key_prefix(self._settings)}{INTERACTIVE}")
        except redis.RedisError:
            # What is accepted lies in the lake, and is sent when the server is back.
            return 0.0
        looked_s = sum(map(self._task_s, waiting))
        # Of a long queue the first are looked at, and the others are taken to be like them.
        return looked_s * max(1.0, int(number) / max(1, len(waiting)))

    def _task_s(self, job_id: str) -> float:
        if job_id.endswith(SHARE):
            # A call to a process that is idle.
            return 0.0
        # A job takes this long in one task at most. Of one that came another way nothing is
        # known, and half of that is said of it.
        most_s = self._settings.ondemand_seconds
        expected_s = self._expected.get(job_id)
        return most_s / 2 if expected_s is None else min(expected_s + JOB_S, most_s)

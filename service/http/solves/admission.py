"""Whether another job is taken: not while those before it would keep it waiting too long."""

from __future__ import annotations

import math

import redis

from nightgrid.service.http.problems import Problem
from nightgrid.service.http.watch.cached import Cached
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.queues import INTERACTIVE
from nightgrid.workers.settings import Settings

LOOK_S = 0.25
"""How long a look at the queue counts."""


class Admission:
    """Refuses jobs that would wait too long. One for a service; any thread may use it."""

    def __init__(self, client: redis.Redis, settings: Settings) -> None:
        self._client = client
        self._settings = settings
        self._waiting = Cached(self._look, LOOK_S)

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

    def expected_wait_s(self) -> float:
        """Estimate how long a new job waits for a worker."""
        # A job takes this long in one task at most; most take far less.
        each_s = self._settings.ondemand_seconds / 2
        return self._waiting.get() * each_s / self._settings.interactive_processes

    def _look(self) -> int:
        """Count the jobs that wait."""
        try:
            return int(self._client.llen(f"{key_prefix(self._settings)}{INTERACTIVE}"))
        except redis.RedisError:
            # What is accepted lies in the lake, and is sent when the server is back.
            return 0

"""Find the workers whose heartbeats have stopped."""

from __future__ import annotations

import time
from collections.abc import Collection

import redis

from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.worker_keys import living_workers, refusals
from nightgrid.workers.settings import Settings


class SilentWorkers:
    """Finds workers without a heartbeat for `silent_seconds`.

    Time counts only while the server answers: without it no worker can write a heartbeat. A worker
    that has not written its first one may be compiling kernels.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._heard_at: dict[str, float] = {}
        self._polled_at = time.monotonic()
        self.working: frozenset[str] = frozenset()
        """Workers that lived at the last poll and refused nothing."""

    def silent(self, workers: Collection[str]) -> set[str]:
        """List those of these workers without a heartbeat for too long."""
        now = time.monotonic()
        since = now - self._polled_at
        if since < self._settings.liveness_interval_seconds or not workers:
            return set()
        self._polled_at = now
        heard = {w: at for w, at in self._heard_at.items() if w in workers}
        try:
            with connect(self._settings) as client:
                alive = living_workers(client, self._settings)
                refusing = refusals(client, self._settings)
        except redis.RedisError:
            self.working = frozenset()
            # Time in which the server did not answer does not count.
            self._heard_at = {w: at + since for w, at in heard.items()}
            return set()
        self.working = frozenset(w for w in workers if w in alive and w not in refusing)
        self._heard_at = heard | {w: now for w in workers if w in alive}
        limit = self._settings.silent_seconds
        return {w for w, at in self._heard_at.items() if now - at > limit}

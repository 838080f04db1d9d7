"""Which workers have stopped saying that they live."""

from __future__ import annotations

import time
from collections.abc import Collection

import redis

from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.worker_keys import living_workers, refusals
from nightgrid.workers.settings import Settings


class SilentWorkers:
    """Notices workers that have said that they live, and have not for `silent_seconds`.

    Silence counts only while the server answers: without it no worker can say anything. A worker
    that has never spoken may be compiling kernels.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._heard_at: dict[str, float] = {}
        self._looked_at = time.monotonic()
        self.working: frozenset[str] = frozenset()
        """Workers of the last look that live and have refused nothing a moment ago."""

    def silent(self, workers: Collection[str]) -> set[str]:
        """Name those of these workers that have been silent for too long."""
        now = time.monotonic()
        since = now - self._looked_at
        if since < self._settings.liveness_interval_seconds or not workers:
            return set()
        self._looked_at = now
        heard = {w: at for w, at in self._heard_at.items() if w in workers}
        try:
            with connect(self._settings) as client:
                alive = living_workers(client, self._settings)
                refusing = refusals(client, self._settings)
        except redis.RedisError:
            self.working = frozenset()
            # Time in which no worker could be heard does not count.
            self._heard_at = {w: at + since for w, at in heard.items()}
            return set()
        self.working = frozenset(w for w in workers if w in alive and w not in refusing)
        self._heard_at = heard | {w: now for w in workers if w in alive}
        limit = self._settings.silent_seconds
        return {w for w, at in self._heard_at.items() if now - at > limit}

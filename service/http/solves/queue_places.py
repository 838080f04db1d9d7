"""How many jobs stand before each in the queue: one look for all that ask."""

from __future__ import annotations

import redis

from nightgrid.workers.broker.queues import INTERACTIVE, waiting_in_order
from nightgrid.workers.caches import Cached
from nightgrid.workers.settings import Settings

LOOK_S = 0.5
"""How long a look at the queue counts."""


class QueuePlaces:
    """Tells places in the queue. Any thread may use it."""

    def __init__(self, client: redis.Redis, settings: Settings) -> None:
        self._client = client
        self._settings = settings
        self._places = Cached(self._look, LOOK_S)

    def of(self, job_id: str) -> int | None:
        """Count the jobs before one; None where it does not wait, or no server answers."""
        return self._places.get().get(job_id)

    def _look(self) -> dict[str, int]:
        try:
            order = waiting_in_order(self._client, self._settings, INTERACTIVE)
        except redis.RedisError:
            order = []
        return {job: place for place, job in enumerate(order)}

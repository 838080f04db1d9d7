"""How many jobs stand before each in the queue: one look for all that ask."""

from __future__ import annotations

import math
import threading
import time

import redis

from nightgrid.workers.broker.queues import INTERACTIVE, waiting_in_order
from nightgrid.workers.settings import Settings

LOOK_S = 0.5
"""How long a look at the queue counts."""


class Places:
    """Tells places in the queue. Any thread may use it."""

    def __init__(self, client: redis.Redis, settings: Settings) -> None:
        self._client = client
        self._settings = settings
        self._places: dict[str, int] = {}
        self._looked_at = -math.inf
        self._looking = threading.Lock()

    def of(self, job_id: str) -> int | None:
        """Count the jobs before one; None where it does not wait, or no server answers."""
        with self._looking:
            now = time.monotonic()
            if now - self._looked_at > LOOK_S:
                self._looked_at = now
                try:
                    order = waiting_in_order(self._client, self._settings, INTERACTIVE)
                except redis.RedisError:
                    order = []
                self._places = {job: place for place, job in enumerate(order)}
            return self._places.get(job_id)

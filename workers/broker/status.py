"""How busy the queues are: what waits, what is being worked, and how old the oldest is."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass

import redis

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.broker.redis_keys import connect
from nightgrid.workers.queue_names import NAMES
from nightgrid.workers.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatus:
    """One queue."""

    queued: int
    acquired: int
    oldest_s: float
    """Age of the oldest message that waits; 0 when none does. The number that matters."""


def overview(settings: Settings | None = None) -> dict[str, QueueStatus]:
    """Look at every queue. Raises TransientError when the server is dead."""
    settings = settings or Settings()
    prefix = settings.key_prefix
    try:
        with connect(settings) as client:
            pipe = client.pipeline(transaction=False)
            for name in NAMES:
                pipe.llen(f"{prefix}{name}")
                # Messages come in at the head of the list and go out at its end.
                pipe.lindex(f"{prefix}{name}", -1)
            pipe.hvals(f"{prefix}unacked")
            *looks, unacked = pipe.execute()
    except redis.RedisError as error:
        raise TransientError(f"the Redis server does not answer: {error}") from error
    acquired = Counter(_queue_of(text) for text in unacked)
    return {
        name: QueueStatus(
            queued=looks[2 * i],
            acquired=acquired[name],
            oldest_s=round(_age_s(looks[2 * i + 1]), 3),
        )
        for i, name in enumerate(NAMES)
    }


def _age_s(text: str | None) -> float:
    if text is None:
        return 0.0
    sent = json.loads(text)["headers"].get("submitted_at")
    return 0.0 if sent is None else max(0.0, time.time() - float(sent))


def _queue_of(text: str) -> str:
    # An acquired message is kept as [message, exchange, routing key].
    return str(json.loads(text)[2])

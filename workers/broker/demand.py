"""How many worker processes there is work for: what whoever starts and stops workers reads.

A driver keeps only a window of its chunks in the queue, so the queue's length alone says too
little. Drivers therefore leave word of all that they still want done. All of it is a shortcut:
wrong or lost, it delays a run and changes nothing in its results.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import redis

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.broker.redis_keys import connect, living
from nightgrid.workers.broker.status import overview
from nightgrid.workers.queue_names import BATCH, URGENT
from nightgrid.workers.settings import Settings

DEMAND_KEPT_SECONDS = 30
"""A driver that has said nothing for this long wants nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What the batch workers have before them."""

    chunks_waiting: int
    """Chunks of all runs that are driven now, in the queue or not, that are not done."""
    queued: int
    """Messages in the queues `urgent` and `batch`, which nobody has taken yet."""
    acquired: int
    """Messages that workers have taken."""
    oldest_s: float
    """Age of the oldest message that waits; 0 when none does."""
    processes: int
    """Children of the batch workers that live."""
    processes_wanted: int
    """As many as could work at once: one for each chunk that waits or is being worked."""


def publish_demand(
    client: redis.Redis, settings: Settings, run_id: str, chunks_waiting: int
) -> None:
    """Leave word of how many chunks of a run are not done."""
    with contextlib.suppress(redis.RedisError):
        client.set(_key(settings, run_id), chunks_waiting, ex=DEMAND_KEPT_SECONDS)


def demand(settings: Settings | None = None) -> Demand:
    """Look what there is to do. Raises TransientError when the server is dead."""
    settings = settings or Settings()
    queues = overview(settings)
    chunks = [queues[name] for name in (URGENT, BATCH)]
    try:
        with connect(settings) as client:
            keys = list(client.scan_iter(_key(settings, "*"), count=1000))
            values: Any = client.mget(keys) if keys else []
            alive = living(client, settings).values()
    except redis.RedisError as error:
        raise TransientError(f"the Redis server does not answer: {error}") from error
    waiting = sum(int(value) for value in values if value is not None)
    queued, acquired = sum(q.queued for q in chunks), sum(q.acquired for q in chunks)
    return Demand(
        chunks_waiting=waiting,
        queued=queued,
        acquired=acquired,
        oldest_s=max(q.oldest_s for q in chunks),
        processes=sum(about["processes"] for about in alive if BATCH in about["queues"]),
        processes_wanted=max(waiting, queued + acquired),
    )


def _key(settings: Settings, run_id: str) -> str:
    return f"{settings.key_prefix}demand:{run_id}"

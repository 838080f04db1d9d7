"""Keys of workers in Redis: heartbeats that expire, why workers refuse work, how they exited.

Drivers, the keeper, supervisors and `status` read them. Losing a key delays a run and changes no
result.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import redis

from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.redis_keys import EXITED, LIVES, REFUSES, key_prefix, read_keys
from nightgrid.workers.settings import Settings

DEAD_KEPT_SECONDS = 24 * 3600
DEAD, LEFT = "1", "left"
"""Value of an exited worker's key. A worker that LEFT was asked to stop, so its exit does not count
against the chunk that it was running."""
REFUSAL_KEPT_PAUSES = 6.0
"""Refusals are kept for this many pauses of the worker."""
REASON_CHARS = 500
"""Longest reason kept in a worker's key or sent in an announcement, in characters."""


def _key(settings: Settings, kind: str, worker: str) -> str:
    return f"{key_prefix(settings)}{kind}{worker}"


def write_heartbeat(
    client: redis.Redis, settings: Settings, worker: str, about: dict[str, Any]
) -> None:
    """Write a worker's heartbeat, which expires after `liveness_ttl_seconds`.

    Raises redis.RedisError.
    """
    kept_ms = int(settings.tuning.liveness_ttl_seconds * 1000)
    client.set(_key(settings, LIVES, worker), json.dumps(about), px=kept_ms)


def record_refusal(client: redis.Redis, settings: Settings, worker: str, reason: str) -> None:
    """Record that a worker refuses work, and why, for a few pauses. Raises redis.RedisError."""
    kept_ms = int(REFUSAL_KEPT_PAUSES * settings.tuning.refusal_pause_seconds * 1000)
    client.set(_key(settings, REFUSES, worker), reason[:REASON_CHARS], px=kept_ms)


def living_workers(client: redis.Redis, settings: Settings) -> dict[str, dict[str, Any]]:
    """Read the heartbeats: worker -> its description of itself. Raises redis.RedisError."""
    beats = read_keys(client, settings, LIVES)
    return {worker: json.loads(about) for worker, about in beats.items()}


def served_queues(settings: Settings) -> set[str]:
    """Return the queues that living workers serve; empty if the server does not answer."""
    with connect(settings) as client, suppress(redis.RedisError, OSError):
        alive = living_workers(client, settings).values()
        return {queue for about in alive for queue in about["queues"]}
    return set()


def refusals(client: redis.Redis, settings: Settings) -> dict[str, str]:
    """Read which workers refuse work: worker -> reason. Raises redis.RedisError."""
    return read_keys(client, settings, REFUSES)


def record_exit(client: redis.Redis, settings: Settings, worker: str, how: str) -> None:
    """Record that a worker is DEAD or has LEFT, to save waiting for its heartbeat to expire."""
    pipe = client.pipeline(transaction=False)
    pipe.delete(_key(settings, LIVES, worker), _key(settings, REFUSES, worker))
    pipe.set(_key(settings, EXITED, worker), how, ex=DEAD_KEPT_SECONDS)
    pipe.execute()


def exit_of(client: redis.Redis, settings: Settings, worker: str) -> str | None:
    """Return the recorded exit of a worker: DEAD, LEFT or None. Raises redis.RedisError."""
    how: Any = client.get(_key(settings, EXITED, worker))
    return how

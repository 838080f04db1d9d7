"""Keys of workers in Redis: `worker:ID`, a heartbeat that expires, and how a worker exited.

A heartbeat is a hash: what the worker says about itself, and why it refuses work. Drivers, the
keeper, supervisors and `status` read it. Losing any of it delays a run and changes no result.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import redis

from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.settings import Settings

DEAD_KEPT_SECONDS = 24 * 3600
DEAD, LEFT = "1", "left"
"""The value of the key of an exited worker. A worker that LEFT was asked to go: its exit does not
count against the chunk that it had in hand."""
REFUSAL_KEPT_PAUSES = 6.0
"""A refusal is kept for this many pauses of the worker."""
REASON_CHARS = 500
"""Longest reason that is kept in a worker's key, or travels in an announcement."""
ABOUT, REFUSES = "about", "refuses"


def worker_key(settings: Settings, worker: str) -> str:
    """Name the key of a worker's heartbeat."""
    return f"{key_prefix(settings)}worker:{worker}"


def write_heartbeat(
    client: redis.Redis, settings: Settings, worker: str, about: dict[str, Any]
) -> None:
    """Write what a worker says about itself, kept for `liveness_ttl_seconds`.

    Forgets an old refusal. Raises redis.RedisError.
    """
    key = worker_key(settings, worker)
    pipe = client.pipeline(transaction=False)
    pipe.hset(key, ABOUT, json.dumps(about))
    pipe.pexpire(key, int(settings.tuning.liveness_ttl_seconds * 1000))
    pipe.hget(key, REFUSES)
    *_, refusal = pipe.execute()
    kept_s = REFUSAL_KEPT_PAUSES * settings.tuning.refusal_pause_seconds
    if refusal is not None and json.loads(refusal)["at"] < time.time() - kept_s:
        client.hdel(key, REFUSES)


def record_refusal(client: redis.Redis, settings: Settings, worker: str, reason: str) -> None:
    """Record for a few pauses that a worker refuses work, and why. Raises redis.RedisError."""
    refusal = {"at": time.time(), "reason": reason[:REASON_CHARS]}
    client.hset(worker_key(settings, worker), REFUSES, json.dumps(refusal))


def living_workers(client: redis.Redis, settings: Settings) -> dict[str, dict[str, Any]]:
    """Read the heartbeats: worker -> what it says about itself. Raises redis.RedisError."""
    return {
        worker: json.loads(told[ABOUT])
        for worker, told in _heartbeats(client, settings).items()
        if ABOUT in told
    }


def served_queues(settings: Settings) -> set[str]:
    """Return the queues that living workers serve; none while the server does not answer."""
    with connect(settings) as client, suppress(redis.RedisError, OSError):
        alive = living_workers(client, settings).values()
        return {queue for about in alive for queue in about["queues"]}
    return set()


def refusals(client: redis.Redis, settings: Settings) -> dict[str, str]:
    """Read which living workers refuse work: worker -> reason. Raises redis.RedisError."""
    return {
        worker: json.loads(told[REFUSES])["reason"]
        for worker, told in _heartbeats(client, settings).items()
        if ABOUT in told and REFUSES in told
    }


def _heartbeats(client: redis.Redis, settings: Settings) -> dict[str, dict[str, str]]:
    start = worker_key(settings, "")
    keys = list(client.scan_iter(f"{start}*", count=1000))
    pipe = client.pipeline(transaction=False)
    for key in keys:
        pipe.hgetall(key)
    return {key[len(start) :]: told for key, told in zip(keys, pipe.execute(), strict=True)}


def record_exit(client: redis.Redis, settings: Settings, worker: str, how: str) -> None:
    """Record that a worker is DEAD or has LEFT: no process waits for its heartbeat to expire."""
    pipe = client.pipeline(transaction=False)
    pipe.delete(worker_key(settings, worker))
    pipe.set(f"{key_prefix(settings)}dead:{worker}", how, ex=DEAD_KEPT_SECONDS)
    pipe.execute()


def exited_workers(
    client: redis.Redis, settings: Settings, workers: Iterable[str]
) -> tuple[set[str], set[str]]:
    """Read which of these workers a supervisor has recorded as DEAD, and which as LEFT."""
    names, prefix = sorted(set(workers)), key_prefix(settings)
    keys = [f"{prefix}dead:{name}" for name in names]
    values: Any = client.mget(keys) if keys else []
    told = list(zip(names, values, strict=True))
    return {name for name, how in told if how == DEAD}, {name for name, how in told if how == LEFT}

"""Keys of workers in Redis: their heartbeats, their exits, and why they refuse work.

A worker's HeartbeatThread writes the heartbeat; drivers, the keeper, supervisors and `status` read
it. All of it is a shortcut: losing any of it delays a run and changes nothing in its results.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import redis

from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.malformed import read_object
from nightgrid.workers.settings import Settings

DEAD_KEPT_SECONDS = 24 * 3600
DEAD, LEFT = "1", "left"
"""The value of the key of an exited worker. A worker that LEFT was asked to go: its exit does not
count against the chunk that it had in hand."""
REFUSAL_KEPT_PAUSES = 6.0
"""A refusal is kept for this many pauses of the worker."""
REASON_CHARS = 500
"""Longest reason that lies in a worker's key, or travels in an announcement."""


def worker_key(settings: Settings, worker: str) -> str:
    """Name the key of a worker's heartbeat, which expires unless it is written again."""
    return f"{key_prefix(settings)}worker:{worker}"


def write_heartbeat(
    client: redis.Redis, settings: Settings, worker: str, about: dict[str, Any]
) -> None:
    """Write a worker's heartbeat: what it says about itself, kept for `liveness_ttl_seconds`."""
    ttl_ms = int(settings.liveness_ttl_seconds * 1000)
    client.set(worker_key(settings, worker), json.dumps(about), px=ttl_ms)


def record_exit(client: redis.Redis, settings: Settings, worker: str, how: str) -> None:
    """Record that a worker is DEAD or has LEFT: no process waits for its heartbeat to expire."""
    pipe = client.pipeline(transaction=False)
    pipe.delete(worker_key(settings, worker))
    pipe.set(f"{key_prefix(settings)}dead:{worker}", how, ex=DEAD_KEPT_SECONDS)
    pipe.execute()


def record_refusal(client: redis.Redis, settings: Settings, worker: str, reason: str) -> None:
    """Record for a few pauses that a worker refuses work, and why. Raises redis.RedisError."""
    key = f"{key_prefix(settings)}refuses:{worker}"
    client.set(
        key,
        reason[:REASON_CHARS],
        px=int(REFUSAL_KEPT_PAUSES * 1000 * settings.refusal_pause_seconds),
    )


def refusals(client: redis.Redis, settings: Settings) -> dict[str, str]:
    """Read which workers refuse work now: worker -> reason."""
    start = f"{key_prefix(settings)}refuses:"
    keys = list(client.scan_iter(f"{start}*", count=1000))
    values: Any = client.mget(keys) if keys else []
    told = zip(keys, values, strict=True)
    return {key[len(start) :]: value for key, value in told if value is not None}


def living_workers(client: redis.Redis, settings: Settings) -> dict[str, dict[str, Any]]:
    """Read the heartbeats of all workers: worker -> what it says about itself."""
    start = worker_key(settings, "")
    keys = list(client.scan_iter(f"{start}*", count=1000))
    values: Any = client.mget(keys) if keys else []
    told = {k[len(start) :]: read_object(v) for k, v in zip(keys, values, strict=True)}
    return {worker: about for worker, about in told.items() if about and _is_heartbeat(about)}


def _is_heartbeat(about: dict[str, Any]) -> bool:
    queues, processes = about.get("queues"), about.get("processes")
    return isinstance(processes, int) and isinstance(queues, list)


def exited_workers(
    client: redis.Redis, settings: Settings, workers: Iterable[str]
) -> tuple[set[str], set[str]]:
    """Read which of these workers a supervisor has recorded as DEAD, and which as LEFT."""
    names, prefix = sorted(set(workers)), key_prefix(settings)
    keys = [f"{prefix}dead:{name}" for name in names]
    values: Any = client.mget(keys) if keys else []
    told = list(zip(names, values, strict=True))
    return {name for name, how in told if how == DEAD}, {name for name, how in told if how == LEFT}

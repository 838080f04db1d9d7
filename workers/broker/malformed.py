"""Values in Redis that no program of ours has written: skipped, counted, and logged at times.

Any client of a server can write into our lists and keys. Nothing of it is worked, and nothing of it
ends a process; the lake is the truth, and what a lost message asked for is sent again.
"""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import redis

from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.logs import get_logger
from nightgrid.workers.settings import Settings, load_settings

log = get_logger("nightgrid.broker")

MALFORMED = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What reading a text that no program of ours wrote may raise."""
LOG_EVERY_S = 60.0
"""A process logs of each place so often at most: a flood must not fill its disk."""
COUNTED_SECONDS = 24 * 3600
"""Counts stand for this long after the last one."""
UNKNOWN = "queues"
"""What is counted where it is not known which queue it came from."""

_logged_at: dict[str, float] = {}


def read_object(text: Any) -> dict[str, Any] | None:
    """Read a JSON object; None for anything else."""
    try:
        value = json.loads(text)
    except MALFORMED:
        return None
    return value if isinstance(value, dict) else None


def count_malformed(
    place: str | None, error: object, settings: Settings | None = None, count: int = 1
) -> None:
    """Count what was dropped, and say so in the log unless that was done a moment ago."""
    where = place or UNKNOWN
    with contextlib.suppress(redis.RedisError):
        from nightgrid.workers.broker.connection import connect

        settings = settings or load_settings()
        with connect(settings) as client:
            pipe = client.pipeline(transaction=False)
            pipe.hincrby(_key(settings), where, count)
            pipe.expire(_key(settings), COUNTED_SECONDS)
            pipe.execute()
    now = time.monotonic()
    if now - _logged_at.get(where, -LOG_EVERY_S) >= LOG_EVERY_S:
        _logged_at[where] = now
        log.warning("dropped what is no message", place=where, error=f"{error!r:.200}")


def malformed_counts(client: redis.Redis, settings: Settings) -> dict[str, int]:
    """Tell how much was dropped in the last day, by place. Raises redis.RedisError."""
    try:
        counts: Any = client.hgetall(_key(settings))
        return {place: int(count) for place, count in sorted(counts.items())}
    except (redis.ResponseError, ValueError):
        return {}


def _key(settings: Settings) -> str:
    return f"{key_prefix(settings)}malformed"

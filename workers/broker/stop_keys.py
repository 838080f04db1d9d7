"""Keys in Redis that tell workers to read in the lake whether what they work is cancelled."""

from __future__ import annotations

from contextlib import suppress

import redis

from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.settings import Settings

KEPT_SECONDS = 600


def request_stop(settings: Settings, *names: str) -> None:
    """Ask workers to stop some jobs or runs, by id; a dead server is no error."""
    with suppress(redis.RedisError), connect(settings) as client:
        for name in names:
            client.set(_key(settings, name), "1", ex=KEPT_SECONDS)


def is_stop_requested(client: redis.Redis, settings: Settings, name: str) -> bool:
    """Return whether a job or run is to stop; False while the server does not answer."""
    with suppress(redis.RedisError):
        return bool(client.exists(_key(settings, name)))
    return False


def _key(settings: Settings, name: str) -> str:
    return f"{key_prefix(settings)}stop:{name}"

"""Requests to stop work: a process that works something looks in the lake whether it is wanted.

A request says nothing itself, and nothing is lost with one: a process that works looks in the lake
now and then anyway.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import redis

from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.settings import Settings

REQUEST_KEPT_SECONDS = 600


def request_stop(settings: Settings, *names: str) -> None:
    """Ask processes to stop the work on some jobs or runs, by id; a dead server is no error."""
    with suppress(redis.RedisError):
        pipe = connect(settings).pipeline(transaction=False)
        for name in names:
            # Another value every time, so that each request is told from the one before.
            pipe.set(_key(settings, name), uuid.uuid4().hex, ex=REQUEST_KEPT_SECONDS)
        pipe.execute()


def read_stop_requests(
    client: redis.Redis, settings: Settings, names: Sequence[str]
) -> list[str | None]:
    """Read the last request for each of some jobs or runs. Raises redis.RedisError."""
    values: Any = client.mget([_key(settings, name) for name in names]) if names else []
    return list(values)


def _key(settings: Settings, name: str) -> str:
    return f"{key_prefix(settings)}stop:{name}"

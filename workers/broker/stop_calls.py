"""Calls to processes that work something: look in the lake whether it is still wanted.

A call says nothing itself, and nothing is lost with one: a process that works looks in the lake now
and then anyway.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import redis

from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.redis_keys import connect
from nightgrid.workers.settings import Settings

CALL_KEPT_SECONDS = 600


def call_off(settings: Settings, *names: str) -> None:
    """Call the processes that work some jobs or runs, by id; a dead server is no error."""
    with suppress(redis.RedisError):
        pipe = connect(settings).pipeline(transaction=False)
        for name in names:
            # Another value every time, so that each call is told from the one before.
            pipe.set(_key(settings, name), uuid.uuid4().hex, ex=CALL_KEPT_SECONDS)
        pipe.execute()


def read_calls(client: redis.Redis, settings: Settings, names: Sequence[str]) -> list[str | None]:
    """Read the last call for each of some jobs or runs. Raises redis.RedisError."""
    values: Any = client.mget([_key(settings, name) for name in names]) if names else []
    return list(values)


def _key(settings: Settings, name: str) -> str:
    return f"{key_prefix(settings)}stop:{name}"

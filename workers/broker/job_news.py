"""Word to those who wait for on-demand jobs: one of them is somewhere else than before.

A message names a job and says nothing of it: who waits looks in the lake. Nothing is lost with one,
since who waits looks there now and then anyway.
"""

from __future__ import annotations

from contextlib import suppress

import redis

from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.settings import Settings


def news_channel(settings: Settings) -> str:
    """Name the channel on which jobs are named that have moved or ended."""
    return f"{key_prefix(settings)}news"


def tell_news(client: redis.Redis, settings: Settings, job_id: str) -> None:
    """Say that a job has moved or ended; a dead server is no error."""
    with suppress(redis.RedisError):
        client.publish(news_channel(settings), job_id)

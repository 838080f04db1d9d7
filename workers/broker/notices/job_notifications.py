"""Notify processes that wait for on-demand jobs that the state of one has changed.

A message names a job and says nothing of it: a process that waits looks in the lake. Nothing is
lost with one, since such a process looks there now and then anyway.
"""

from __future__ import annotations

from contextlib import suppress

import redis

from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.settings import Settings


def notification_channel(settings: Settings) -> str:
    """Name the channel on which jobs are named that have moved or ended."""
    return f"{key_prefix(settings)}news"


def notify_of_job(client: redis.Redis, settings: Settings, job_id: str) -> None:
    """Publish that a job has moved or ended; a dead server is no error."""
    with suppress(redis.RedisError):
        client.publish(notification_channel(settings), job_id)

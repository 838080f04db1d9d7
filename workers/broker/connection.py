"""Connections to the Redis server: short timeouts, and a server that fails as TransientError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.server_url import distrust
from nightgrid.workers.settings import BROKER_CONNECT_SECONDS, BROKER_SOCKET_SECONDS, Settings


def connect(settings: Settings) -> redis.Redis:
    """Connect to the server, lazily; calls fail within seconds when it is dead."""
    # redis-py retries three times with pauses on its own; the callers decide here.
    return redis.Redis.from_url(
        settings.server_url,
        socket_connect_timeout=BROKER_CONNECT_SECONDS,
        socket_timeout=BROKER_SOCKET_SECONDS,
        retry=Retry(NoBackoff(), 1),
        decode_responses=True,
        # Bytes that are no text must not fail the command that reads them.
        encoding_errors="replace",
    )


@contextmanager
def answering() -> Iterator[None]:
    """Raise TransientError when the server fails what is done in the block."""
    try:
        yield
    except redis.RedisError as error:
        why = distrust(error)
        told = f"does not answer: {error}" if why is None else f"is not used: {why}"
        raise TransientError(f"the Redis server {told}") from error

"""Connections to the Redis server, with short timeouts; its errors become TransientError."""

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
    """Connect to the server lazily; calls fail within seconds when it is dead."""
    # redis-py would retry three times with pauses; here the callers decide.
    return redis.Redis.from_url(
        settings.server_url,
        socket_connect_timeout=BROKER_CONNECT_SECONDS,
        socket_timeout=BROKER_SOCKET_SECONDS,
        retry=Retry(NoBackoff(), 1),
        decode_responses=True,
        # Undecodable bytes must not fail the command that reads them.
        encoding_errors="replace",
    )


@contextmanager
def answering() -> Iterator[None]:
    """Convert errors of the server in a `with` block into TransientError."""
    try:
        yield
    except redis.RedisError as error:
        why = distrust(error)
        told = f"does not answer: {error}" if why is None else f"is not used: {why}"
        raise TransientError(f"the Redis server {told}") from error

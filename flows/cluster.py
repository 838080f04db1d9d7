"""Find somebody to do the work: this process, workers that are there, or workers of our own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import redis

from archive.lake import Lake
from flows.settings import ExecutorKind
from workers.executors import CeleryExecutor, Executor, InlineExecutor
from workers.queues import BATCH
from workers.redis_keys import connect, living
from workers.settings import Settings
from workers.supervisor import SERVER, local_cluster


@contextmanager
def executor(kind: ExecutorKind, lake: Lake, settings: Settings, game: str) -> Iterator[Executor]:
    """Open an executor for the length of a `with` block; workers of our own load that game alone.

    Raises TransientError when workers of our own do not become ready.
    """
    if kind == "inline":
        hands: Executor = InlineExecutor(lake, settings)
        try:
            yield hands
        finally:
            hands.close()
    elif batch_is_served(settings):
        yield from _celery(settings)
    else:
        # Nobody asks workers of our own anything else: they end with the block.
        alone = settings.model_copy(update={"games": game})
        with local_cluster(alone, roles=(SERVER, BATCH)):
            yield from _celery(settings)


def batch_is_served(settings: Settings) -> bool:
    """Tell whether a living worker takes chunks from our server."""
    with connect(settings) as client:
        try:
            return any(BATCH in about["queues"] for about in living(client, settings).values())
        except redis.RedisError:
            return False


def _celery(settings: Settings) -> Iterator[Executor]:
    hands = CeleryExecutor(settings)
    try:
        yield hands
    finally:
        hands.close()

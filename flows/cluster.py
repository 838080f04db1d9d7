"""Find somebody to do the work: this process, workers that are there, or workers of our own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager

import redis

from archive.lake import Lake
from flows.settings import ExecutorKind
from workers.executors import CeleryExecutor, Executor, InlineExecutor
from workers.queues import BATCH
from workers.redis_keys import connect, living
from workers.settings import Settings
from workers.supervisor import SERVER, beginning_cluster, is_supervised

Ready = Callable[[], object]
"""Waits until somebody is there to do the work. Raises TransientError when nobody comes."""


@contextmanager
def workers_ahead(kind: ExecutorKind, settings: Settings, game: str) -> Iterator[Ready]:
    """Begin to start workers of our own where an executor would, and yield what waits for them.

    Something else can be done while they start. They load that game alone and end with the block.
    Workers of another supervisor in our folder, such as another count's, may end before we do:
    ours then take their place.
    """
    if kind == "inline" or (batch_is_served(settings) and not is_supervised(settings)):
        yield lambda: None
    else:
        # Nobody asks workers of our own anything else.
        alone = settings.model_copy(update={"games": game})
        with beginning_cluster(alone, roles=(SERVER, BATCH), standby=True) as ready:
            yield ready


@contextmanager
def executor(
    kind: ExecutorKind, lake: Lake, settings: Settings, game: str, ready: Ready | None = None
) -> Iterator[Executor]:
    """Open an executor for the length of a `with` block, when there is somebody to do the work.

    `ready` is what `workers_ahead` gave; without it, workers of our own are started now, if any
    are needed. Raises TransientError when they do not become ready.
    """
    with ExitStack() as ending:
        (ready or ending.enter_context(workers_ahead(kind, settings, game)))()
        hands = InlineExecutor(lake, settings) if kind == "inline" else CeleryExecutor(settings)
        with closing(hands):
            yield hands


def batch_is_served(settings: Settings) -> bool:
    """Tell whether a living worker takes chunks from our server."""
    with connect(settings) as client:
        try:
            return any(BATCH in about["queues"] for about in living(client, settings).values())
        except redis.RedisError:
            return False

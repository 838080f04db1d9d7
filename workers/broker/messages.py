"""Messages as they lie in Redis: sent with a note of what they are about, and looked up by it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import redis
from celery import Celery
from kombu.exceptions import OperationalError

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.settings import Settings

LOOK_AT_MOST = 10_000
"""Messages of one queue that are looked at; a bounded window never has as many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Which messages are on their way, by what they are about."""

    waiting: frozenset[str]
    """In the queue."""
    acquired: frozenset[str]
    """Taken by a worker, dead or alive, and not acknowledged."""
    complete: bool = True
    """False when the queue holds more messages than were looked at."""


def send(app: Celery, task: str, queue: str, about: str, argument: dict[str, Any]) -> None:
    """Publish one message. Raises TransientError when the broker is dead."""
    try:
        app.send_task(
            task,
            args=[argument],
            queue=queue,
            headers={"about": about, "submitted_at": time.time()},
        )
    except (OperationalError, redis.RedisError, OSError) as error:
        raise TransientError(f"the Redis server does not answer: {error}") from error


def traffic(client: redis.Redis, settings: Settings, queue: str) -> Traffic:
    """Look at a queue and at all acquired messages. Raises redis.RedisError."""
    pipe = client.pipeline(transaction=False)
    pipe.llen(f"{settings.key_prefix}{queue}")
    pipe.lrange(f"{settings.key_prefix}{queue}", -LOOK_AT_MOST, -1)
    pipe.hvals(f"{settings.key_prefix}unacked")
    length, waiting, acquired = pipe.execute()
    return Traffic(
        complete=length <= LOOK_AT_MOST,
        waiting=_about(json.loads(text) for text in waiting),
        # An acquired message is kept as [message, exchange, routing key].
        acquired=_about(json.loads(text)[0] for text in acquired),
    )


def _about(messages: Iterable[dict[str, Any]]) -> frozenset[str]:
    return frozenset(str(message["headers"].get("about")) for message in messages)


@dataclass(slots=True, kw_only=True)
class Watch:
    """Notices messages that can no longer arrive.

    Celery over Redis loses one now and then, and what a worker had taken before it died stays
    acquired until the visibility timeout. A message that is nowhere at two looks is gone; one
    that is acquired, and on which nobody begins for a while, is in dead hands.
    """

    patience_s: float
    _nowhere: set[str] = field(default_factory=set)
    _acquired_since: dict[str, float] = field(default_factory=dict)

    def gone(self, expected: Iterable[str], seen: Traffic) -> set[str]:
        """Tell which of the messages on which nobody has begun are gone, one look after another."""
        now = time.monotonic()
        names = set(expected)
        # Of a queue that is not seen to its end nothing is known to be missing: what waits unseen
        # must not be sent over and over.
        nowhere = names - seen.waiting - seen.acquired if seen.complete else set()
        held = (names & seen.acquired) - seen.waiting
        gone = nowhere & self._nowhere
        self._nowhere = nowhere - gone
        self._acquired_since = {name: self._acquired_since.get(name, now) for name in held}
        stuck = {n for n, since in self._acquired_since.items() if now - since > self.patience_s}
        for name in stuck:
            del self._acquired_since[name]
        return gone | stuck

"""The queues: their names, messages in them, how busy they are and how many workers they want.

On-demand solves never wait behind a batch: they have a queue of their own. A driver keeps only a
window of its chunks in the queue, so the queue's length alone says too little; drivers also
publish how many chunks are left. All of it is a shortcut: wrong or lost, it delays a run and
changes nothing in its results.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import redis
from celery import Celery
from kombu.exceptions import OperationalError

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.broker.redis_keys import (
    BATCH,
    DEMAND,
    INTERACTIVE,
    UNACKED,
    key_prefix,
    read_keys,
)
from nightgrid.workers.broker.worker_keys import living_workers
from nightgrid.workers.logs import carried
from nightgrid.workers.settings import Settings
from nightgrid.workers.tracing import span, trace_header

NAMES: tuple[str, ...] = (INTERACTIVE, BATCH)
ABOUT_HEADER = "about"
"""Header of a message that names what it is about."""
LOG_HEADER = "log"
"""Header of a message with the ids that its worker logs (nightgrid.workers.logs)."""
MESSAGES_READ_MAX = 10_000
"""Messages of one queue that are looked at; a bounded window never has as many."""

DEMAND_KEPT_SECONDS = 30
"""A driver that has said nothing for this long wants nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Which messages are on their way, by what they are about."""

    waiting: frozenset[str]
    """In a queue."""
    acquired: frozenset[str]
    """Taken by a worker, dead or alive, and not acknowledged."""
    complete: bool = True
    """False when a queue may hold more messages than were read."""


def send(app: Celery, task: str, queue: str, about: str, *arguments: Any) -> None:
    """Publish one message with the arguments of a task. Raises TransientError for a dead broker."""
    headers = {ABOUT_HEADER: about, "submitted_at": time.time(), LOG_HEADER: carried()}
    try:
        with span("publish", queue=queue, task=task, about=about):
            app.send_task(
                task,
                args=arguments,
                queue=queue,
                # Celery's instrumentation reads the trace in the worker.
                headers=headers | trace_header(),
                # A queue is a list that needs no declaration. kombu 5.7 goes on with a closed
                # channel, and an AttributeError, where the connection fails while it declares one.
                declare=[],
            )
    except (OperationalError, redis.RedisError, OSError) as error:
        raise TransientError(f"the Redis server does not answer: {error}") from error


def traffic(client: redis.Redis, settings: Settings) -> Traffic:
    """Read the messages of all queues, and the acquired ones. Raises redis.RedisError."""
    prefix, pipe = key_prefix(settings), client.pipeline(transaction=False)
    for name in NAMES:
        pipe.lrange(f"{prefix}{name}", -MESSAGES_READ_MAX, -1)
    # In this order, a message that is taken meanwhile is seen.
    pipe.hvals(f"{prefix}{UNACKED}")
    *queues, acquired = pipe.execute()
    return Traffic(
        complete=all(len(waiting) < MESSAGES_READ_MAX for waiting in queues),
        waiting=frozenset(_about(json.loads(text)) for waiting in queues for text in waiting),
        acquired=frozenset(_about(message) for message, _ in map(_acquired, acquired)),
    )


def waiting_count(client: redis.Redis, settings: Settings, queue: str) -> int:
    """Count the messages of a queue that no worker has taken. Raises redis.RedisError."""
    length: Any = client.llen(f"{key_prefix(settings)}{queue}")
    return int(length)


def _about(message: dict[str, Any]) -> str:
    return str(message["headers"].get(ABOUT_HEADER))


def _acquired(text: str) -> tuple[dict[str, Any], str]:
    """Read an acquired message and its queue: it is kept as [message, exchange, routing key]."""
    message, _, key = json.loads(text)
    return message, key


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatus:
    """One queue."""

    queued: int
    """Messages that no worker has taken yet."""
    acquired: int
    """Messages that workers have taken, dead ones too, until the visibility timeout."""
    oldest_s: float
    """Age of the oldest message that waits; 0 when none does. The number that matters."""


def overview(client: redis.Redis, settings: Settings) -> dict[str, QueueStatus]:
    """Count the messages of every queue. Raises redis.RedisError."""
    prefix, pipe = key_prefix(settings), client.pipeline(transaction=False)
    pipe.hvals(f"{prefix}{UNACKED}")
    for name in NAMES:
        pipe.llen(f"{prefix}{name}")
        # Messages come in at the head of the list and go out at its end.
        pipe.lindex(f"{prefix}{name}", -1)
    unacked, *answers = pipe.execute()
    acquired = Counter(key for _, key in map(_acquired, unacked))
    counted = zip(NAMES, answers[::2], answers[1::2], strict=True)
    return {
        name: QueueStatus(queued=queued, acquired=acquired[name], oldest_s=round(_age_s(oldest), 3))
        for name, queued, oldest in counted
    }


def _age_s(text: str | None) -> float:
    if text is None:
        return 0.0
    return max(0.0, time.time() - json.loads(text)["headers"].get("submitted_at", time.time()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand(QueueStatus):
    """What the batch workers have before them."""

    chunks_waiting: int
    """Chunks of all runs that are driven now, in the queue or not, that are not done. No more
    processes could work at once."""
    processes: int
    """Children of the batch workers that live."""


def publish_demand(
    client: redis.Redis, settings: Settings, run_id: str, chunks_waiting: int
) -> None:
    """Publish how many chunks of a run are not done."""
    with contextlib.suppress(redis.RedisError):
        client.set(
            f"{key_prefix(settings)}{DEMAND}{run_id}", chunks_waiting, ex=DEMAND_KEPT_SECONDS
        )


def demand(client: redis.Redis, settings: Settings) -> Demand:
    """Count the work that is left and the processes there are for it. Raises redis.RedisError."""
    alive = living_workers(client, settings).values()
    return Demand(
        **asdict(overview(client, settings)[BATCH]),
        chunks_waiting=sum(map(int, read_keys(client, settings, DEMAND).values())),
        processes=sum(about["processes"] for about in alive if BATCH in about["queues"]),
    )

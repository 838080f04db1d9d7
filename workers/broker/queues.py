"""The queues: their names, messages and load, and how many workers they need.

On-demand solves have their own queue, so that they never wait behind a batch. A driver keeps only a
window of its chunks in the queue, so the length of the queue says too little; drivers also publish
how many chunks are left. None of it is authoritative: wrong or lost, it delays a run and changes
nothing in its results.
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
"""Header of a message that names its chunk or job."""
LOG_HEADER = "log"
"""Header of a message with ids for the worker's log (nightgrid.workers.logs)."""
MESSAGES_READ_MAX = 10_000
"""Most messages of one queue that are read; the bounded window never reaches it."""

DEMAND_KEPT_SECONDS = 30
"""Time after which the demand that a driver published expires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Messages in flight, by what they are about."""

    waiting: frozenset[str]
    """In a queue."""
    acquired: frozenset[str]
    """Taken by a worker, dead or alive, and not acknowledged."""
    complete: bool = True
    """False if a queue may hold more messages than were read."""


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
                # A queue is a list and needs no declaration. kombu 5.7 continues with a closed
                # channel, and an AttributeError, if the connection fails while it declares one.
                declare=[],
            )
    except (OperationalError, redis.RedisError, OSError) as error:
        raise TransientError(f"the Redis server does not answer: {error}") from error


def traffic(client: redis.Redis, settings: Settings) -> Traffic:
    """Read the messages of all queues and the acquired ones. Raises redis.RedisError."""
    prefix, pipe = key_prefix(settings), client.pipeline(transaction=False)
    for name in NAMES:
        pipe.lrange(f"{prefix}{name}", -MESSAGES_READ_MAX, -1)
    # In this order, a message that is acquired meanwhile is seen.
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
    """Parse an acquired message, [message, exchange, routing key]; return it and its queue."""
    message, _, key = json.loads(text)
    return message, key


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatus:
    """Load of one queue."""

    queued: int
    """Messages that no worker has taken yet."""
    acquired: int
    """Messages that workers have taken, including dead workers until the visibility timeout."""
    oldest_s: float
    """Age of the oldest waiting message; 0 if none waits. The number that matters."""


def overview(client: redis.Redis, settings: Settings) -> dict[str, QueueStatus]:
    """Count the messages of every queue. Raises redis.RedisError."""
    prefix, pipe = key_prefix(settings), client.pipeline(transaction=False)
    pipe.hvals(f"{prefix}{UNACKED}")
    for name in NAMES:
        pipe.llen(f"{prefix}{name}")
        # Messages enter at the head of the list and leave at its tail.
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
    """Load of the batch workers."""

    chunks_waiting: int
    """Unfinished chunks of all driven runs, queued or not. No more processes could work at once."""
    processes: int
    """Children of the living batch workers."""


def publish_demand(
    client: redis.Redis, settings: Settings, run_id: str, chunks_waiting: int
) -> None:
    """Publish how many chunks of a run are unfinished."""
    with contextlib.suppress(redis.RedisError):
        client.set(
            f"{key_prefix(settings)}{DEMAND}{run_id}", chunks_waiting, ex=DEMAND_KEPT_SECONDS
        )


def demand(client: redis.Redis, settings: Settings) -> Demand:
    """Count the unfinished work and the processes available for it. Raises redis.RedisError."""
    alive = living_workers(client, settings).values()
    return Demand(
        **asdict(overview(client, settings)[BATCH]),
        chunks_waiting=sum(map(int, read_keys(client, settings, DEMAND).values())),
        processes=sum(about["processes"] for about in alive if BATCH in about["queues"]),
    )

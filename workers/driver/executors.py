"""Where chunks are worked: in this process, or by Celery workers."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import Protocol

from structlog.contextvars import bound_contextvars

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import RefusalError, TransientError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.app import SOLVE_CHUNK, client_app
from nightgrid.workers.broker.connection import answering, connect
from nightgrid.workers.broker.notices.announcements import Announcement, next_announcements
from nightgrid.workers.broker.queues import (
    BATCH,
    MESSAGES_READ_MAX,
    Watch,
    publish_demand,
    send,
    traffic,
)
from nightgrid.workers.broker.worker_keys import exited_workers, living_workers
from nightgrid.workers.chunks.result_rows import exception_reason
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.driver.chunk_records import Flight
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.settings import Settings

PATIENCE_INTERVALS = 3
"""Heartbeat intervals of silence after which a worker, or one that took a message, is dead."""
CHUNKS_PER_PROCESS = 4
"""Chunks in flight for each process that lives: one at work, and enough behind it that no
worker waits for the driver."""
INLINE_WORKER = "inline"
"""Worker id of chunks that the driver's own process works."""


class MessageStatus(StrEnum):
    """What is known of a chunk in flight whose end no worker has told."""

    WAITING = "waiting"
    """Its message lies in the queue, and no worker has taken it."""
    LOST_MESSAGE = "lost message"
    """Its message is gone, and no worker has begun."""
    DEAD_WORKER = "dead worker"
    """The worker that began is dead."""


class Executor(Protocol):
    """Takes chunks and tells what became of them. Only a shortcut: the lake is the truth."""

    @property
    def window(self) -> int:
        """Chunks worth having in flight; changes as workers join and leave."""

    @property
    def processes(self) -> int:
        """Processes that work chunks, as far as is known."""

    @property
    def workers(self) -> frozenset[str]:
        """Workers that live and serve the queue; empty while that is not known."""

    def submit(self, ref: ChunkRef) -> None:
        """Send a chunk to be worked. Raises TransientError when that is impossible now."""

    def poll(self, run_id: str, timeout_s: float) -> list[Announcement]:
        """Wait for announcements. Raises TransientError when that is impossible now."""

    def status(self, flights: Sequence[Flight]) -> dict[ChunkRef, MessageStatus]:
        """Tell which flights wait for their turn, and which are lost, as far as this is known."""

    def publish_demand(self, run_id: str, chunks_waiting: int) -> None:
        """Publish how many chunks wait, by which workers are scaled, and figures. Never fails."""

    def close(self) -> None:
        """Let go of connections."""


class InlineExecutor:
    """Works chunks in this process, one for each poll."""

    window: int = 1
    processes: int = 1
    workers = frozenset({INLINE_WORKER})

    def __init__(self, lake: Lake, settings: Settings) -> None:
        self._lake = lake
        self._settings = settings
        self._waiting: deque[ChunkRef] = deque()

    def submit(self, ref: ChunkRef) -> None:
        """Queue a chunk."""
        self._waiting.append(ref)

    def poll(self, run_id: str, timeout_s: float) -> list[Announcement]:  # noqa: ARG002
        """Work the next chunk, however long it takes, and tell what became of it.

        Raises RefusalError where this process cannot: there is no other.
        """
        if not self._waiting:
            time.sleep(timeout_s)
            return []
        ref = self._waiting.popleft()
        try:
            with bound_contextvars():
                solve_chunk(self._lake, ref, self._settings, INLINE_WORKER)
        except RefusalError:
            raise
        except TransientError as error:
            reason = Reason(code=ReasonCode.TRANSIENT, sentence=str(error))
            return [Announcement(event="transient", ref=ref, reason=reason)]
        except Exception as error:  # noqa: BLE001 - recorded: it must not take the run along
            reason = exception_reason(error)
            return [Announcement(event="failed", ref=ref, reason=reason)]
        return [Announcement(event="done", ref=ref)]

    def status(self, flights: Sequence[Flight]) -> dict[ChunkRef, MessageStatus]:
        """Call the worker dead of what an earlier process began: it was worked in that process."""
        mine = set(self._waiting)
        begun = (f.ref for f in flights if f.start is not None)
        return {ref: MessageStatus.DEAD_WORKER for ref in begun if ref not in mine}

    def publish_demand(self, run_id: str, chunks_waiting: int) -> None:
        """Publish nothing: there is one worker, and it is this process."""

    def close(self) -> None:
        """Drop what is still queued."""
        self._waiting.clear()


class CeleryExecutor:
    """Sends chunks by reference to a queue that batch workers serve."""

    def __init__(
        self, settings: Settings, queue: str = BATCH, runs: Callable[[], int] = lambda: 1
    ) -> None:
        """Send to a queue; `runs` tells how many runs of this process send to it in turn."""
        self._settings = settings
        self._runs = runs
        self._queue = queue
        self._app = client_app(settings)
        self._client = connect(settings)
        self._watch = Watch(patience_s=PATIENCE_INTERVALS * settings.liveness_interval_seconds)
        self._absent_since: dict[str, float] = {}
        self._processes = 0
        self._workers: frozenset[str] = frozenset()

    @property
    def window(self) -> int:
        """Chunks worth having in flight: as set, or some for each batch process that lives.

        Runs that share a queue have an equal share of these: what comes first to a queue goes
        first out of it, so that each gets as many chunks worked as any other.
        """
        most = self._settings.window_chunks
        if most is None:
            wanted = CHUNKS_PER_PROCESS * self._processes
            most = min(max(self._settings.window, wanted), MESSAGES_READ_MAX)
        return max(1, -(-most // max(1, self._runs())))

    @property
    def processes(self) -> int:
        """Processes that served the queue a moment ago; before they are known, this machine's."""
        return self._processes or self._settings.batch_processes

    @property
    def workers(self) -> frozenset[str]:
        """Workers that served the queue a moment ago; empty before they are known."""
        return self._workers

    def submit(self, ref: ChunkRef) -> None:
        """Publish one message. Raises TransientError when the broker is dead."""
        send(self._app, SOLVE_CHUNK, self._queue, _about(ref), asdict(ref))

    def poll(self, run_id: str, timeout_s: float) -> list[Announcement]:
        """Wait for announcements. Raises TransientError when the broker is dead."""
        return next_announcements(self._client, self._settings, run_id, timeout_s)

    def status(self, flights: Sequence[Flight]) -> dict[ChunkRef, MessageStatus]:
        """Read which chunks wait in the queue, and which lost their message or their worker.

        Raises TransientError when the broker is dead.
        """
        status: dict[ChunkRef, MessageStatus] = {}
        with answering():
            workers = {f.start.worker for f in flights if f.start is not None}
            dead, left = exited_workers(self._client, self._settings, workers)
            dead |= self._silent(workers - left)
            seen = traffic(self._client, self._settings, self._queue)
        # A worker that was told to leave has handed its work back: it waits like any other.
        waiting = [f for f in flights if f.start is None or f.start.worker in left]
        gone = self._watch.gone([_about(f.ref) for f in waiting], seen)
        for flight in waiting:
            if _about(flight.ref) in gone:
                status[flight.ref] = MessageStatus.LOST_MESSAGE
            elif _about(flight.ref) in seen.waiting:
                status[flight.ref] = MessageStatus.WAITING
        for flight in flights:
            if flight.start is not None and flight.start.worker in dead:
                status[flight.ref] = MessageStatus.DEAD_WORKER
        return status

    def _silent(self, workers: set[str]) -> set[str]:
        """Name the workers that have been silent for too long.

        A wiped server forgets who lives, so silence is counted from when we first noticed it.
        """
        alive = living_workers(self._client, self._settings)
        serving = {w: about for w, about in alive.items() if self._queue in about["queues"]}
        self._workers = frozenset(serving)
        self._processes = sum(about["processes"] for about in serving.values())
        now = time.monotonic()
        absent = {w for w in workers if w not in alive}
        self._absent_since = {w: self._absent_since.get(w, now) for w in absent}
        patience = PATIENCE_INTERVALS * self._settings.liveness_interval_seconds
        return {w for w, since in self._absent_since.items() if now - since > patience}

    def publish_demand(self, run_id: str, chunks_waiting: int) -> None:
        """Publish it in Redis, for a while."""
        publish_demand(self._client, self._settings, run_id, chunks_waiting)

    def close(self) -> None:
        """Close the connections."""
        self._app.close()
        self._client.close()


def _about(ref: ChunkRef) -> str:
    return f"{ref.run_id}/{ref.name}/{ref.attempt}"

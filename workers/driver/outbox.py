"""The outbox of a process: sends chunks to workers, and tracks where their messages are.

One outbox serves all drivers of a process. Its knowledge only shortens waits: the lake decides.
"""

from __future__ import annotations

import math
import socket
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from typing import Any, TypeAlias

from structlog.contextvars import bound_contextvars

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.app import WORK_CHUNK, client_app
from nightgrid.workers.broker.connection import answering, connect
from nightgrid.workers.broker.notices import Announcement, Event, next_announcements
from nightgrid.workers.broker.queues import (
    MESSAGES_READ_MAX,
    Traffic,
    publish_demand,
    send,
    traffic,
    waiting_count,
)
from nightgrid.workers.broker.worker_keys import DEAD, LEFT, exit_of, living_workers, refusals
from nightgrid.workers.chunks.result_rows import exception_reason
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.settings import Settings

GONE_INTERVALS = 3
"""Heartbeat intervals of silence after which a worker is gone."""
CHUNKS_PER_PROCESS = 4
"""Chunks in flight for each living process: one being solved, and enough behind it that no worker
waits for the driver."""


class Place(StrEnum):
    """Where the message of a chunk is."""

    QUEUED = "queued"
    """Waiting in a queue."""
    TAKEN = "taken"
    """Taken by a worker and not acknowledged."""
    NOWHERE = "nowhere"
    UNKNOWN = "unknown"
    """Sent after the last check, or the check did not reach the end of the queue."""


class Worker(StrEnum):
    """State of a worker that started a chunk."""

    LIVES = "lives"
    """Its last heartbeat is recent."""
    GONE = "gone"
    """It died, or has sent no heartbeat for too long."""
    LEFT = "left"
    """It was asked to exit, and has handed back its chunks."""


_INLINE_HERE = f"inline-{socket.gethostname()}-"


class InlineOutbox:
    """Solves chunks in this process: one whenever a driver waits."""

    def __init__(self, lake: Lake, settings: Settings) -> None:
        self._lake = lake
        self._settings = settings
        self._waiting: deque[ChunkRef] = deque()
        self._name = f"{_INLINE_HERE}{uuid.uuid4().hex[:8]}"

    def window(self, queue: str) -> int:  # noqa: ARG002
        """One: the driver continues once it is solved."""
        return 1

    def processes(self, queue: str) -> int:  # noqa: ARG002
        """One: this process."""
        return 1

    def idle_processes(self, queue: str) -> int:  # noqa: ARG002
        """One: this process."""
        return 1

    def refusal(self, queue: str) -> str:  # noqa: ARG002
        """Empty: `wait` raises if this process cannot work."""
        return ""

    def send(self, ref: ChunkRef, queue: str) -> None:  # noqa: ARG002
        """Queue a chunk."""
        self._waiting.append(ref)

    def wait(self, timeout_s: float) -> list[Announcement]:
        """Solve the next chunk, however long it takes.

        Raises TransientError if this process cannot now; the chunk stays queued.
        """
        if not self._waiting:
            time.sleep(timeout_s)
            return []
        ref = self._waiting[0]
        event: Event = "done"
        reason = Reason(code=ReasonCode.EXCEPTION)
        try:
            with bound_contextvars():
                ended = solve_chunk(self._lake, ref, self._settings, self._name)
            event = "returned" if ended == "returned" else "done"
        except TransientError:
            raise
        except Exception as error:  # noqa: BLE001 - recorded: it must not end the run
            event, reason = "failed", exception_reason(error)
        self._waiting.popleft()
        return [Announcement(event=event, ref=ref, reason=reason)]

    def look(self) -> float:
        """Return the time: this process always knows its own queue."""
        return time.monotonic()

    def place(self, ref: ChunkRef, sent_at: float) -> Place:  # noqa: ARG002
        """Queued or nowhere: no driver asks while a chunk is being solved."""
        return Place.QUEUED if ref in self._waiting else Place.NOWHERE

    def worker(self, name: str) -> Worker:
        """Gone if it was another inline process of this host: only one at a time drives a run."""
        is_other = name.startswith(_INLINE_HERE) and name != self._name
        return Worker.GONE if is_other else Worker.LIVES

    def publish_demand(self, run_id: str, chunks_waiting: int) -> None:
        """Do nothing: the only worker is this process."""

    def close(self) -> None:
        """Drop what is still queued."""
        self._waiting.clear()


class CeleryOutbox:
    """Sends references to chunks to the queues of workers."""

    def __init__(
        self, settings: Settings, runs: Callable[[], int] = lambda: 1, name: str = ""
    ) -> None:
        """Connect lazily; `runs` returns how many runs of this process share the window.

        `name` names its list of announcements; empty: a random name.
        """
        self._settings = settings
        self._runs = runs
        self._driver = name or uuid.uuid4().hex
        self._app = client_app(settings)
        self._client = connect(settings)
        self._looked_at = self._failed_at = -math.inf
        self._failure = ""
        self._traffic = Traffic(waiting=frozenset(), acquired=frozenset())
        self._alive: dict[str, dict[str, Any]] = {}
        self._refusals: dict[str, str] = {}
        self._absent_since: dict[str, float] = {}

    def window(self, queue: str) -> int:
        """Chunks that one run may have in flight: as set, or some for each living process.

        Runs that share a queue get equal shares: queues are first in, first out, so each run makes
        the same progress.
        """
        most = self._settings.tuning.window_chunks
        if most is None:
            wanted = CHUNKS_PER_PROCESS * self.processes(queue)
            most = min(max(self._settings.window, wanted), MESSAGES_READ_MAX)
        return max(1, -(-most // max(1, self._runs())))

    def processes(self, queue: str) -> int:
        """Processes that served the queue at the last check; before that, those of this machine."""
        serving = sum(about["processes"] for about in self._serving(queue).values())
        return serving or self._settings.batch_processes

    def idle_processes(self, queue: str) -> int:
        """Processes that a new run can expect: its share, or one if messages already wait.

        Raises TransientError when the broker is dead.
        """
        self.look()
        with answering():
            waiting = waiting_count(self._client, self._settings, queue)
        return 1 if waiting else max(1, self.processes(queue) // (self._runs() + 1))

    def refusal(self, queue: str) -> str:
        """Why the workers that serve the queue refuse; empty unless all do."""
        serving = self._serving(queue).keys()
        if not serving or not serving <= self._refusals.keys():
            return ""
        return "; ".join(sorted({self._refusals[worker] for worker in serving}))

    def _serving(self, queue: str) -> dict[str, dict[str, Any]]:
        return {name: about for name, about in self._alive.items() if queue in about["queues"]}

    def send(self, ref: ChunkRef, queue: str) -> None:
        """Publish one message. Raises TransientError when the broker is dead."""
        send(self._app, WORK_CHUNK, queue, _about(ref), asdict(ref), self._driver)

    def wait(self, timeout_s: float) -> list[Announcement]:
        """Wait for announcements. Raises TransientError when the broker is dead."""
        return next_announcements(self._client, self._settings, self._driver, timeout_s)

    def look(self) -> float:
        """Read heartbeats, refusals and messages, once in `reconcile_seconds` for all drivers.

        Returns when that was last done, in monotonic seconds. Raises TransientError when the broker
        is dead, then again without trying until `reconcile_seconds` have passed: each try may take
        seconds.
        """
        now, pause_s = time.monotonic(), self._settings.tuning.reconcile_seconds
        if now < self._failed_at + pause_s:
            raise TransientError(self._failure)
        if now < self._looked_at + pause_s:
            return self._looked_at
        try:
            with answering():
                self._alive = living_workers(self._client, self._settings)
                self._refusals = refusals(self._client, self._settings)
                self._traffic = traffic(self._client, self._settings)
        except TransientError as error:
            self._failed_at, self._failure = time.monotonic(), str(error)
            raise
        self._absent_since = {w: at for w, at in self._absent_since.items() if w not in self._alive}
        self._looked_at = now
        return now

    def place(self, ref: ChunkRef, sent_at: float) -> Place:
        """Where the message of a chunk was at the last check."""
        about, seen = _about(ref), self._traffic
        if about in seen.waiting:
            return Place.QUEUED
        if about in seen.acquired:
            return Place.TAKEN
        is_seen = self._looked_at > sent_at and seen.complete
        return Place.NOWHERE if is_seen else Place.UNKNOWN

    def worker(self, name: str) -> Worker:
        """The state of a worker.

        Silence is counted from when this process first noticed it: a wiped server has forgotten all
        heartbeats. Raises TransientError when the broker is dead.
        """
        if name in self._alive:
            return Worker.LIVES
        with answering():
            how = exit_of(self._client, self._settings, name)
        if how == LEFT:
            return Worker.LEFT
        now = time.monotonic()
        silent_s = now - self._absent_since.setdefault(name, now)
        limit_s = GONE_INTERVALS * self._settings.tuning.liveness_interval_seconds
        return Worker.GONE if how == DEAD or silent_s > limit_s else Worker.LIVES

    def publish_demand(self, run_id: str, chunks_waiting: int) -> None:
        """Publish in Redis how many chunks of a run wait; the key expires."""
        publish_demand(self._client, self._settings, run_id, chunks_waiting)

    def close(self) -> None:
        """Close the connections."""
        self._app.close()
        self._client.close()


Outbox: TypeAlias = InlineOutbox | CeleryOutbox


def _about(ref: ChunkRef) -> str:
    return f"{ref.run_id}/{ref.name}/{ref.attempt}"

"""Where chunks are worked: in this process, or by Celery workers."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal, Protocol

import redis

from archive.lake import Lake
from archive.runfiles import ChunkRef, Start
from solvers.errors import TransientError
from workers.app import SOLVE_CHUNK, client_app
from workers.chunks import solve_chunk
from workers.messages import Watch, send, traffic
from workers.queues import BATCH
from workers.redis_keys import Announcement, connect, known_dead, living, next_announcements
from workers.settings import Settings

PATIENCE_INTERVALS = 3
"""Liveness intervals of silence after which a worker, or whoever took a message, is dead."""
INLINE_WORKER = "inline"
"""Worker id of chunks that the driver's own process works."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """A chunk that was submitted and of which nothing was heard."""

    ref: ChunkRef
    submitted_at: float
    """Monotonic seconds."""
    start: Start | None
    """The worker's note in the lake, once it has begun."""


Fate = Literal["adrift", "orphaned"]
"""`adrift`: the message is gone and nobody began. `orphaned`: the worker that began is dead."""


class Executor(Protocol):
    """Takes chunks and tells what became of them. Only a shortcut: the lake is the truth."""

    window: int
    """Chunks worth having in flight."""

    def submit(self, ref: ChunkRef) -> None:
        """Send a chunk to be worked. Raises TransientError when that is impossible now."""

    def poll(self, run_id: str, timeout_s: float) -> list[Announcement]:
        """Wait for announcements. Raises TransientError when that is impossible now."""

    def fates(self, flights: Sequence[Flight]) -> dict[ChunkRef, Fate]:
        """Tell which flights can no longer be on their way, as far as this is known."""

    def close(self) -> None:
        """Let go of connections."""


class InlineExecutor:
    """Works chunks in this process, one for each poll."""

    window = 1

    def __init__(self, lake: Lake, settings: Settings) -> None:
        self._lake = lake
        self._settings = settings
        self._waiting: deque[ChunkRef] = deque()

    def submit(self, ref: ChunkRef) -> None:
        """Queue a chunk."""
        self._waiting.append(ref)

    def poll(self, run_id: str, timeout_s: float) -> list[Announcement]:  # noqa: ARG002
        """Work the next chunk, however long it takes, and tell what became of it."""
        if not self._waiting:
            time.sleep(timeout_s)
            return []
        ref = self._waiting.popleft()
        try:
            solve_chunk(self._lake, ref, self._settings, INLINE_WORKER)
        except TransientError as error:
            return [Announcement(event="transient", ref=ref, reason=str(error))]
        except Exception as error:  # noqa: BLE001 - recorded: it must not take the run along
            reason = f"{type(error).__name__}: {error}"
            return [Announcement(event="failed", ref=ref, reason=reason)]
        return [Announcement(event="done", ref=ref)]

    def fates(self, flights: Sequence[Flight]) -> dict[ChunkRef, Fate]:
        """Call whatever an earlier process began orphaned: it was worked in that process."""
        mine = set(self._waiting)
        return {f.ref: "orphaned" for f in flights if f.start is not None and f.ref not in mine}

    def close(self) -> None:
        """Drop what is still queued."""
        self._waiting.clear()


class CeleryExecutor:
    """Sends chunks by reference to the queue `batch`."""

    def __init__(self, settings: Settings) -> None:
        self.window = settings.window
        self._settings = settings
        self._app = client_app(settings)
        self._client = connect(settings)
        self._watch = Watch(patience_s=PATIENCE_INTERVALS * settings.liveness_interval_seconds)
        self._absent_since: dict[str, float] = {}

    def submit(self, ref: ChunkRef) -> None:
        """Publish one message. Raises TransientError when the broker is dead."""
        send(self._app, SOLVE_CHUNK, BATCH, _about(ref), asdict(ref))

    def poll(self, run_id: str, timeout_s: float) -> list[Announcement]:
        """Wait for announcements. Raises TransientError when the broker is dead."""
        return next_announcements(self._client, self._settings, run_id, timeout_s)

    def fates(self, flights: Sequence[Flight]) -> dict[ChunkRef, Fate]:
        """Look for chunks whose message or whose worker is gone.

        Raises TransientError when the broker is dead.
        """
        fates: dict[ChunkRef, Fate] = {}
        try:
            dead = self._dead({f.start.worker for f in flights if f.start is not None})
            seen = traffic(self._client, self._settings, BATCH)
        except redis.RedisError as error:
            raise TransientError(f"the Redis server does not answer: {error}") from error
        gone = self._watch.gone([_about(f.ref) for f in flights if f.start is None], seen)
        for flight in flights:
            if flight.start is not None and flight.start.worker in dead:
                fates[flight.ref] = "orphaned"
            elif flight.start is None and _about(flight.ref) in gone:
                fates[flight.ref] = "adrift"
        return fates

    def _dead(self, workers: set[str]) -> set[str]:
        """Name the workers that were seen to exit, or have been silent for too long.

        A wiped server forgets who lives, so silence is counted from when we first noticed it.
        """
        dead = known_dead(self._client, self._settings, workers)
        alive = living(self._client, self._settings)
        now = time.monotonic()
        absent = {w for w in workers if w not in alive}
        self._absent_since = {w: self._absent_since.get(w, now) for w in absent}
        patience = PATIENCE_INTERVALS * self._settings.liveness_interval_seconds
        return dead | {w for w, since in self._absent_since.items() if now - since > patience}

    def close(self) -> None:
        """Close the connections."""
        self._app.close()
        self._client.close()


def _about(ref: ChunkRef) -> str:
    return f"{ref.run_id}/{ref.name}/{ref.attempt}"

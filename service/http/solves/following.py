"""Follow jobs: one look for all clients of a job, and one subscription for all jobs.

Workers and the keeper say through Redis which job has moved; the lake says where it is. Without
that word a job is looked at every `LOOK_S` all the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import redis
import redis.asyncio

from nightgrid.service.http.solves.solve_json import is_over
from nightgrid.solvers.errors import NightgridError
from nightgrid.workers.broker.notices import notification_channel
from nightgrid.workers.logs import get_logger
from nightgrid.workers.settings import BROKER_CONNECT_SECONDS, Settings

log = get_logger("nightgrid.http")

LOOK_S = 1.0
"""Pause between two looks at a job of which nothing is heard."""
KEPT_S = 30.0
"""A job that no client follows any more is kept for this long, for one that comes back."""
EVENTS_KEPT = 256
"""Events of a job that a client that comes back can be told."""
AGAIN_S = 1.0
"""Pause before the next try to hear from a server that does not answer."""

Look = Callable[[str], Awaitable[dict[str, Any] | None]]


class Event(NamedTuple):
    """What happened to a job."""

    id: int
    """Increases from event to event, whichever service sends it: about the Unix time, ms."""
    name: str
    data: str


class Followed:
    """One job that clients follow."""

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        self.solve: dict[str, Any] | None = None
        """As it was seen last."""
        self.is_unknown = False
        """Whether there is no such job."""
        self.events: deque[Event] = deque(maxlen=EVENTS_KEPT)
        self.clients = 0
        self.left_at = time.monotonic()
        self.moved = asyncio.Event()
        """Set to have it looked at now."""
        self._changed = asyncio.Event()

    @property
    def is_over(self) -> bool:
        """Return whether nothing more will happen."""
        return self.is_unknown or (self.solve is not None and is_over(self.solve))

    def see(self, solve: dict[str, Any]) -> None:
        """Take note of where the job is, and make events of what is new."""
        before, self.solve = self.solve, solve
        if before is None or any(before.get(key) != solve.get(key) for key in ("state", "place")):
            self._add("state", solve)
        progress = solve.get("progress")
        if progress and (before is None or before["progress"] != progress):
            self._add("progress", progress)
        if is_over(solve):
            self._add("end", solve)
        self.tell()

    def begin_again(self) -> None:
        """Forget that it was over: it has been submitted once more."""
        if self.is_over:
            self.solve, self.is_unknown = None, False

    def tell(self) -> None:
        """Wake the clients that wait."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def change(self, timeout_s: float) -> None:
        """Wait until something is new, at most so long."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), timeout_s)

    def after(self, last_id: int | None) -> list[Event]:
        """List the events behind one that a client has seen.

        Where that one is not known any more, the first is where the job is now.
        """
        if last_id is not None and any(event.id == last_id for event in self.events):
            return [event for event in self.events if event.id > last_id]
        now = [event for event in self.events if event.name in ("state", "end")]
        return now[-1:]

    def _add(self, name: str, value: Any) -> None:
        last = self.events[-1].id if self.events else 0
        data = json.dumps(value, separators=(",", ":"))
        self.events.append(Event(max(last + 1, time.time_ns() // 1_000_000), name, data))


class Hub:
    """Follows jobs for the clients of one service. Lives in its event loop."""

    def __init__(self, settings: Settings, look: Look) -> None:
        self._settings = settings
        self._look = look
        self._clients = 0
        self._jobs: dict[str, Followed] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._hearing: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Begin to hear which jobs move."""
        self._hearing = asyncio.create_task(self._hear(), name="news")

    async def end(self) -> None:
        """End everything."""
        tasks = [*self._tasks.values(), *([self._hearing] if self._hearing else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def wake_all(self) -> None:
        """Let every client look whether the service ends."""
        for job in self._jobs.values():
            job.tell()

    @asynccontextmanager
    async def follow(self, job_id: str, look: Look | None = None) -> AsyncIterator[Followed]:
        """Follow a job for the length of a block; `look` shows it if it is no solve."""
        job = self._jobs.setdefault(job_id, Followed(job_id))
        job.clients += 1
        self._clients += 1
        if job_id not in self._tasks:
            self._tasks[job_id] = asyncio.create_task(
                self._follow(job, look or self._look), name=f"follow-{job_id}"
            )
        try:
            yield job
        finally:
            job.clients -= 1
            self._clients -= 1
            job.left_at = time.monotonic()

    @property
    def is_full(self) -> bool:
        """Return whether as many clients follow jobs as may: others shall be answered, too."""
        return self._clients >= self._settings.http_connections // 2

    def has_seen(self, job_id: str, events: str) -> bool:
        """Return whether a job with this path of its events is followed, and was seen."""
        job = self._jobs.get(job_id)
        solve = None if job is None else job.solve
        return solve is not None and bool(solve["links"]["events"] == events)

    def has_told_all(self, job_id: str, last_id: int | None) -> bool:
        """Return whether a client that has had an event has had the end of a job, too."""
        job = self._jobs.get(job_id)
        return job is not None and job.is_over and bool(job.events) and job.events[-1].id == last_id

    def moved(self, job_id: str) -> None:
        """Have a job looked at now, if it is followed."""
        job = self._jobs.get(job_id)
        if job is not None:
            job.moved.set()

    def submitted(self, job_id: str) -> None:
        """Take note that a job was submitted, perhaps once more."""
        job = self._jobs.get(job_id)
        if job is not None:
            job.begin_again()
            job.moved.set()

    async def _follow(self, job: Followed, look: Look) -> None:
        try:
            while True:
                job.moved.clear()
                if not job.is_over:
                    await self._see(job, look)
                idle_s = time.monotonic() - job.left_at
                if not job.clients and idle_s > KEPT_S:
                    return
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(job.moved.wait(), LOOK_S)
        finally:
            self._tasks.pop(job.job_id, None)
            self._jobs.pop(job.job_id, None)
            job.tell()

    async def _see(self, job: Followed, look: Look) -> None:
        try:
            solve = await look(job.job_id)
        except NightgridError as error:
            log.warning("job not seen", job=job.job_id, error=str(error))
            return
        if solve is None:
            job.is_unknown = True
            job.tell()
        else:
            job.see(solve)

    async def _hear(self) -> None:
        """Hear which jobs move, for as long as the service lives."""
        while True:
            with contextlib.suppress(redis.RedisError, OSError):
                await self._hear_once()
            # Until the server answers, jobs are looked at all the same.
            await asyncio.sleep(AGAIN_S)

    async def _hear_once(self) -> None:
        client = redis.asyncio.Redis.from_url(
            self._settings.server_url,
            socket_connect_timeout=BROKER_CONNECT_SECONDS,
            decode_responses=True,
            encoding_errors="replace",
        )
        async with client, client.pubsub() as channel:
            await channel.subscribe(notification_channel(self._settings))
            async for message in channel.listen():
                if message["type"] == "message":
                    self.moved(str(message["data"]))

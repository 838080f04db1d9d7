"""Follow jobs: one look for all clients of a job, and one subscription for all jobs.

Workers and the keeper say through Redis which job has moved; the lake says where it is. Without
that word a job is looked at every `LOOK_S` all the same.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

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
RETRY_S = 1.0
"""Pause before the next try to hear from a server that does not answer."""

Solve = dict[str, Any]


class Followed:
    """One job that clients follow."""

    def __init__(self) -> None:
        self.solve: Solve | None = None
        """As it was seen last."""
        self.is_over = False
        """Whether nothing more will happen: it has ended, or there is no such job."""
        self.clients = 0
        self.moved = asyncio.Event()
        """Set to have it looked at now."""
        self._changed = asyncio.Event()

    def see(self, solve: Solve | None) -> None:
        """Store where the job is, and wake the clients."""
        self.solve, self.is_over = solve, solve is None or is_over(solve)
        self.wake()

    def wake(self) -> None:
        """Wake the clients that wait."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def change(self, timeout_s: float) -> None:
        """Wait until something is new, at most so long."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), timeout_s)


class Hub:
    """Follows jobs for the clients of one service. Lives in its event loop."""

    def __init__(self, settings: Settings, look: Callable[[str], Solve | None]) -> None:
        """Follow nothing yet; `look` shows a job, and may block."""
        self._settings = settings
        self._look = look
        self._jobs: dict[str, Followed] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._hearing: asyncio.Task[None] | None = None
        self.is_stopping = False

    def begin(self) -> None:
        """Begin to hear which jobs move."""
        self._hearing = asyncio.create_task(self._hear(), name="news")

    def stop(self) -> None:
        """Let whatever waits or streams end."""
        self.is_stopping = True
        for job in self._jobs.values():
            job.wake()

    async def end(self) -> None:
        """End everything."""
        self.stop()
        tasks = [*self._tasks.values(), *([self._hearing] if self._hearing else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def is_full(self) -> bool:
        """Return whether half of the connections follow jobs: others shall be answered, too."""
        following = sum(job.clients for job in self._jobs.values())
        return following >= self._settings.http_connections // 2

    @asynccontextmanager
    async def follow(self, job_id: str) -> AsyncIterator[Followed]:
        """Follow a job for the length of a block."""
        job = self._jobs.setdefault(job_id, Followed())
        job.clients += 1
        if job_id not in self._tasks:
            self._tasks[job_id] = asyncio.create_task(self._follow(job_id, job))
        try:
            yield job
        finally:
            job.clients -= 1
            if not job.clients:
                del self._jobs[job_id]
                self._tasks.pop(job_id).cancel()

    async def until_over(self, job_id: str, wait_s: float) -> Solve | None:
        """Wait for the end of a job, at most so long; show where it is then.

        Where too many clients wait it is shown at once.
        """
        ends_at = time.monotonic() + wait_s
        if wait_s and not self.is_full:
            async with self.follow(job_id) as job:
                while not (job.is_over or self.is_stopping):
                    left_s = ends_at - time.monotonic()
                    if left_s <= 0:
                        break
                    await job.change(left_s)
                if job.solve is not None:
                    return job.solve
        return await asyncio.to_thread(self._look, job_id)

    def moved(self, job_id: str) -> None:
        """Have a job looked at now, if it is followed."""
        job = self._jobs.get(job_id)
        if job is not None:
            job.moved.set()

    def submitted(self, job_id: str) -> None:
        """Forget that a job was over: it has been submitted once more."""
        job = self._jobs.get(job_id)
        if job is not None:
            job.solve, job.is_over = None, False
            job.moved.set()

    async def _follow(self, job_id: str, job: Followed) -> None:
        while True:
            job.moved.clear()
            try:
                job.see(await asyncio.to_thread(self._look, job_id))
            except NightgridError as error:
                log.warning("job not seen", job=job_id, error=str(error))
            with suppress(TimeoutError):
                await asyncio.wait_for(job.moved.wait(), LOOK_S)

    async def _hear(self) -> None:
        """Hear which jobs move, for as long as the service lives."""
        while True:
            with suppress(redis.RedisError, OSError):
                await self._hear_once()
            # Until the server answers, jobs are looked at all the same.
            await asyncio.sleep(RETRY_S)

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

"""What all routes of a service share: lake, settings, connections, and what waits for jobs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Annotated, Any

import redis
from fastapi import Depends, Request, Response

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.guard.access import Access
from nightgrid.service.http.guard.open_jobs import OpenJobs
from nightgrid.service.http.memory import give_back_memory
from nightgrid.service.http.monitoring.queue_snapshot import (
    SNAPSHOT_S,
    QueueSnapshot,
    take_snapshot,
)
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves.admission import Admission
from nightgrid.service.http.solves.following import Hub, Look
from nightgrid.service.http.solves.replays import Replays
from nightgrid.service.http.solves.small_boards import SmallBoards
from nightgrid.service.http.solves.solve_json import Subject, is_over
from nightgrid.service.http.solves.solve_request import SolveRequest
from nightgrid.service.http.solves.views import KNOWN_MAX, KNOWN_S, Views
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.caches import BoundedCache, Cached


class Service:
    """One service: made with its app, opened and closed by its lifespan."""

    lake: Lake
    """Opened by `open`; every function of the lake may be called from several threads."""
    redis: redis.Redis
    """A client of a pool, lazily connected: any thread may use it."""
    open_jobs: OpenJobs
    """How many jobs each key has open."""
    queue: Cached[QueueSnapshot]
    """How busy the service is, looked at once a second at most."""
    stopping: asyncio.Event
    """Set when the service is told to end: whatever waits or streams ends at once."""

    views: Views
    """Shows jobs, and keeps what was asked lately."""
    hub: Hub
    """Follows jobs for clients that wait."""
    replies: BoundedCache[str, Response]
    """Replies that are final, by the digest of the body that asked."""
    small_boards: SmallBoards
    """Answers small boards in the request that asks."""
    replays: Replays
    access: Access
    """Who may ask; used by the event loop alone."""
    admission: Admission
    gauges: Any
    """What /metrics computes, `Gauges` of nightgrid.service.http.monitoring.gauges."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.replies = BoundedCache(KNOWN_MAX, KNOWN_S)
        self.access = Access(lambda: self.lake, required=settings.wants_keys)
        self._looking: dict[str, asyncio.Task[Any]] = {}

    async def open(self) -> None:
        """Open what the routes use. Raises PermanentError for a lake that cannot be one."""
        self.lake = Lake.open(self.settings.workers.lake)
        self.open_jobs = await asyncio.to_thread(OpenJobs, self.lake)
        self.queue = Cached(lambda: take_snapshot(self.lake, self.settings.workers), SNAPSHOT_S)
        self.redis = connect(self.settings.workers)
        self.stopping = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.views = Views(self.lake, self.redis, self.settings.workers)
        self.replays = Replays(self.redis, self.settings.workers)
        self.admission = Admission(self.lake, self.settings.workers)
        self.hub = Hub(self.settings.workers, self._look)
        self.small_boards = SmallBoards(self.settings)
        self._freed = asyncio.create_task(give_back_memory())
        self.hub.begin()
        self.small_boards.begin()

    async def close(self) -> None:
        """Close what `open` opened."""
        self.stop()
        self._freed.cancel()
        await self.hub.end()
        await self.small_boards.end()
        self.redis.close()

    def stop(self) -> None:
        """Tell whatever waits that the service ends."""
        self.stopping.set()
        self.hub.wake_all()

    def look(self, job_id: str) -> dict[str, Any] | None:
        """Show a job, or None for one that there is not. Blocks."""
        solve = self.views.look(job_id)
        if solve is not None and is_over(solve):
            self.open_jobs.ended(job_id)
        return solve

    async def _look(self, job_id: str) -> dict[str, Any] | None:
        return await asyncio.to_thread(self.look, job_id)

    async def look_once(self, path: str, find: Callable[[], Any]) -> None:
        """Have a job looked for, once for all requests for one path that come meanwhile.

        `find` blocks. Raises what it raises.
        """
        task = self._looking.get(path)
        if task is None:
            task = self._looking[path] = asyncio.create_task(asyncio.to_thread(find))
            task.add_done_callback(lambda _: self._looking.pop(path, None))
        # A client that goes takes nothing away from another one.
        await asyncio.shield(task)

    def may_know(self, wanted: SolveRequest) -> bool:
        """Tell whether the puzzle is one of the lake's, so that nights may have answered it."""
        return wanted.names_board or bool(self.views.names.of(wanted.asked.puzzle_id))

    def remember(self, wanted: SolveRequest) -> None:
        """Keep what a question is about. Blocks."""
        self.views.remember(wanted.job_id, lambda: self.subject_of(wanted))

    def subject_of(self, wanted: SolveRequest) -> Subject:
        """Return what a question is about."""
        asked = wanted.asked
        return Subject(
            question=asked.question,
            puzzle_id=asked.puzzle_id,
            puzzle=asked.bound.puzzle_to_json(asked.puzzle),
            references=self.views.names.of(asked.puzzle_id),
        )

    def submitted(self, job_id: str) -> None:
        """Take note, from any thread, that a job was submitted."""
        self._loop.call_soon_threadsafe(self.hub.submitted, job_id)

    async def until_over(
        self, job_id: str, wait_s: float, look: Look | None = None
    ) -> dict[str, Any] | None:
        """Wait for the end of a job, at most so long; show where it is then.

        `look` shows it if it is no solve. Where too many clients wait it is shown at once.
        """
        look = look or self._look
        if not wait_s or self.hub.is_full:
            return await look(job_id)
        ends_at = time.monotonic() + wait_s
        async with self.hub.follow(job_id, look) as job:
            while not (job.is_over or self.stopping.is_set()):
                left_s = ends_at - time.monotonic()
                if left_s <= 0:
                    break
                await job.change(left_s)
            if job.solve is not None:
                return job.solve
        return await look(job_id)


async def service_of(request: Request) -> Service:
    """Find the service that a request came to."""
    service: Service = request.app.state.service
    return service


Here = Annotated[Service, Depends(service_of)]
"""The service, as a parameter of a route."""

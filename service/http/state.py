"""What all routes of a service share: lake, settings, connections, and what waits for jobs."""

from __future__ import annotations

import asyncio
from typing import Annotated

import redis
from fastapi import Depends, Request, Response

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.caches import BoundedCache, Cached
from nightgrid.service.http.guard.access import Access
from nightgrid.service.http.memory import give_back_memory
from nightgrid.service.http.monitoring.gauges import Gauges
from nightgrid.service.http.monitoring.queue_snapshot import (
    SNAPSHOT_S,
    QueueSnapshot,
    take_snapshot,
)
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves.admission import Admission
from nightgrid.service.http.solves.following import Hub
from nightgrid.service.http.solves.replays import Replays
from nightgrid.service.http.solves.small_boards import SmallBoards
from nightgrid.service.http.solves.views import KNOWN_MAX, KNOWN_S, Views
from nightgrid.workers.broker.connection import connect


class Service:
    """One service: made with its app, opened and closed by its lifespan."""

    lake: Lake
    """Thread-safe, as are all of these but `hub`, `small_boards` and `access`."""
    redis: redis.Redis
    queue: Cached[QueueSnapshot]
    views: Views
    replays: Replays
    admission: Admission
    hub: Hub
    small_boards: SmallBoards
    gauges: Gauges

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.access = Access(lambda: self.lake, required=settings.wants_keys)
        self.replies: BoundedCache[str, Response] = BoundedCache(KNOWN_MAX, KNOWN_S)
        """Replies that are final, by the digest of the body that asked."""

    async def open(self) -> None:
        """Open what the routes use. Raises PermanentError for a lake that cannot be one."""
        settings = self.settings.workers
        self.lake = Lake.open(settings.lake)
        self.queue = Cached(lambda: take_snapshot(self.lake, settings), SNAPSHOT_S)
        self.gauges = Gauges(self.lake, self.queue)
        self.redis = connect(settings)
        self.views = Views(self.lake, self.redis, settings)
        self.replays = Replays(self.redis, settings)
        self.admission = Admission(self.lake, settings)
        self.hub = Hub(settings, self.views.look)
        self.small_boards = SmallBoards(self.settings)
        self._freed = asyncio.create_task(give_back_memory())
        self.hub.begin()
        self.small_boards.begin()

    async def close(self) -> None:
        """Close what `open` opened."""
        self._freed.cancel()
        await self.hub.end()
        await self.small_boards.end()
        self.redis.close()


async def service_of(request: Request) -> Service:
    """Find the service that a request came to."""
    service: Service = request.app.state.service
    return service


Here = Annotated[Service, Depends(service_of)]
"""The service, as a parameter of a route."""

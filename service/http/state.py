"""Shared state of a service's routes: lake, settings, connections, caches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Condition
from typing import Annotated, Any

from cachetools import TTLCache, cached
from fastapi import Depends, Request, Response

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.guard.access import Access
from nightgrid.service.http.memory import give_back_memory
from nightgrid.service.http.monitoring.gauges import Gauges
from nightgrid.service.http.monitoring.queue_snapshot import (
    SNAPSHOT_S,
    QueueSnapshot,
    take_snapshot,
)
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves.small_boards import SmallBoards
from nightgrid.service.http.solves.views import Views

REPLIES_MAX, REPLIES_S = 1024, 60.0
"""Cached replies, and their lifetime, since retention may drop the answer meanwhile."""


class Service:
    """One service: created with its app, opened and closed by its lifespan."""

    lake: Lake
    """Thread-safe, like all of these but `small_boards` and `access`."""
    queue: Callable[[], QueueSnapshot]
    """Takes a snapshot of the queue, at most one every SNAPSHOT_S."""
    views: Views
    small_boards: SmallBoards
    gauges: Gauges

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.access = Access(lambda: self.lake, required=settings.wants_keys)
        self.replies: TTLCache[bytes, Response] = TTLCache(REPLIES_MAX, REPLIES_S)
        """Final replies by the digest of the request body; for the event loop only."""
        self.is_stopping: Callable[[], bool] = lambda: False
        """Returns whether requests that wait or stream have to end now."""

    async def open(self) -> None:
        """Open the resources of the routes. Raises PermanentError for an invalid lake."""
        settings = self.settings.workers
        self.lake = lake = Lake.open(settings.lake)
        snapshots: TTLCache[Any, QueueSnapshot] = TTLCache(1, SNAPSHOT_S)
        self.queue = cached(snapshots, condition=Condition())(lambda: take_snapshot(lake, settings))
        self.gauges = Gauges(lake, self.queue)
        self.small_boards = SmallBoards(self.settings)
        self.views = Views(lake, settings, self.small_boards.unfiled)
        self._freed = asyncio.create_task(give_back_memory())
        self.small_boards.begin()

    async def close(self) -> None:
        """Close what `open` opened."""
        self._freed.cancel()
        await self.small_boards.end()


async def service_of(request: Request) -> Service:
    """Return the service of a request."""
    service: Service = request.app.state.service
    return service


Here = Annotated[Service, Depends(service_of)]
"""The service, as a parameter of a route."""

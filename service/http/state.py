"""What all routes of a service share: lake, settings, connections, and what waits for jobs."""

from __future__ import annotations

import asyncio
from typing import Annotated

import redis
from fastapi import Depends, Request

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.workers.broker.redis_keys import connect


class Service:
    """One service: made with its app, opened and closed by its lifespan."""

    lake: Lake
    """Opened by `open`; every function of the lake may be called from several threads."""
    redis: redis.Redis
    """A client of a pool, lazily connected: any thread may use it."""
    stopping: asyncio.Event
    """Set when the service is told to end: whatever waits or streams ends at once."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings

    async def open(self) -> None:
        """Open what the routes use. Raises PermanentError for a lake that cannot be one."""
        self.lake = Lake.open(self.settings.workers.lake)
        self.redis = connect(self.settings.workers)
        self.stopping = asyncio.Event()

    async def close(self) -> None:
        """Close what `open` opened."""
        self.stop()
        self.redis.close()

    def stop(self) -> None:
        """Tell whatever waits that the service ends."""
        self.stopping.set()


def service_of(request: Request) -> Service:
    """Find the service that a request came to."""
    service: Service = request.app.state.service
    return service


Here = Annotated[Service, Depends(service_of)]
"""The service, as a parameter of a route."""

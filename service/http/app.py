"""The HTTP service as an ASGI app: its routers, its errors, its life."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI

from nightgrid.service.http import health, problems
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.state import Service

API = "/v1"
"""What the paths of the API begin with."""
ROUTERS = (health.router,)
"""Routes outside of the API."""
API_ROUTERS = ()
"""Routes of the API."""


def create_app(settings: ServiceSettings) -> FastAPI:
    """Make the app for these settings; its lifespan opens and closes what routes use."""
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.open()
        try:
            yield
        finally:
            await service.close()

    app = FastAPI(
        title="nightgrid",
        version=version("nightgrid"),
        summary="Exact solves of Pips, Strands, Letter Boxed and Tiles, on demand.",
        lifespan=lifespan,
        # Their pages load scripts from other hosts.
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    problems.install(app)
    for router in ROUTERS:
        app.include_router(router)
    for router in API_ROUTERS:
        app.include_router(router, prefix=API)
    return app

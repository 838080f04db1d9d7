"""The HTTP service as an ASGI app: its routers, its errors, its life."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import Depends, FastAPI
from starlette.types import ASGIApp

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http import openapi, problems
from nightgrid.service.http.field_faults import refuse_unknown
from nightgrid.service.http.guard.access import check_exposure
from nightgrid.service.http.guard.layer import Guard
from nightgrid.service.http.lake import games, pictures, puzzles, report, results, runs
from nightgrid.service.http.monitoring import health, metrics, queue
from nightgrid.service.http.monitoring.gauges import Gauges
from nightgrid.service.http.monitoring.requests import Noted
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves import events, found, open_solves, routes
from nightgrid.service.http.state import Service
from nightgrid.service.web.files import routes as page_routes
from nightgrid.solvers.registry import GAMES, titles
from nightgrid.workers.tracing import is_tracing

API = "/v1"
"""What the paths of the API begin with."""
ROUTERS = (health.router, metrics.router, report.router)
"""Routes outside of the API."""
API_ROUTERS = (
    games.router,
    puzzles.router,
    pictures.router,
    results.router,
    runs.router,
    routes.router,
    open_solves.router,
    events.router,
    found.router,
    queue.router,
)
"""Routes of the API."""


class _GuardedApp(FastAPI):
    """An app of which the guard sees every request first, and every answer last."""

    def build_middleware_stack(self) -> ASGIApp:
        """Put the guard around all layers: errors that no route has foreseen pass it too."""
        service: Service = self.state.service
        settings = service.settings
        guard = Guard(
            super().build_middleware_stack(),
            access=service.access,
            hosts=settings.hosts,
            limits=settings.limits,
            early_reply=routes.early_reply_of(service),
        )
        return Noted(guard)

    def openapi(self) -> dict[str, Any]:
        """Describe the routes, with every problem and examples."""
        return openapi.describe(self)


def create_app(settings: ServiceSettings) -> FastAPI:
    """Make the app for these settings; its lifespan opens and closes what routes use.

    Raises PermanentError for one that other machines could reach while its lake has no key.
    """
    if not settings.is_loopback:
        _, (address, _) = settings.address
        check_exposure(Lake.open(settings.workers.lake), address)
    service = Service(settings)
    service.gauges = Gauges(lambda: service.lake, lambda: service.queue)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.open()
        try:
            yield
        finally:
            await service.close()

    app = _GuardedApp(
        title="nightgrid",
        version=version("nightgrid"),
        summary=f"Exact solves of {titles(list(GAMES))}, on demand.",
        lifespan=lifespan,
        generate_unique_id_function=openapi.operation_name,
        # Their pages load scripts from other hosts.
        docs_url=None,
        redoc_url=None,
        # Requests of the API are traced; metrics and logs are ours.
        telemetry={
            "tracing": is_tracing(),
            "metrics": False,
            "logs": False,
            "operation_spans": False,
            "exclude": lambda scope: not scope.get("path", "").startswith(f"{API}/"),
        },
    )
    app.state.service = service
    problems.install(app)
    for router in ROUTERS:
        app.include_router(router)
    for router in API_ROUTERS:
        app.include_router(router, prefix=API, dependencies=[Depends(refuse_unknown)])
    app.router.routes.extend(page_routes())
    return app

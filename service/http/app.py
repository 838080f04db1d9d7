"""The HTTP service as an ASGI app: its routers, its errors, its lifespan."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http import problems
from nightgrid.service.http.guard.access import KEY, check_exposure
from nightgrid.service.http.guard.layer import Guard
from nightgrid.service.http.lake import games, pictures, puzzles, query, results, runs
from nightgrid.service.http.monitoring import health
from nightgrid.service.http.monitoring.requests import Noted
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves import found, hints, routes
from nightgrid.service.http.solves.at_once import reply_at_once
from nightgrid.service.http.state import Service
from nightgrid.service.web.files import routes as page_routes
from nightgrid.solvers.registry import GAMES, titles
from nightgrid.workers.tracing import is_tracing

API = "/v1"
"""Prefix of the API's paths."""
LAKE = (games, puzzles, pictures, results, runs, query)
API_ROUTERS = tuple(module.router for module in (*LAKE, routes, found, hints))
DESCRIPTION = """Exact solves of puzzles: `/v1/games` lists the games.

Numbers that may exceed 2^53 are strings. Every error is `application/problem+json` (RFC 9457) that
names what is wrong by JSON pointers. Keys, where required, are sent as `Authorization: Bearer
KEY`; a service on loopback requires none by default."""
SCHEMAS = "#/components/schemas"
_PROBLEM_REPLY: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem.",
        "content": {problems.PROBLEM_TYPE: {"schema": {"$ref": f"{SCHEMAS}/Problem"}}},
    }
}


class _App(FastAPI):
    """An app inside of its guard, which also sees unexpected errors."""

    def build_middleware_stack(self) -> ASGIApp:
        """Put the guard around all layers."""
        service: Service = self.state.service
        guard = Guard(
            super().build_middleware_stack(),
            access=service.access,
            hosts=service.settings.hosts,
            body_bytes=service.settings.workers.http_body_bytes,
            early_reply=partial(reply_at_once, service),
        )
        return Noted(guard)

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI description of the routes and their problems."""
        document = super().openapi()
        schema = problems.ProblemJson.model_json_schema(ref_template=f"{SCHEMAS}/{{model}}")
        document["components"]["schemas"] |= {**schema.pop("$defs"), "Problem": schema}
        return document


def create_app(settings: ServiceSettings) -> FastAPI:
    """Create the app for these settings; its lifespan opens and closes its resources.

    Raises PermanentError for an app that other machines can reach while its lake has no keys.
    """
    if not settings.is_loopback:
        _, (address, _) = settings.address
        check_exposure(Lake.open(settings.workers.lake), address)
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.open()
        try:
            yield
        finally:
            await service.close()

    app = _App(
        title="nightgrid",
        version=version("nightgrid"),
        summary=f"Exact solves of {titles(list(GAMES))}, on demand.",
        description=DESCRIPTION,
        lifespan=lifespan,
        responses=_PROBLEM_REPLY,
        generate_unique_id_function=lambda route: route.name,
        # These pages load scripts from other hosts.
        docs_url=None,
        redoc_url=None,
        # Requests of the API are traced; metrics and logs are our own.
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
    for router in (health.router, runs.report_router):
        app.include_router(router)
    for router in (*API_ROUTERS, health.api_router):
        app.include_router(router, prefix=API, dependencies=[KEY])
    app.router.routes.extend(page_routes())
    return app

"""The page and its files: served with ETags, nothing from anywhere else."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

FOLDER = Path(__file__).parent / "static"
PAGE = "index.html"
ICON = "icon.svg"

# Systems without a table of types do not know these, and Python only from 3.12 on.
mimetypes.add_type("text/javascript", ".js")
mimetypes.add_type("font/woff2", ".woff2")


class Files(StaticFiles):
    """Files of which a browser asks every time whether they have changed."""

    def file_response(self, *given: Any, **others: Any) -> Response:
        """Send a file, or that it has not changed."""
        response = super().file_response(*given, **others)
        response.headers["Cache-Control"] = "no-cache"
        return response


def routes() -> list[BaseRoute]:
    """Make the routes of the page: `/`, `/favicon.ico` and `/static/...`."""
    files = Files(directory=FOLDER)

    async def page(request: Request) -> Response:
        return await files.get_response(PAGE, request.scope)

    async def icon(request: Request) -> Response:
        return await files.get_response(ICON, request.scope)

    return [
        Route("/", page, methods=["GET"]),
        Route("/favicon.ico", icon, methods=["GET"]),
        Mount("/static", files),
    ]

"""The page and its files, served with ETags; nothing comes from other hosts."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Any

from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

FOLDER = Path(__file__).parent / "static"
PAGES = {"/": "index.html", "/browse": "browse.html", "/api": "api.html"}
ICON = "icon.svg"

# Not all systems have these types, nor does Python before 3.12.
mimetypes.add_type("text/javascript", ".js")
mimetypes.add_type("font/woff2", ".woff2")


class Files(StaticFiles):
    """Files that a browser revalidates on every use."""

    def file_response(self, *given: Any, **others: Any) -> Response:
        """Send a file, or that it has not changed."""
        response = super().file_response(*given, **others)
        response.headers["Cache-Control"] = "no-cache"
        return response


def routes() -> list[BaseRoute]:
    """Return the routes of the pages, of `/favicon.ico` and of `/static/...`."""
    files = Files(directory=FOLDER)

    async def page(request: Request) -> Response:
        return await files.get_response(PAGES[request.scope["path"]], request.scope)

    async def icon(request: Request) -> Response:
        return await files.get_response(ICON, request.scope)

    return [
        *(Route(path, page, methods=["GET"]) for path in PAGES),
        Route("/favicon.ico", icon, methods=["GET"]),
        Mount("/static", GZipMiddleware(files)),
    ]

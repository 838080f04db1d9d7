"""The page and its files: read once, served with ETags, nothing from anywhere else."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

FOLDER = Path(__file__).parent / "static"
PAGE = "index.html"
ICON = "icon.svg"
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""Types by suffix. A file of any other suffix is none of the page's."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; img-src 'self' blob: data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may load: its own files, and pictures that it makes itself."""
HEADERS = {
    # A browser asks whether a file has changed, and is answered in a few bytes.
    "Cache-Control": "no-cache",
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file of the page, as it is sent."""

    body: bytes
    type: str
    etag: str


@cache
def files() -> dict[str, File]:
    """Read every file of the page, by its path below `static`: `board.css`, `editors/pips.js`.

    What is served is looked up here, so that no path of a request leads anywhere else.
    """
    found = {}
    for path in sorted(FOLDER.rglob("*")):
        if path.is_file() and path.suffix in TYPES:
            body = path.read_bytes()
            etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
            name = path.relative_to(FOLDER).as_posix()
            found[name] = File(body=body, type=TYPES[path.suffix], etag=etag)
    return found


def routes() -> list[BaseRoute]:
    """Make the routes of the page: `/`, `/favicon.ico` and `/static/...`."""
    files()
    return [
        Route("/", _page, methods=["GET"], name="page"),
        Route("/favicon.ico", _icon, methods=["GET"], name="icon"),
        Route("/static/{path:path}", _static, methods=["GET"], name="static"),
    ]


async def _page(request: Request) -> Response:
    return _sent(request, PAGE)


async def _icon(request: Request) -> Response:
    return _sent(request, ICON)


async def _static(request: Request) -> Response:
    return _sent(request, request.path_params["path"])


def _sent(request: Request, name: str) -> Response:
    file = files().get(name)
    if file is None:
        # As the service says it of any other path (RFC 9457).
        told = {"type": "/problems/not-found", "title": "Not Found", "status": 404}
        told["detail"] = f"the page has no file {name[:80]!r}"
        return JSONResponse(told, 404, HEADERS, "application/problem+json")
    headers = HEADERS | {"ETag": file.etag}
    known = [tag.strip() for tag in request.headers.get("If-None-Match", "").split(",")]
    # A proxy that compresses marks the tag as weak.
    if "*" in known or file.etag in [tag.removeprefix("W/") for tag in known]:
        return Response(None, 304, headers)
    return Response(file.body, 200, headers, file.type)

"""Request ids, metrics, and log lines for requests that matter.

The id is the client's own `X-Request-ID` or a new one. It is in every log line of the request, here
and in the worker that takes its message, and in the answer.
"""

from __future__ import annotations

import re
import time
import uuid

from prometheus_client import Counter, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.service.http.problems import METHODS
from nightgrid.workers.logs import get_logger

log = get_logger("nightgrid.http")

ID_HEADER = "X-Request-ID"
ID_CHARS = 16
SKIPPED_HEADER = "Nightgrid-Skipped-Files"
"""Number of damaged files of the lake that were skipped: the answer may lack their content."""
_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Requests that are logged only if the service failed."""
REPEATED, ROUTE = "nightgrid.repeated", "nightgrid.route"
"""Set in the scope of a request: that it repeats an answered one, and is not logged; and its route
if the router did not set it."""
_FAILED = 500
_PROBES = frozenset({"/healthz", "/readyz"})
"""Polled every few seconds: not being ready is an answer, not an error."""
OTHER = "other"
LATENCIES_S = (0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)

# Label values are declared names only: those of clients would be kept forever.
REQUESTS = Counter(
    "nightgrid_http_requests_total",
    "Requests by route and status.",
    ["method", "route", "status"],
)
REQUEST_SECONDS = Histogram(
    "nightgrid_http_request_seconds",
    "Seconds from a request to the beginning of its answer.",
    ["method", "route"],
    buckets=LATENCIES_S,
)
METRICS = (REQUESTS, REQUEST_SECONDS)


class Noted:
    """ASGI middleware that counts and logs requests, and answers HEAD like GET.

    The server sends no body to a client that sent HEAD.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; count it when its answer starts."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        request = _id_of(Headers(scope=scope))
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}

        async def send_noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers[ID_HEADER] = request
                if left_out := _name_skipped():
                    headers[SKIPPED_HEADER] = str(left_out)
                _note(scope, message["status"], time.perf_counter() - begun)
            await send(message)

        with bound_contextvars(request=request):
            await self._app(scope, receive, send_noted)


def _note(scope: Scope, status: int, seconds: float) -> None:
    method = scope["method"] if scope["method"] in METHODS else OTHER
    route = route_of(scope)
    REQUESTS.labels(method, route, str(status)).inc()
    REQUEST_SECONDS.labels(method, route).observe(seconds)
    changes_nothing = scope["method"] in _READS or REPEATED in scope
    if changes_nothing and (status < _FAILED or route in _PROBES):
        return
    log.info(
        "request",
        method=method,
        route=route,
        status=status,
        client=getattr(scope.get("state", {}).get("key"), "name", ""),
        seconds=round(seconds, 4),
    )


def route_of(scope: Scope) -> str:
    """Return the declared route of a request; "other" if there is none."""
    if ROUTE in scope:
        return str(scope[ROUTE])
    route = scope.get("route")
    path = getattr(route, "path_format", None) or getattr(route, "path", None)
    if path is None:
        return "/static" if scope["path"].startswith("/static/") else OTHER
    # Routes of a router that is included with a prefix lack the prefix.
    return f"/v1{path}" if scope["path"].startswith("/v1/") else str(path)


def _name_skipped() -> int:
    """Log the damaged and foreign files skipped so far; return how many."""
    files = skipped_files()
    for path, why in files.items():
        log.warning("file skipped", file=path, why=why)
    forget(*files)
    return len(files)


def _id_of(headers: Headers) -> str:
    given = headers.get(ID_HEADER, "")
    return given if _ID.fullmatch(given) else uuid.uuid4().hex[:ID_CHARS]

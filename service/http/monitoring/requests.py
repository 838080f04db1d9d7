"""What is noted of every request: its id, its metrics, and a line of the log where it matters.

The id is the client's own `X-Request-ID` or a new one. It stands in every line that is logged for
the request, here and in the worker that takes its message, and in the answer.
"""

from __future__ import annotations

import re
import time
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from nightgrid.archive.skipped_files import forget, skipped_files
from nightgrid.service.http.monitoring.metrics import REQUEST_SECONDS, REQUESTS
from nightgrid.service.http.monitoring.route_names import method_of, route_of
from nightgrid.workers.logs import get_logger

log = get_logger("nightgrid.http")

ID_HEADER = "X-Request-ID"
ID_CHARS = 16
SKIPPED_HEADER = "Nightgrid-Skipped-Files"
"""How many damaged files of the lake were skipped: the answer may lack what they held."""
_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Requests that are logged only when the service failed at them."""
REPEATED = "nightgrid.repeated"
"""Set in the scope of a request that repeats one that was answered: it changes nothing either, and
a line would cost more than the reply."""
_FAILED = 500
_PROBES = frozenset({"/healthz", "/readyz"})
"""Asked every few seconds: that they are not ready is their answer."""


class Noted:
    """An ASGI application around another one, which counts and logs what goes by."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through; count it when its answer begins."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        request = _id_of(Headers(scope=scope))

        async def send_noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers[ID_HEADER] = request
                if left_out := _name_skipped():
                    headers[SKIPPED_HEADER] = str(left_out)
                self._note(scope, message["status"], time.perf_counter() - begun)
            await send(message)

        with bound_contextvars(request=request):
            await self._app(scope, receive, send_noted)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method, route = method_of(scope), route_of(scope)
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
            client=getattr(scope.get("state", {}).get("client"), "name", ""),
            seconds=round(seconds, 4),
        )


def _name_skipped() -> int:
    """Log the damaged and foreign files that were skipped since; return how many."""
    files = skipped_files()
    for path, why in files.items():
        log.warning("file skipped", file=path, why=why)
    forget(*files)
    return len(files)


def _id_of(headers: Headers) -> str:
    given = headers.get(ID_HEADER, "")
    return given if _ID.fullmatch(given) else uuid.uuid4().hex[:ID_CHARS]

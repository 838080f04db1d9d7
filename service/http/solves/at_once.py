"""Immediate replies without a route: to repeated bodies with final answers, and to small boards.

FastAPI's own routing takes most of the processor time of such a request.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from pydantic_core import to_json
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Scope
from structlog.contextvars import bind_contextvars

from nightgrid.service.http.monitoring.requests import REPEATED, ROUTE
from nightgrid.service.http.solves.solve_json import API, is_final
from nightgrid.service.http.state import Service
from nightgrid.workers.metrics import count_rows
from nightgrid.workers.tracing import describe_span

TRIED = "tried"
"""State key: whether the board was started here and did not finish in time."""
WAIT_MAX_S = 60.0
"""Longest wait of one request."""
_WAIT = re.compile(r"\bwait\s*=\s*\"?(\d{1,6}(?:\.\d{1,3})?)\"?\s*(?:[,;]|$)")


async def reply_at_once(
    service: Service, scope: Scope, headers: Headers, body: bytes
) -> Response | None:
    """Reply to the body of a request; None if its route has to."""
    # Its route rejects a query.
    if scope["path"] != API or scope["query_string"]:
        return None
    reply = service.replies.get(_digest(body))
    if reply is not None:
        scope[REPEATED] = True
    elif wait_s := wait_of(headers.get("prefer", "")):
        reply = await _solved(service, scope, body, wait_s)
    if reply is not None:
        scope[ROUTE] = API
        describe_span(f"{scope['method']} {API}", **{"http.route": API})
    return reply


async def _solved(service: Service, scope: Scope, body: bytes, wait_s: float) -> Response | None:
    if not service.small_boards.is_ready:
        return None
    found = await service.small_boards.solve(body, wait_s)
    # The lake may know the board from a night.
    if found is None or service.views.references(found.puzzle_id):
        scope["state"][TRIED] = found is None
        return None
    bind_contextvars(job=found.job_id, puzzle=found.puzzle_id, game=found.game)
    count_rows(found.game, {found.status: 1}, states=found.states, kernel_ns=found.kernel_ns)
    service.views.note_times(found.job_id, found.asked_at, found.ended_at)
    service.small_boards.file(found)
    return _reply(service, body, found.job_id, found.reply)


def answered(service: Service, body: bytes | None, solve: dict[str, Any]) -> Response:
    """Answer with a job that has ended; with a body, cache the reply for it."""
    return _reply(service, body if is_final(solve) else None, solve["id"], to_json(solve))


def _reply(service: Service, body: bytes | None, job_id: str, written: bytes) -> Response:
    headers = {"Content-Location": f"{API}/{job_id}"}
    reply = Response(written, headers=headers, media_type=JSONResponse.media_type)
    if body is not None:
        service.replies[_digest(body)] = reply
    return reply


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()


def wait_of(prefer: str) -> float:
    """Parse the seconds that a request may wait from its Prefer header (RFC 7240), 0 by default.

    Invalid preferences are ignored.
    """
    found = _WAIT.search(prefer.lower())
    return min(float(found[1]), WAIT_MAX_S) if found else 0.0

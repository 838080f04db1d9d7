"""Answer a question before any route sees it: one that was answered before, or a small board's.

FastAPI describes the route and would answer as well: its search, its parameters and its reading of
the body take most of the CPU of a request whose board takes a millisecond.
"""

from __future__ import annotations

import time

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from nightgrid.service.http.guard.layer import Shortcut
from nightgrid.service.http.monitoring.requests import REPEATED
from nightgrid.service.http.monitoring.route_names import route_of
from nightgrid.service.http.solves.asking.preferences import wait_of
from nightgrid.service.http.solves.asking.replays import HEADER
from nightgrid.service.http.solves.asking.replies import digest_of
from nightgrid.service.http.solves.quick.lines import Miss
from nightgrid.service.http.solves.routes import EARLIER_TRY, POST_SOLVE, EarlierTry, final_reply
from nightgrid.service.http.solves.solve_json import API
from nightgrid.service.http.state import Service
from nightgrid.workers.logs import bind, get_logger
from nightgrid.workers.tracing import name_span

log = get_logger("nightgrid.http")


def shortcut(service: Service) -> Shortcut:
    """Give what replies to the bodies that it can, for one service."""

    async def reply_to(scope: Scope, headers: Headers, data: bytes) -> Response | None:
        is_asked = scope["method"] == "POST" and scope["path"] == API
        # A query is refused, and a key is looked at, by the route.
        if not is_asked or scope["query_string"] or HEADER in headers:
            return None
        digest = digest_of(data)
        reply = service.replies.get(digest)
        if reply is not None:
            scope[REPEATED] = True
        elif wait_s := wait_of(headers.getlist("prefer")):
            reply = await _solved(service, scope, digest, data, wait_s)
        if reply is not None:
            # Requests are counted and traced by route.
            scope["route"] = POST_SOLVE
            route = route_of(scope)
            name_span(f"{scope['method']} {route}", {"http.route": route})
        return reply

    return reply_to


async def _solved(
    service: Service, scope: Scope, digest: str, data: bytes, wait_s: float
) -> Response | None:
    begun = time.monotonic()
    try:
        found = await service.quick.answer_body(digest, data, wait_s)
    except Exception as error:  # noqa: BLE001 - the route answers, and has words for what fails
        log.warning("no shortcut", error=repr(error))
        found = Miss.NOT_TRIED
    if isinstance(found, Miss):
        waited_s = time.monotonic() - begun
        scope["state"][EARLIER_TRY] = EarlierTry(found is Miss.TRIED, waited_s)
        return None
    bind(job=found.job_id, puzzle=found.puzzle_id, game=found.game)
    reply = final_reply(found.job_id, found.reply)
    service.replies.put(digest, reply)
    return reply

"""Ask, look, list and leave: POST, GET and DELETE of solves."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field
from pydantic_core import from_json, to_json
from starlette.datastructures import Headers
from starlette.types import Scope
from structlog.contextvars import bind_contextvars

from nightgrid.service.asking import COMMAND_LINE
from nightgrid.service.http.guard.access import Client
from nightgrid.service.http.guard.layer import EarlyReply
from nightgrid.service.http.lake.parameters import Parameters
from nightgrid.service.http.monitoring.requests import REPEATED, route_of
from nightgrid.service.http.problems import HEX_ID, Problem
from nightgrid.service.http.solves.admission import client_for
from nightgrid.service.http.solves.models import OpenSolves, Solve, SolveBody
from nightgrid.service.http.solves.replays import HEADER, digest_of
from nightgrid.service.http.solves.small_boards import (
    OVERTIME_S,
    SECONDS,
    Found,
    is_small,
    may_be_small,
)
from nightgrid.service.http.solves.solve_json import API, is_over
from nightgrid.service.http.solves.solve_request import SolveRequest, read_request, wait_of
from nightgrid.service.http.state import Here, Service
from nightgrid.solvers.canonical import is_id
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.metrics import count_rows
from nightgrid.workers.ondemand.results import is_answered
from nightgrid.workers.ondemand.submissions import has_submission, open_jobs
from nightgrid.workers.ondemand.submitting import BY_COMMAND, leave_job, submit
from nightgrid.workers.tracing import describe_span

router = APIRouter(tags=["solves"])
RETRY_AFTER_S, RETRY_AFTER_MAX_S = 1, 30
"""When a client that was not told of an end may look again: after what is left, within these."""
IN_VAIN = "in_vain"
"""Whether the board of a request proved to be no small one before its route, in its state."""
IdempotencyKey = Annotated[
    str | None,
    Header(description="A request with the same key and body is answered as the first one."),
]
Prefer = Annotated[
    str,
    Header(
        description="`wait=N` waits up to N seconds for the answer, `respond-async` not at all."
    ),
]


@router.post(
    "/solves",
    response_model=Solve,
    responses={
        202: {"model": Solve, "description": "Not answered yet; Location says where to look."}
    },
)
async def post_solve(
    body: SolveBody,
    request: Request,
    service: Here,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = "",
) -> Response:
    """Ask something about a board; what the lake knows is answered at once."""
    ends_at = time.monotonic() + wait_of([prefer])
    raw = await request.body()
    client: Client = request.state.client
    key = idempotency_key
    if key is not None:
        await asyncio.to_thread(service.replays.check, client.name, key, raw)
    # A body that is refused leaves its key free.
    wanted = await asyncio.to_thread(read_request, service.lake, service.settings.workers, body)
    if key is not None:
        await asyncio.to_thread(service.replays.note, client.name, key, raw)
    bind_contextvars(
        job=wanted.job_id, puzzle=wanted.asked.puzzle_id, game=wanted.asked.question.game
    )
    solve = await _known(service, wanted)
    left_s = ends_at - time.monotonic()
    is_tried = in_vain = getattr(request.state, IN_VAIN, False)
    if solve is None and not in_vain and left_s > 0 and is_small(wanted, SECONDS):
        is_tried = True
        found = await service.small_boards.solve(digest_of(raw), raw, left_s)
        solve = None if found is None else from_json(_keep(service, found))
    if solve is None:
        expected_s = max(wanted.expected.seconds, OVERTIME_S if is_tried else 0.0)
        await asyncio.to_thread(_begin, service, wanted, expected_s, client, key)
        service.hub.submitted(wanted.job_id)
        left_s = max(0.0, ends_at - time.monotonic())
        solve = await service.hub.until_over(wanted.job_id, left_s)
        if solve is None:
            raise TransientError(f"job {wanted.job_id} is gone")
    if is_over(solve):
        reply = _answered(solve["id"], to_json(solve))
        # Of a board that the lake names another one may stand there tomorrow.
        if not wanted.names_board and service.views.final(wanted.job_id):
            service.replies.put(digest_of(raw), reply)
        return reply
    headers = {"Location": solve["links"]["self"], "Retry-After": retry_after(solve)}
    return JSONResponse(solve, 202, headers=headers)


def retry_after(solve: dict[str, Any]) -> str:
    """Return in how many whole seconds to look again at a job that has no answer."""
    left_s = (solve["progress"] or {}).get("left_s") or 0.0
    return str(min(max(math.ceil(left_s), RETRY_AFTER_S), RETRY_AFTER_MAX_S))


async def _known(service: Service, wanted: SolveRequest) -> dict[str, Any] | None:
    """Show the answer that the lake has to a question, if it has one."""
    job_id = wanted.job_id
    if (kept := service.views.final(job_id)) is not None:
        known: dict[str, Any] = from_json(kept)
        return known

    def look() -> dict[str, Any] | None:
        if not is_answered(service.lake, job_id, service.settings.workers, wanted.budget):
            return None
        return service.views.look(job_id)

    return await asyncio.to_thread(look)


def _keep(service: Service, found: Found) -> bytes:
    """Keep the answer to a small board, and return what its clients are told: the first, always."""
    known = service.views.final(found.job_id)
    if known is not None:
        return known
    count_rows(found.game, {found.status: 1}, states=found.states, kernel_ns=found.kernel_ns)
    reply = found.reply
    if names := service.views.names.of(found.puzzle_id):
        reply = to_json({**from_json(reply), "references": names})
    service.views.keep_final(found.job_id, reply, found.asked_at, found.ended_at)
    service.small_boards.file(found)
    return reply


def _begin(
    service: Service, wanted: SolveRequest, expected_s: float, client: Client, key: str | None
) -> None:
    """Submit a question that the lake does not know the answer to."""
    job_id = wanted.job_id
    service.admission.check(client, job_id, expected_s)
    service.views.forget(job_id)
    try:
        submit(
            service.lake,
            wanted.asked.bound,
            wanted.asked.puzzle,
            wanted.asked.ask,
            service.settings.workers,
            budget=wanted.budget,
            deadline_at=wanted.deadline_at,
            client=client_for(client, key),
            expected_s=expected_s,
        )
    except TransientError:
        # Without a server it is accepted all the same once the lake has it.
        if not has_submission(service.lake, job_id):
            raise


(_POST_SOLVE,) = (each for each in router.routes if getattr(each, "endpoint", None) is post_solve)


def early_reply_of(service: Service) -> EarlyReply:
    """Return a function that replies to what was answered for good before, and to small boards.

    FastAPI's own way to a route takes most of the processor time of such a request.
    """

    async def early_reply(scope: Scope, headers: Headers, data: bytes) -> Response | None:
        is_asked = scope["method"] == "POST" and scope["path"] == API
        # A query is refused, and a key is looked at, by the route.
        if not is_asked or scope["query_string"] or HEADER in headers:
            return None
        digest = digest_of(data)
        reply = service.replies.get(digest)
        if reply is not None:
            scope[REPEATED] = True
        elif wait_s := wait_of(headers.getlist("prefer")):
            reply = await _small(service, scope, digest, data, wait_s)
        if reply is not None:
            # Requests are counted and traced by route.
            scope["route"] = _POST_SOLVE
            route = route_of(scope)
            describe_span(f"{scope['method']} {route}", **{"http.route": route})
        return reply

    return early_reply


async def _small(
    service: Service, scope: Scope, digest: str, data: bytes, wait_s: float
) -> Response | None:
    """Reply to a question about a small board; None if its route has to."""
    if not (may_be_small(data) and service.small_boards.is_ready):
        return None
    found = await service.small_boards.solve(digest, data, wait_s)
    # The lake may know of a board that a night has brought.
    if found is None or service.views.names.of(found.puzzle_id):
        scope["state"][IN_VAIN] = found is None
        return None
    bind_contextvars(job=found.job_id, puzzle=found.puzzle_id, game=found.game)
    reply = _answered(found.job_id, _keep(service, found))
    service.replies.put(digest, reply)
    return reply


def _answered(job_id: str, written: bytes) -> Response:
    """Answer with a job that has ended, as JSON."""
    headers = {"Content-Location": f"{API}/{job_id}"}
    return Response(written, headers=headers, media_type=JSONResponse.media_type)


class About(Parameters):
    """Which jobs are listed."""

    puzzle_id: str = Field(pattern=HEX_ID, description="The puzzle that they are about.")


@router.get("/solves", response_model=OpenSolves, summary="List the open jobs of a puzzle")
def get_open_solves(asked: Annotated[About, Query()], service: Here) -> Response:
    """List the jobs about a puzzle that wait or are worked, by their ids."""
    wanted = open_jobs(service.lake).wanted
    jobs = sorted(job for job, each in wanted.items() if each.last.puzzle_id == asked.puzzle_id)
    found = (solve for solve in map(service.views.look, jobs) if solve and not is_over(solve))
    return JSONResponse({"solves": list(found)})


@router.get("/solves/{job_id}", response_model=Solve)
def get_solve(job_id: str, service: Here) -> Response:
    """Return where a job is."""
    solve = found_solve(service, job_id)
    headers = {} if is_over(solve) else {"Retry-After": retry_after(solve)}
    return JSONResponse(solve, headers=headers)


def found_solve(service: Service, job_id: str) -> dict[str, Any]:
    """Look a job up. Raises Problem for one that there is not."""
    solve = service.views.look(job_id) if is_id(job_id) else None
    if solve is None:
        detail = f"no job {job_id!r:.60} was submitted, or its end was forgotten"
        raise Problem("no-such-solve", detail)
    return solve


@router.delete("/solves/{job_id}", response_model=Solve)
async def delete_solve(
    job_id: str, request: Request, service: Here, idempotency_key: IdempotencyKey = None
) -> Response:
    """Want a job no more; it is cancelled unless another client wants it."""
    leaving = client_for(request.state.client, idempotency_key)
    bind_contextvars(job=job_id)

    def leave() -> dict[str, Any]:
        found_solve(service, job_id)
        reason = door_of(request.headers)
        _, left = leave_job(service.lake, job_id, leaving, reason=reason)
        service.views.forget(job_id)
        solve = found_solve(service, job_id)
        if left:
            wants = "client wants" if left == 1 else "clients want"
            return {**solve, "reason": f"left; {left} other {wants} it"}
        return solve

    solve = await asyncio.to_thread(leave)
    service.hub.moved(job_id)
    return JSONResponse(solve)


def door_of(headers: Headers) -> str:
    """Return by which door a client comes that cancels something, as the reason of its end."""
    if headers.get("user-agent") == COMMAND_LINE:
        return BY_COMMAND
    # Browsers send an origin with everything that changes something.
    return "on the page" if "origin" in headers else "by a client over HTTP"

"""Ask, look and leave: POST, GET and DELETE of solves."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic_core import from_json, to_json
from starlette.datastructures import Headers
from starlette.types import Scope
from structlog.contextvars import bind_contextvars

from nightgrid.service.asking import COMMAND_LINE
from nightgrid.service.asking import submit as submit_asked
from nightgrid.service.http.guard.access import Client
from nightgrid.service.http.guard.layer import EarlyReply
from nightgrid.service.http.monitoring.requests import REPEATED
from nightgrid.service.http.monitoring.route_names import route_of
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.solves.models import Solve, SolveBody
from nightgrid.service.http.solves.replays import HEADER, digest_of
from nightgrid.service.http.solves.small_boards import (
    OVERTIME_S,
    SECONDS,
    Found,
    is_small,
    may_be_small,
)
from nightgrid.service.http.solves.solve_json import API, is_over
from nightgrid.service.http.solves.solve_request import (
    SolveRequest,
    is_light,
    read_request,
    wait_of,
)
from nightgrid.service.http.state import Here, Service
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.metrics import count_rows
from nightgrid.workers.ondemand.results import is_answered
from nightgrid.workers.ondemand.submissions import client_name, has_submission, is_job_id
from nightgrid.workers.ondemand.submitting import BY_COMMAND, leave_job
from nightgrid.workers.tracing import describe_span

router = APIRouter(tags=["solves"])
RETRY_AFTER_S, RETRY_AFTER_MAX_S = 1, 30
"""When a client that was not told of an end may look again: after what is left, within these."""
TRIED = "small_boards_tried"
"""What a request has in its state that was tried before its route: when that began (monotonic), and
whether it was in vain."""
_REPLY: dict[int | str, dict[str, Any]] = {
    202: {"model": Solve, "description": "It is not answered yet; Location says where to look."},
}
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": SolveBody.model_json_schema()}},
    }
}


@router.post("/solves", response_model=Solve, responses=_REPLY, openapi_extra=_BODY)
async def post_solve(request: Request, service: Here) -> Response:
    """Ask something about a board; what the lake knows is answered at once."""
    begun, in_vain = getattr(request.state, TRIED, (time.monotonic(), False))
    raw = await request.body()
    client: Client = request.state.client
    wait_s = wait_of(request.headers.getlist("prefer"))
    digest = digest_of(raw)
    key = request.headers.get(HEADER)
    if key is not None:
        await asyncio.to_thread(service.replays.check, client.name, key, digest)
    # A body that is refused leaves its key free.
    wanted = await _read(service, raw, request.state.body)
    if key is not None:
        await asyncio.to_thread(service.replays.note, client.name, key, digest)
    bind_contextvars(
        job=wanted.job_id, puzzle=wanted.asked.puzzle_id, game=wanted.asked.question.game
    )
    solve = await _solved(service, wanted, client, key, begun + wait_s, in_vain=in_vain)
    if is_over(solve):
        reply = answered(solve)
        # Of a board that the lake names another one may stand there tomorrow.
        if not wanted.names_board and service.views.has_final(wanted.job_id):
            service.replies.put(digest, reply)
        return reply
    headers = {"Location": solve["links"]["self"], "Retry-After": retry_after(solve)}
    return JSONResponse(solve, 202, headers=headers)


def retry_after(solve: dict[str, Any]) -> str:
    """Return in how many whole seconds to look again at a job that has no answer."""
    left_s = (solve["progress"] or {}).get("left_s") or 0.0
    return str(min(max(math.ceil(left_s), RETRY_AFTER_S), RETRY_AFTER_MAX_S))


async def _read(service: Service, raw: bytes, body: Mapping[str, Any]) -> SolveRequest:
    """Read what a body wants. Raises Problem for what is wrong with it."""
    if is_light(raw, body):
        # Sooner done than handed over: another thread would take turns with this one.
        return read_request(service.lake, service.settings, raw, body)
    return await asyncio.to_thread(read_request, service.lake, service.settings, raw, body)


async def _solved(
    service: Service,
    wanted: SolveRequest,
    client: Client,
    key: str | None,
    ends_at: float,
    *,
    in_vain: bool,
) -> dict[str, Any]:
    """Show a job: answered, or where it is when its client waits no longer (monotonic time)."""
    known = service.views.final(wanted.job_id)
    if known is not None:
        return known
    was_looked_for = service.may_know(wanted)
    if was_looked_for:
        known = await asyncio.to_thread(_known, service, wanted)
        if known is not None:
            return known
    # A small board that no night has brought is sooner solved than looked for.
    left_s = ends_at - time.monotonic()
    found, is_tried = None, in_vain
    if left_s > 0 and not in_vain:
        is_tried = True
        references = service.views.names.of(wanted.asked.puzzle_id)
        found = await service.small_boards.solve(wanted, references, left_s)
    if found is not None:
        kept: dict[str, Any] = from_json(_keep(service, found))
        return kept
    if not was_looked_for:
        known = await asyncio.to_thread(_known, service, wanted)
        if known is not None:
            return known
    expected_s = wanted.expected.seconds
    if is_tried and is_small(wanted, SECONDS):
        expected_s = max(expected_s, OVERTIME_S)
    await asyncio.to_thread(_begin, service, wanted, expected_s, client, key)
    solve = await service.until_over(wanted.job_id, max(0.0, ends_at - time.monotonic()))
    if solve is None:
        raise TransientError(f"job {wanted.job_id} is gone")
    return solve


def _keep(service: Service, found: Found) -> bytes:
    """Keep the answer to a small board, and return what its clients are told: the first, always."""
    known = service.views.final_json(found.job_id)
    if known is not None:
        return known
    count_rows(found.game, {found.status: 1}, states=found.states, kernel_ns=found.kernel_ns)
    service.views.keep_final(found.job_id, found.reply, found.asked_at, found.ended_at)
    service.small_boards.filing.add(found.job_id, found.filed)
    return found.reply


def _begin(
    service: Service, wanted: SolveRequest, expected_s: float, client: Client, key: str | None
) -> None:
    """Submit a question that the lake does not know the answer to."""
    job_id = wanted.job_id
    service.admission.check(job_id, expected_s)
    service.open_jobs.add(client, job_id)
    service.views.forget(job_id)
    try:
        submit_asked(
            service.lake,
            wanted.asked,
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
    service.submitted(job_id)


def _known(service: Service, wanted: SolveRequest) -> dict[str, Any] | None:
    """Show the answer that the lake has to a question, if it has one."""
    service.remember(wanted)
    if not is_answered(service.lake, wanted.job_id, service.settings.workers, wanted.budget):
        return None
    return service.views.look(wanted.job_id)


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
    begun = time.monotonic()
    found = await service.small_boards.solve_body(digest, data, wait_s)
    # The lake may know of a board that a night has brought.
    if found is None or service.views.names.of(found.puzzle_id):
        scope["state"][TRIED] = begun, found is None
        return None
    bind_contextvars(job=found.job_id, puzzle=found.puzzle_id, game=found.game)
    reply = _answered(found.job_id, _keep(service, found))
    service.replies.put(digest, reply)
    return reply


def answered(solve: dict[str, Any]) -> Response:
    """Answer with a job that has ended."""
    # A quarter of what json takes, which for most of these is more than all else of the answer.
    return _answered(solve["id"], to_json(solve))


def _answered(job_id: str, written: bytes) -> Response:
    headers = {"Content-Location": f"{API}/{job_id}"}
    return Response(written, headers=headers, media_type=JSONResponse.media_type)


@router.get("/solves/{job_id}", response_model=Solve)
async def get_solve(job_id: str, service: Here) -> Response:
    """Return where a job is."""
    solve = await asyncio.to_thread(found_solve, service, job_id)
    headers = {} if is_over(solve) else {"Retry-After": retry_after(solve)}
    return JSONResponse(solve, headers=headers)


def found_solve(service: Service, job_id: str) -> dict[str, Any]:
    """Look a job up. Raises Problem for one that there is not."""
    solve = service.look(job_id) if is_job_id(job_id) else None
    if solve is None:
        detail = f"no job {job_id!r:.60} was submitted, or its end was forgotten"
        raise Problem("no-such-solve", detail)
    return solve


@router.delete("/solves/{job_id}", response_model=Solve)
async def delete_solve(job_id: str, request: Request, service: Here) -> Response:
    """Want a job no more; it is cancelled unless another client wants it."""
    client: Client = request.state.client
    bind_contextvars(job=job_id)
    leaving = client_of(request)

    def leave() -> tuple[dict[str, Any], int]:
        found_solve(service, job_id)
        _, left = leave_job(
            service.lake,
            job_id,
            leaving,
            service.settings.workers,
            reason=door_of(request.headers),
        )
        service.open_jobs.left(client, job_id)
        service.views.forget(job_id)
        return found_solve(service, job_id), left

    solve, left = await asyncio.to_thread(leave)
    service.hub.moved(job_id)
    return left_by_one(solve, left)


def door_of(headers: Headers) -> str:
    """Return by which door a client comes that cancels something, as the reason of its end."""
    if headers.get("user-agent") == COMMAND_LINE:
        return BY_COMMAND
    # Browsers send an origin with everything that changes something.
    return "on the page" if "origin" in headers else "by a client over HTTP"


def client_for(client: Client, key: str | None) -> str:
    """Name a client by its request's key, or else its API key; empty without either."""
    if key:
        return client_name("idempotency", client.name, key)
    return client_name("key", client.name) if client.name else ""


def client_of(request: Request) -> str:
    """Name the client that leaves a job."""
    return client_for(request.state.client, request.headers.get(HEADER))


def left_by_one(value: dict[str, Any], left: int) -> Response:
    """Answer a client that leaves a job which so many others want."""
    if left:
        reason = f"left; {left} other {'client wants' if left == 1 else 'clients want'} it"
        return JSONResponse({**value, "reason": reason})
    return JSONResponse(value)

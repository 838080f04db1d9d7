"""Ask, look and leave: POST, GET and DELETE of solves."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from nightgrid.service.asking.asked import Asked, asked_of
from nightgrid.service.asking.asked import submit as submit_asked
from nightgrid.service.http.guard.access import Client
from nightgrid.service.http.guard.posted import posted_board, wrong
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.solves.models import Solve, SolveBody
from nightgrid.service.http.solves.preferences import wait_of
from nightgrid.service.http.solves.replays import HEADER
from nightgrid.service.http.solves.views import Subject, is_over, references_of
from nightgrid.service.http.state import Here, Service
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.ondemand.cancelling import leave_job
from nightgrid.workers.ondemand.record import is_job_id
from nightgrid.workers.ondemand.records import read_record
from nightgrid.workers.ondemand.wishes import wish_name

router = APIRouter(tags=["solves"])
RETRY_AFTER_S = 1
"""When a client that was not told of an end may look again."""
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
    raw = await request.body()
    client: Client = request.state.client
    wait_s = wait_of(request.headers.getlist("prefer"))
    digest = hashlib.sha256(raw).hexdigest()
    key = request.headers.get(HEADER)
    if key is not None:
        await asyncio.to_thread(service.replays.check, client.name, key, digest)
    job_id = service.bodies.get(digest)
    known = service.views.final(job_id) if job_id else None
    if known is not None:
        return answered(known)
    begun = await asyncio.to_thread(_begin, service, raw, client, key)
    if isinstance(begun, dict):
        if not _names_board(raw):
            service.bodies.put(digest, begun["id"])
        return answered(begun)
    solve = await service.until_over(begun, wait_s)
    if solve is None:
        raise Problem(404, "not-found", "There is no such solve", f"job {begun} is gone")
    if wait_s and is_over(solve):
        if service.views.final(begun) is not None and not _names_board(raw):
            service.bodies.put(digest, begun)
        return answered(solve)
    headers = {"Location": solve["links"]["self"], "Retry-After": str(RETRY_AFTER_S)}
    return JSONResponse(solve, 202, headers=headers)


def _begin(service: Service, raw: bytes, client: Client, key: str | None) -> dict[str, Any] | str:
    """Show what the lake knows of a question, or submit it and return its job."""
    body = read_body(raw)
    budget = _budget(service, body)
    board = posted_board(service.lake, json.loads(raw), service.settings.limits)
    asked = asked_of(board.bound, board.puzzle, board.ask)
    if service.views.subject(asked.job_id) is None:
        service.views.remember(asked.job_id, _subject(service, asked))
    known = service.views.look(asked.job_id)
    if (
        known is not None
        and known["state"] == "done"
        and known["answer"]["status"]
        in (
            "solved",
            "unsolvable",
            "invalid",
        )
    ):
        return known
    service.admission.check(client)
    service.open_jobs.add(client, asked.job_id)
    service.views.forget(asked.job_id)
    wish = wish_name("idempotency", client.name, key) if key else ""
    if not wish and client.name:
        wish = wish_name("key", client.name)
    deadline_at = None if body.deadline_s is None else time.time() + body.deadline_s
    try:
        submit_asked(
            service.lake,
            asked,
            service.settings.workers,
            budget=budget,
            deadline_at=deadline_at,
            wish=wish,
        )
    except TransientError:
        # Without a server it is accepted all the same once the lake has it: the keeper sends it.
        if read_record(service.lake, asked.job_id) is None:
            raise
    service.submitted(asked.job_id)
    return asked.job_id


def read_body(raw: bytes) -> SolveBody:
    """Read the body of a question. Raises RequestValidationError that names the fields."""
    try:
        return SolveBody.model_validate_json(raw)
    except ValidationError as error:
        found = [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
        raise RequestValidationError(found) from error


def _names_board(raw: bytes) -> bool:
    """Tell whether a body names a board of the lake: another one may stand there tomorrow."""
    return json.loads(raw).get("id") is not None


def _budget(service: Service, body: SolveBody) -> Budget | None:
    """Read the budget of a question. Raises Problem for more than the service allows."""
    if body.budget is None:
        return None
    limits = service.settings.workers.budget.limits
    given = body.budget.model_dump(exclude_none=True)
    for name, value in given.items():
        if value > limits[name]:
            raise wrong(f"/budget/{name}", f"is {value:g}; expected at most {limits[name]:g}")
    return Budget(**limits | given)


def _subject(service: Service, asked: Asked) -> Subject:
    return Subject(
        question=asked.question,
        puzzle_id=asked.puzzle_id,
        puzzle=asked.bound.puzzle_to_json(asked.puzzle),
        references=references_of(service.lake, asked.puzzle_id),
    )


def answered(solve: dict[str, Any]) -> Response:
    """Answer with a job that has ended."""
    return JSONResponse(solve, headers={"Content-Location": solve["links"]["self"]})


@router.get("/solves/{job_id}", response_model=Solve)
async def get_solve(job_id: str, service: Here) -> Response:
    """Tell where a job is."""
    solve = await asyncio.to_thread(found_solve, service, job_id)
    headers = {} if is_over(solve) else {"Retry-After": str(RETRY_AFTER_S)}
    return JSONResponse(solve, headers=headers)


def found_solve(service: Service, job_id: str) -> dict[str, Any]:
    """Look a job up. Raises Problem for one that there is not."""
    solve = service.look(job_id) if is_job_id(job_id) else None
    if solve is None:
        detail = f"no job {job_id!r:.60} was submitted, or its end was forgotten"
        raise Problem(404, "no-such-solve", "There is no such solve", detail)
    return solve


@router.delete("/solves/{job_id}", response_model=Solve)
async def delete_solve(job_id: str, request: Request, service: Here) -> Response:
    """Want a job no more; it is cancelled unless another client wants it."""
    client: Client = request.state.client
    key = request.headers.get(HEADER)
    wish = wish_name("idempotency", client.name, key) if key else wish_name("key", client.name)

    def leave() -> tuple[dict[str, Any], int]:
        found_solve(service, job_id)
        _, left = leave_job(service.lake, job_id, wish, service.settings.workers)
        service.views.forget(job_id)
        return found_solve(service, job_id), left

    solve, left = await asyncio.to_thread(leave)
    service.hub.moved(job_id)
    if left:
        reason = f"left; {left} other {'wish' if left == 1 else 'wishes'} for it"
        return JSONResponse({**solve, "reason": reason})
    return JSONResponse(solve)

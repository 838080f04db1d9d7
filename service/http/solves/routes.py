"""Submit, read, list and leave solves: POST, GET and DELETE."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.datastructures import Headers
from structlog.contextvars import bind_contextvars

from nightgrid.service.asking import COMMAND_LINE, Asked
from nightgrid.service.http.guard.keys import Key
from nightgrid.service.http.lake.parameters import Parameters
from nightgrid.service.http.posted_board import SolveBody, budget_of, posted_board
from nightgrid.service.http.problems import HEX_ID, Problem
from nightgrid.service.http.solves.admission import check_admission, client_for
from nightgrid.service.http.solves.at_once import TRIED, answered, wait_of
from nightgrid.service.http.solves.models import OpenSolves, Solve
from nightgrid.service.http.solves.small_boards import OVERTIME_S
from nightgrid.service.http.solves.solve_json import is_over
from nightgrid.service.http.state import Here, Service
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.canonical import is_id
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.ondemand.results import is_answered
from nightgrid.workers.ondemand.submissions import has_submission, open_jobs
from nightgrid.workers.ondemand.submitting import BY_COMMAND, leave_job, submit

router = APIRouter(tags=["solves"])
RETRY_AFTER_S, RETRY_AFTER_MAX_S = 1, 30
"""Bounds of Retry-After for unfinished jobs, which is otherwise the expected rest."""
LOOK_MIN_S, LOOK_GROWTH, LOOK_MAX_S = 0.02, 1.02, 0.5
"""Pauses between two checks of a job that a client waits for: some 2 % of the time waited."""
Prefer = Annotated[
    str,
    Header(
        description="`wait=N` waits up to N seconds for the answer, `respond-async` not at all."
    ),
]


@router.post(
    "/solves",
    response_model=Solve,
    responses={202: {"model": Solve, "description": "Not answered yet; Location has the job."}},
)
async def post_solve(
    body: SolveBody, request: Request, service: Here, prefer: Prefer = ""
) -> Response:
    """Submit a question about a board; if the lake has the answer, it is returned at once."""
    ends_at = time.monotonic() + wait_of(prefer)
    lake, settings, key = service.lake, service.settings.workers, request.state.key
    board = await asyncio.to_thread(posted_board, lake, body, settings)
    asked, budget = board.asked, budget_of(body, settings)
    bind_contextvars(job=asked.job_id, puzzle=asked.puzzle_id, game=asked.question.game)
    solve = await asyncio.to_thread(_known, service, asked.job_id, budget)
    if solve is None:
        is_tried = getattr(request.state, TRIED, False)
        expected_s = max(board.expected_s, OVERTIME_S if is_tried else 0.0)
        await asyncio.to_thread(_begin, service, body, asked, budget, expected_s, key)
        solve = await _until_over(service, asked.job_id, ends_at)
        if solve is None:
            raise TransientError(f"job {asked.job_id} is gone")
    if is_over(solve):
        # The board of a reference may be replaced tomorrow.
        return answered(service, None if body.id is not None else await request.body(), solve)
    headers = {"Location": solve["links"]["self"], "Retry-After": retry_after(solve)}
    return JSONResponse(solve, 202, headers=headers)


async def _until_over(service: Service, job_id: str, ends_at: float) -> dict[str, Any] | None:
    """Wait for the end of a job, at most until `ends_at`; return the job."""
    pause_s = LOOK_MIN_S
    while (left_s := ends_at - time.monotonic()) > 0 and not service.is_stopping():
        if not await asyncio.to_thread(service.views.is_open, job_id):
            break
        await asyncio.sleep(min(pause_s, left_s))
        pause_s = min(pause_s * LOOK_GROWTH, LOOK_MAX_S)
    return await asyncio.to_thread(service.views.look, job_id)


def retry_after(solve: dict[str, Any]) -> str:
    """Return the Retry-After, in whole seconds, of a job without an answer."""
    left_s = (solve["progress"] or {}).get("left_s") or 0.0
    return str(min(max(math.ceil(left_s), RETRY_AFTER_S), RETRY_AFTER_MAX_S))


def _known(service: Service, job_id: str, budget: Budget | None) -> dict[str, Any] | None:
    """Return the existing answer to a question, if there is one."""
    is_known = job_id in service.small_boards.unfiled or is_answered(
        service.lake, job_id, service.settings.workers, budget
    )
    return service.views.look(job_id) if is_known else None


def _begin(
    service: Service,
    body: SolveBody,
    asked: Asked,
    budget: Budget | None,
    expected_s: float,
    key: Key | None,
) -> None:
    """Submit a question that the lake has no answer to."""
    job_id, settings = asked.job_id, service.settings.workers
    check_admission(service.lake, settings, key, job_id, expected_s)
    service.views.note_times(job_id, None, None)
    try:
        submit(
            service.lake,
            asked.bound,
            asked.puzzle,
            asked.ask,
            settings,
            budget=budget,
            deadline_at=None if body.deadline_s is None else time.time() + body.deadline_s,
            client=client_for(key),
            expected_s=expected_s,
        )
    except TransientError:
        # Without a server it is accepted too, once it is in the lake.
        if not has_submission(service.lake, job_id):
            raise


class About(Parameters):
    """Which jobs to list."""

    puzzle_id: str = Field(pattern=HEX_ID, description="Their puzzle.")


@router.get("/solves", response_model=OpenSolves, summary="List the open jobs of a puzzle")
def get_open_solves(asked: Annotated[About, Query()], service: Here) -> Response:
    """List the waiting and running jobs about a puzzle by id."""
    wanted = open_jobs(service.lake).wanted
    jobs = sorted(job for job, each in wanted.items() if each.last.puzzle_id == asked.puzzle_id)
    found = (solve for solve in map(service.views.look, jobs) if solve and not is_over(solve))
    return JSONResponse({"solves": list(found)})


@router.get("/solves/{job_id}", response_model=Solve)
def get_solve(job_id: str, service: Here) -> Response:
    """Return a job."""
    solve = found_solve(service, job_id)
    headers = {} if is_over(solve) else {"Retry-After": retry_after(solve)}
    return JSONResponse(solve, headers=headers)


def found_solve(service: Service, job_id: str) -> dict[str, Any]:
    """Look a job up. Raises Problem for an unknown one."""
    solve = service.views.look(job_id) if is_id(job_id) else None
    if solve is None:
        detail = f"no job {job_id!r:.60} was submitted, or its end was forgotten"
        raise Problem("no-such-solve", detail)
    return solve


@router.delete("/solves/{job_id}", response_model=Solve)
async def delete_solve(job_id: str, request: Request, service: Here) -> Response:
    """Leave a job, which is cancelled unless another client wants it."""
    leaving = client_for(request.state.key)
    bind_contextvars(job=job_id)

    def leave() -> dict[str, Any]:
        found_solve(service, job_id)
        reason = door_of(request.headers)
        _, left = leave_job(service.lake, job_id, leaving, reason=reason)
        service.views.note_times(job_id, None, None)
        solve = found_solve(service, job_id)
        if left:
            wants = "client wants" if left == 1 else "clients want"
            return {**solve, "reason": f"left; {left} other {wants} it"}
        return solve

    return JSONResponse(await asyncio.to_thread(leave))


def door_of(headers: Headers) -> str:
    """Return the interface of a client that cancels something, as the reason."""
    if headers.get("user-agent") == COMMAND_LINE:
        return BY_COMMAND
    # Browsers send an Origin with every request that changes something.
    return "on the page" if "origin" in headers else "by a client over HTTP"

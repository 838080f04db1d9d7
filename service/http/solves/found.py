"""Progress and results of a job: events, solutions, and pictures of them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import solution_tables
from nightgrid.service.http.lake.parameters import Page, Parameters
from nightgrid.service.http.lake.pictures import SvgResponse, drawn
from nightgrid.service.http.problems import Problem, wrong
from nightgrid.service.http.solves.models import Solutions
from nightgrid.service.http.solves.routes import found_solve
from nightgrid.service.http.solves.solve_json import is_over
from nightgrid.service.http.state import Here, Service
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.registry import game
from nightgrid.workers.ondemand.results import find_row

router = APIRouter(tags=["solves"])
FILED_S = 5.0
PING_S = 15
EVENTS_S = 0.5
"""Pause between two checks of a job whose events are streamed."""
RETRY_MS = 1000
"""Reconnection delay of a client that lost its connection."""
END = "end"
"""The last event, and its id."""
NDJSON = "application/x-ndjson"


class WhichSolution(Parameters):
    """Which solution to draw."""

    solution: int | None = Field(default=None, ge=0, le=10**15)


@router.get(
    "/solves/{job_id}/events",
    response_class=EventSourceResponse,
    responses={
        200: {"content": {"text/event-stream": {}}},
        204: {"description": "The client has received the last event and need not reconnect."},
    },
)
async def get_events(job_id: str, request: Request, service: Here) -> Response:
    """Stream the events of a job: `state`, `progress` and finally `end`.

    A client that reconnects first gets the current state.
    """
    if request.headers.get("last-event-id") == END:
        # An EventSource reconnects after any other answer.
        return Response(status_code=204)
    await asyncio.to_thread(found_solve, service, job_id)
    events = _events(service, job_id)
    return EventSourceResponse(events, ping=PING_S, headers={"X-Accel-Buffering": "no"})


async def _events(service: Service, job_id: str) -> AsyncIterator[ServerSentEvent]:
    before: dict[str, Any] = {}
    while not service.is_stopping():
        with suppress(TransientError):  # a lake that does not answer is asked again
            now = await asyncio.to_thread(service.views.look, job_id)
            if now is None:
                return
            for name, value in news(before, now):
                yield ServerSentEvent(
                    data=json.dumps(value, separators=(",", ":")),
                    event=name,
                    id=END if name == END else str(time.time_ns() // 1000),
                    retry=RETRY_MS,
                )
            if is_over(now):
                return
            before = now
        await asyncio.sleep(EVENTS_S)


def news(before: dict[str, Any], now: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the events between two states of a job."""
    if is_over(now):
        yield END, now
        return
    if any(before.get(key) != now[key] for key in ("state", "place")):
        yield "state", now
    if now["progress"] and before.get("progress") != now["progress"]:
        yield "progress", now["progress"]


@router.get(
    "/solves/{job_id}/solutions",
    response_model=Solutions,
    responses={200: {"content": {NDJSON: {}}}},
)
def get_solutions(
    job_id: str,
    asked: Annotated[Page, Query()],
    service: Here,
    accept: Annotated[str, Header(include_in_schema=False)] = "*/*",
) -> Response:
    """List the solutions of a job in canonical order, or stream all of them as NDJSON."""
    solve = found_solve(service, job_id)
    row = _row(service, solve)
    if NDJSON in accept:
        lines = (f"{text}\n" for text in _texts(service.lake, row, asked.offset))
        return StreamingResponse(lines, media_type=NDJSON)
    total = solve["answer"]["solutions_stored"]
    texts = islice(_texts(service.lake, row, asked.offset), asked.limit)
    value = {
        "total": str(total),
        "offset": asked.offset,
        "limit": asked.limit,
        "solutions": [json.loads(text) for text in texts],
        "next": asked.next(solve["links"]["solutions"], total),
    }
    return JSONResponse(value)


@router.get("/solves/{job_id}/picture.svg", response_class=SvgResponse)
def get_picture(job_id: str, asked: Annotated[WhichSolution, Query()], service: Here) -> Response:
    """Draw the board of a job, with one of its solutions."""
    solve, solution = found_solve(service, job_id), asked.solution
    if solve["puzzle"] is None:
        raise Problem("no-such-board", f"the lake does not have puzzle {solve['puzzle_id']}")
    puzzle = game(solve["game"]).puzzle_from_json(solve["puzzle"])
    shown = None
    if solution is not None:
        text = next(_texts(service.lake, _row(service, solve), solution), None)
        if text is None:
            stored = solve["answer"]["solutions_stored"]
            detail = f"there is no solution {solution}; {stored:,} are stored"
            raise wrong("?solution", detail, "no-such-solution")
        shown = game(solve["game"]).solution_from_json(json.loads(text))
    title = solve["references"][0] if solve["references"] else None
    return SvgResponse(drawn(solve["game"], puzzle, title, shown))


def _row(service: Service, solve: dict[str, Any]) -> dict[str, Any]:
    """Return the row of an answer. Raises Problem for a job without an answer."""
    row = None
    if solve["answer"] is not None:
        # An answer of the service itself may not be stored yet.
        service.small_boards.wait_until_filed(solve["id"], FILED_S)
        row = find_row(service.lake, solve["id"])
    if row is None:
        detail = f"job {solve['id']} is {solve['state']}, without an answer"
        raise Problem("not-answered", detail)
    return row


def _texts(lake: Lake, row: dict[str, Any], offset: int) -> Iterator[str]:
    """Read solutions as JSON texts from a rank on, some thousand at a time."""
    for table in solution_tables(lake, row, offset):
        yield from table.column("solution").to_pylist()

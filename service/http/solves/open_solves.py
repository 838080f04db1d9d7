"""GET /v1/solves: the jobs about a puzzle that are open, for clients that know no job id."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response
from pydantic import Field

from nightgrid.service.http.field_faults import HEX_ID
from nightgrid.service.http.lake.parameters import Parameters
from nightgrid.service.http.solves.models import OpenSolves
from nightgrid.service.http.solves.solve_json import API, is_over
from nightgrid.service.http.state import Here
from nightgrid.workers.ondemand.submissions import open_jobs

router = APIRouter(tags=["solves"])
SHOWN_MAX = 100
"""Jobs of one page."""


class About(Parameters):
    """Which jobs are listed."""

    puzzle_id: str = Field(pattern=HEX_ID, description="The puzzle that they are about.")
    after: str | None = Field(
        default=None,
        pattern=HEX_ID,
        description="Jobs whose ids come after this one, as `next` of a page says.",
    )


@router.get("/solves", response_model=OpenSolves, summary="List the open jobs of a puzzle")
def get_open_solves(asked: Annotated[About, Query()], service: Here) -> Response:
    """List the jobs about a puzzle that wait or are worked, by their ids, 100 on a page."""
    wanted = open_jobs(service.lake).wanted
    jobs = sorted(job for job, each in wanted.items() if each.puzzle_id == asked.puzzle_id)
    left = (job for job in jobs if job > (asked.after or ""))
    found = (solve for solve in map(service.look, left) if solve and not is_over(solve))
    solves = list(islice(found, SHOWN_MAX))
    # The next page begins after the last job of this one, whatever ends or comes meanwhile.
    more = None
    if next(found, None) is not None:
        place = {"puzzle_id": asked.puzzle_id, "after": solves[-1]["id"]}
        more = f"{API}?{urlencode(place)}"
    value: dict[str, Any] = {"solves": solves, "next": more}
    return JSONResponse(value)

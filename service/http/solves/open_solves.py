"""GET /v1/solves: the jobs about a puzzle that are open, for clients that know no job id."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response
from pydantic import Field

from nightgrid.service.http.field_faults import HEX_ID
from nightgrid.service.http.lake.parameters import Parameters
from nightgrid.service.http.solves.models import OpenSolves
from nightgrid.service.http.solves.views import is_over
from nightgrid.service.http.state import Here

router = APIRouter(tags=["solves"])
SHOWN_MAX = 100


class About(Parameters):
    """Which jobs are listed."""

    puzzle_id: str = Field(pattern=HEX_ID, description="The puzzle that they are about.")


@router.get("/solves", response_model=OpenSolves, summary="List the open jobs of a puzzle")
def get_open_solves(asked: Annotated[About, Query()], service: Here) -> Response:
    """List the jobs about a puzzle that wait or are worked, at most 100 of them."""
    jobs = service.puzzles_of_jobs.jobs_about(asked.puzzle_id)
    solves = (solve for solve in map(service.look, jobs) if solve and not is_over(solve))
    value: dict[str, Any] = {"solves": list(islice(solves, SHOWN_MAX))}
    return JSONResponse(value)

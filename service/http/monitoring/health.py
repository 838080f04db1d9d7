"""GET /healthz and /readyz: whether the process lives, and whether a solve would be worked now."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from nightgrid.archive.lake.location import is_missing
from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.problems import PROBLEM_TYPE, Problem
from nightgrid.service.http.state import Here
from nightgrid.solvers.errors import NightgridError

router = APIRouter(tags=["health"])
RETRY_AFTER_S = 2


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Ready(BaseModel):
    """What a solve needs."""

    status: Literal["ready"] = "ready"
    lake: bool = Field(description="The lake answers.")
    server: bool = Field(description="The Redis server answers.")
    workers: bool = Field(description="A living worker takes on-demand solves.")


@router.get("/healthz")
async def healthz() -> Health:
    """Tell that the process lives; it asks neither lake nor server."""
    return Health()


@router.get(
    "/readyz",
    summary="Tell whether solves would be worked",
    response_model=Ready,
    responses={
        503: {
            "description": "Something is missing: the names of what is are false.",
            "content": {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
    },
)
def readyz(service: Here) -> Response:
    """Tell whether the lake, the Redis server and a worker for on-demand solves are there."""
    found = {"lake": _answers(service.lake), "server": False, "workers": False}
    if found["lake"]:
        snapshot = service.queue.get()
        found |= {"server": snapshot.alive is not None, "workers": snapshot.serves}
    if all(found.values()):
        return JSONResponse(Ready(lake=True, server=True, workers=True).model_dump())
    missing = [name for name, is_there in found.items() if not is_there]
    value = Problem("not-ready", f"not there yet: {', '.join(missing)}").to_json()
    headers = {"Retry-After": str(RETRY_AFTER_S)}
    return JSONResponse(value | found, 503, headers=headers, media_type=PROBLEM_TYPE)


def _answers(lake: Lake) -> bool:
    try:
        return not is_missing(lake.url) and lake.list("lake.json") is not None
    except NightgridError:
        return False

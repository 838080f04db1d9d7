"""GET /report: the report that the last night has written."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.flows.night.page import REPORT_PATH
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.state import Here
from nightgrid.service.report.style import policy_of

router = APIRouter(tags=["report"])


@router.get(
    "/report",
    summary="Read the report of the last night",
    response_class=HTMLResponse,
    responses={200: {"description": "A page for people.", "content": {"text/html": {}}}},
)
def report(service: Here) -> Response:
    """Give the report of the last night: an HTML page that loads nothing and runs no script."""
    try:
        page = service.lake.read_bytes(REPORT_PATH).decode("utf-8", "replace")
    except MissingFileError as error:
        raise Problem(
            404, "not-found", "Not Found", "no night has written a report; nightgrid report does"
        ) from error
    headers = {"Content-Security-Policy": policy_of(page), "Cache-Control": "no-cache"}
    return HTMLResponse(page, headers=headers)

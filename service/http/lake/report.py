"""GET /report: the report that the last night has written."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.flows.night.page import REPORT_PATH
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.state import Here
from nightgrid.service.report.page import policy_of
from nightgrid.service.web.files import files

router = APIRouter(tags=["report"])
HTML = "text/html"
NO_REPORT = "no-report.html"
"""The file of the page that is shown where there is no report."""


@router.get(
    "/report",
    summary="Read the report of the last night",
    response_class=HTMLResponse,
    responses={200: {"description": "A page for people.", "content": {"text/html": {}}}},
)
def report(request: Request, service: Here) -> Response:
    """Give the report of the last night: an HTML page that loads nothing and runs no script.

    Without one a browser gets a page that says how a report is made, with status 404.
    """
    try:
        page = service.lake.read_bytes(REPORT_PATH).decode("utf-8", "replace")
    except MissingFileError as error:
        if HTML in request.headers.get("accept", ""):
            return HTMLResponse(files()[NO_REPORT].body, 404, {"Vary": "Accept"})
        raise Problem(
            "not-found", "no night has written a report; nightgrid report does"
        ) from error
    headers = {"Content-Security-Policy": policy_of(page), "Cache-Control": "no-cache"}
    return HTMLResponse(page, headers=headers)

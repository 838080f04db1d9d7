"""GET /v1/runs: runs of nights, counts and large jobs. GET /report: the last night's report."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, HTMLResponse, Response
from pydantic import BaseModel, Field

from nightgrid.archive.lake.faults import MissingFileError, NotInLakeError
from nightgrid.archive.lake.json_files import read_hint
from nightgrid.archive.lake.storage import Lake
from nightgrid.flows.night.report import REPORT_PATH
from nightgrid.service.http.guard.access import KEY
from nightgrid.service.http.lake.parameters import Page
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.state import Here
from nightgrid.service.web.files import FOLDER
from nightgrid.solvers.canonical import is_id
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.runs.manifest import has_run, open_run, read_done
from nightgrid.workers.runs.run_files import done_chunks
from nightgrid.workers.runs.status import cancel_run, is_cancelled

router = APIRouter(tags=["runs"])
report_router = APIRouter(tags=["report"])
NO_FRAME = "frame-ancestors 'none'"
"""The policies of a report that it cannot state itself; the others are in its head."""
NO_REPORT = "no-report.html"
"""The page shown if there is no report."""
RUNS = "runs"
_FOLDER = f"{RUNS}/run="


class RunRow(BaseModel):
    """A run."""

    run_id: str
    state: str = Field(description="open, done, cancelled or damaged.")
    game: str | None = None
    ask: str | None = None
    rules: str | None = None
    jobs: int | None = Field(default=None, description="Its puzzles, including known ones.")
    chunks_done: int | None = None
    chunks_total: int | None = None
    created_at: str | None = None
    finished_at: str | None = None
    statuses: dict[str, int] = Field(default={}, description="Jobs of a finished run, by status.")
    reason: str = Field(default="", description="What is wrong with a damaged one.")


class Runs(BaseModel):
    """A page of the runs, by id."""

    total: int
    runs: list[RunRow]
    next: str | None


@router.get("/runs", summary="List runs")
def runs(asked: Annotated[Page, Query()], service: Here) -> Runs:
    """List the runs that the lake still has, with the progress of each."""
    folders = [path for path in service.lake.folders(RUNS) if path.startswith(_FOLDER)]
    shown = folders[asked.offset : asked.offset + asked.limit]
    return Runs(
        total=len(folders),
        runs=[_row(service.lake, path.removeprefix(_FOLDER)) for path in shown],
        next=asked.next("/v1/runs", len(folders)),
    )


@router.delete("/runs/{run_id}", summary="Cancel a run")
def delete_run(run_id: str, service: Here) -> RunRow:
    """Cancel an open run; its chunk results are kept, and it can be resumed."""
    if not is_id(run_id) or not has_run(service.lake, run_id):
        raise Problem("not-found", f"there is no run {run_id!r:.60}")
    cancel_run(service.lake, run_id)
    return _row(service.lake, run_id)


def _row(lake: Lake, run_id: str) -> RunRow:
    row = RunRow(run_id=run_id, state="damaged")
    try:
        run = open_run(lake, run_id)
        done = read_done(lake, run_id)
    except PermanentError as error:
        row.reason = "its plan in the lake is damaged"
        if isinstance(error, NotInLakeError):
            row.reason = error.public
        return row
    row.game, row.ask = run.question.game, str(run.question.ask)
    row.rules, row.jobs = run.question.rules, run.job_count + run.answered_count
    if done is not None:
        row.state, row.created_at = "done", done["created_at"]
        row.chunks_total = row.chunks_done = done.get("chunks", 0)
        row.finished_at, row.statuses = done["finished_at"], done["statuses"]
        return row
    row.created_at = read_hint(
        lake, f"{_FOLDER}{run_id}/plan.json", lambda plan: plan["created_at"]
    )
    row.chunks_total = len(run.chunks())
    row.chunks_done = len(done_chunks(lake, run_id))
    row.state = "cancelled" if is_cancelled(lake, run_id) else "open"
    return row


@report_router.get(
    "/report",
    summary="Read the report of the last night",
    response_class=HTMLResponse,
    dependencies=[KEY],
)
def report(request: Request, service: Here) -> Response:
    """Return the report of the last night: a self-contained HTML page without scripts.

    If there is none, a browser gets a page that says how to create a report, with status 404.
    """
    try:
        page = service.lake.read_bytes(REPORT_PATH).decode("utf-8", "replace")
    except MissingFileError as error:
        if "text/html" in request.headers.get("accept", ""):
            return FileResponse(FOLDER / NO_REPORT, 404, {"Vary": "Accept"})
        raise Problem(
            "not-found", "no night has written a report; nightgrid report writes one"
        ) from error
    headers = {"Content-Security-Policy": NO_FRAME, "Cache-Control": "no-cache"}
    return HTMLResponse(page, headers=headers)

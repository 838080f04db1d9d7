"""The tasks: each reads its message, has the work done elsewhere, and tells that it is done."""

from __future__ import annotations

from typing import Any

from structlog.contextvars import bind_contextvars

from nightgrid.workers.app import SOLVE_ONDEMAND, WORK_CHUNK, app
from nightgrid.workers.broker.notices.announcements import Announcement, Event
from nightgrid.workers.broker.notices.job_notifications import notify_of_job
from nightgrid.workers.celery_worker.base_task import NightgridTask
from nightgrid.workers.celery_worker.this_worker import (
    SETTINGS,
    WORKER_ID,
    connections,
    notify_driver,
)
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.logs import get_logger
from nightgrid.workers.ondemand.task.solving import solve_message
from nightgrid.workers.runs.run_files import ChunkRef

log = get_logger("nightgrid.worker")


@app.task(base=NightgridTask, name=WORK_CHUNK)  # type: ignore[untyped-decorator]
def work_chunk(ref: dict[str, Any], driver: str) -> dict[str, Any]:
    """Solve one chunk of a run, and announce it to the driver process that sent it."""
    chunk = ChunkRef(**ref)
    bind_contextvars(run=chunk.run_id, chunk=chunk.name)
    lake, _, watcher = connections()
    report = solve_chunk(lake, chunk, SETTINGS, WORKER_ID, watcher)
    if report.state != "stale":
        event: Event = "returned" if report.state == "returned" else "done"
        notify_driver(driver, Announcement(event=event, ref=chunk))
    return {"state": report.state, "rows": report.rows}


@app.task(  # type: ignore[untyped-decorator]
    base=NightgridTask,
    name=SOLVE_ONDEMAND,
    # A child that dies leaves the job to another; the attempts kept in the lake end that.
    retry_on_worker_lost=True,
    default_retry_delay=1,
    max_retries=10,
)
def solve_ondemand(message: dict[str, Any]) -> dict[str, Any]:
    """Solve one puzzle that came with the message."""
    bind_contextvars(job=message.get("job_id"))
    lake, client, watcher = connections()
    report = solve_message(lake, message, SETTINGS, WORKER_ID, watcher)
    notify_of_job(client, SETTINGS, report["job_id"])
    return report

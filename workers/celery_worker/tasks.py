"""The tasks: each reads its message, has the work done elsewhere, and tells that it is done."""

from __future__ import annotations

import time
from typing import Any

from celery import Task
from structlog.contextvars import bind_contextvars

from nightgrid.workers.app import RANK_BOARDS, SOLVE_ONDEMAND, WORK_CHUNK, app
from nightgrid.workers.broker.notices.announcements import Announcement, Event
from nightgrid.workers.broker.notices.job_notifications import notify_of_job
from nightgrid.workers.broker.queues import ABOUT_HEADER
from nightgrid.workers.celery_worker.base_task import CANNOT_WORK, NightgridTask, header
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

RANK_SECONDS = 540.0
"""Hard limit of a task that ranks boards."""


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


@app.task(  # type: ignore[untyped-decorator]
    base=NightgridTask,
    name=RANK_BOARDS,
    bind=True,
    # A child that dies leaves the boards to another; the attempts kept in the lake end that.
    retry_on_worker_lost=True,
    default_retry_delay=1,
    max_retries=10,
    # The first board of a process opens the vocabulary and the model, beside whatever else the
    # machine does. The search itself has its own budget.
    time_limit=RANK_SECONDS,
)
def rank_boards(task: Task, message: dict[str, Any]) -> dict[str, Any]:
    """Rank the boards of a message, each of which is filed at once."""
    from nightgrid.workers.ranking.work import rank_message

    lake, client, watcher = connections()
    about = str(header(task.request, ABOUT_HEADER) or "")
    try:
        report = rank_message(lake, message, SETTINGS, WORKER_ID, about, watcher)
        notify_of_job(client, SETTINGS, about)
        return report
    except CANNOT_WORK:
        # The driver sends it again: another worker may take it meanwhile.
        time.sleep(SETTINGS.tuning.refusal_pause_seconds)
        raise

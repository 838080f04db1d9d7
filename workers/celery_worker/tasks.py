"""The tasks: each reads its message, has the work done elsewhere, and tells that it is done."""

from __future__ import annotations

from typing import Any

from celery import Task
from structlog.contextvars import bind_contextvars

from nightgrid.workers.app import WORK_CHUNK, app
from nightgrid.workers.broker.notices.announcements import Announcement, Event
from nightgrid.workers.broker.queues import INTERACTIVE
from nightgrid.workers.celery_worker.base_task import NightgridTask
from nightgrid.workers.celery_worker.this_worker import (
    SETTINGS,
    WORKER_ID,
    connections,
    notify_driver,
)
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.logs import get_logger
from nightgrid.workers.runs.run_files import ChunkRef

log = get_logger("nightgrid.worker")


@app.task(base=NightgridTask, name=WORK_CHUNK, bind=True)  # type: ignore[untyped-decorator]
def work_chunk(task: Task, ref: dict[str, Any], driver: str) -> dict[str, Any]:
    """Solve one chunk of a run, and announce it to the driver process that sent it."""
    chunk = ChunkRef(**ref)
    bind_contextvars(run=chunk.run_id, chunk=chunk.name)
    lake, _, watcher = connections()
    # What came through that queue keeps others waiting.
    small = (task.request.delivery_info or {}).get("routing_key") == INTERACTIVE
    report = solve_chunk(lake, chunk, SETTINGS, WORKER_ID, watcher, small=small)
    if report.state != "stale":
        event: Event = "returned" if report.state == "returned" else "done"
        notify_driver(driver, Announcement(event=event, ref=chunk))
    return {"state": report.state, "rows": report.rows}

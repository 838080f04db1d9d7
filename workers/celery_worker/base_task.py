"""The base class of all tasks: log context, traces, metrics, retries of what is transient."""

from __future__ import annotations

import time
from typing import Any

from celery import Task
from structlog.contextvars import bind_contextvars, clear_contextvars

from nightgrid.archive.lake.faults import NoRoomError
from nightgrid.solvers.errors import RefusalError, TransientError
from nightgrid.workers.broker.heartbeat_thread import AcknowledgedRequest
from nightgrid.workers.broker.queues import LOG_HEADER
from nightgrid.workers.celery_worker.this_worker import WORKER_ID
from nightgrid.workers.logs import bind_carried, get_logger
from nightgrid.workers.metrics import TASK_SECONDS, TASKS
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.tracing import describe_span

log = get_logger("nightgrid.worker")

CANNOT_WORK = (RefusalError, NoRoomError)
"""What keeps this worker from working, and may not keep another one: each may have a disk, or a
quota, of its own."""
TASK_PREFIX = "nightgrid."
"""Begins the names of tasks; metrics leave it out."""


class NightgridTask(Task):  # type: ignore[misc]
    """Base of every task: TransientError is retried here, anything else goes to the driver.

    What is in CANNOT_WORK goes there as well: this process would refuse again.
    """

    abstract = True
    Request = AcknowledgedRequest
    autoretry_for = (TransientError,)
    dont_autoretry_for = CANNOT_WORK
    max_retries = 2
    retry_backoff = 1
    retry_backoff_max = 10
    retry_jitter = True

    def before_start(self, task_id: str, args: tuple[Any, ...], *_: Any) -> None:
        """Bind what every log line of the task shall carry."""
        describe_span(**_ids(args))
        clear_contextvars()
        bind_carried(header(self.request, LOG_HEADER))
        bind_contextvars(
            task=self.name,
            task_id=task_id,
            retries=self.request.retries,
            worker=WORKER_ID,
        )
        self.request.begun = time.monotonic()

    def after_return(self, status: str, retval: Any, *_: Any) -> None:
        """Log how the task ended, and unbind."""
        begun = getattr(self.request, "begun", None)
        seconds = None if begun is None else round(time.monotonic() - begun, 3)
        detail = retval if status == "SUCCESS" else repr(retval)
        log.info("task ended", status=status, seconds=seconds, detail=detail)
        short = self.name.removeprefix(TASK_PREFIX)
        TASKS.labels(short, status.lower()).inc()
        TASK_SECONDS.labels(short).observe(seconds or 0.0)
        clear_contextvars()


def header(request: Any, name: str) -> Any:
    """Read a header of ours of the message that a task came with."""
    return request.get(name) or (request.get("headers") or {}).get(name)


def _ids(arguments: tuple[Any, ...]) -> dict[str, str | None]:
    """Name what a task is about: run and chunk, or job."""
    told = arguments[0] if arguments and isinstance(arguments[0], dict) else {}
    run, job = told.get("run_id"), told.get("job_id")
    chunk = ChunkRef(**told).name if run else None
    return {"run": run, "chunk": chunk, "job": job}

"""The task that solves, `work_chunk`: its log and metrics, its retries, and how failures are
reported.

Celery retries transient errors. The outcome of a chunk is announced to the driver that sent it.
"""

from __future__ import annotations

import contextlib
import re
import time
from typing import Any

import redis
from celery import Task, signals
from celery.exceptions import TimeLimitExceeded
from structlog.contextvars import bind_contextvars, clear_contextvars

from nightgrid.archive.lake.faults import NoRoomError
from nightgrid.solvers.errors import RefusalError, TransientError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.app import WORK_CHUNK, app
from nightgrid.workers.broker.notices import Announcement, Event
from nightgrid.workers.broker.queues import LOG_HEADER
from nightgrid.workers.broker.redis_keys import INTERACTIVE
from nightgrid.workers.broker.worker_keys import record_refusal
from nightgrid.workers.celery_worker.this_worker import (
    SETTINGS,
    WORKER_ID,
    connections,
    notify_driver,
)
from nightgrid.workers.chunks.result_rows import exception_reason
from nightgrid.workers.chunks.solve import solve_chunk
from nightgrid.workers.logs import bind_carried, get_logger
from nightgrid.workers.metrics import REFUSALS, TASK_SECONDS, TASKS
from nightgrid.workers.runs.run_files import ChunkRef
from nightgrid.workers.tracing import describe_span

log = get_logger("nightgrid.worker")

IN_METRICS = WORK_CHUNK.rpartition(".")[2]


class NightgridTask(Task):  # type: ignore[misc]
    """Base class of the task: binds ids for the log, counts, and retries a TransientError.

    It does not retry what this process would refuse again: another worker may have another disk.
    """

    abstract = True
    autoretry_for = (TransientError,)
    dont_autoretry_for = (RefusalError, NoRoomError)
    max_retries = 2
    retry_backoff = 1
    retry_backoff_max = 10
    retry_jitter = True

    def before_start(self, task_id: str, args: tuple[Any, ...], *_: Any) -> None:
        """Bind the ids that every log line of the task carries."""
        chunk = ChunkRef(**args[0])
        describe_span(run=chunk.run_id, chunk=chunk.name)
        clear_contextvars()
        headers = self.request.get("headers") or {}
        bind_carried(self.request.get(LOG_HEADER) or headers.get(LOG_HEADER))
        bind_contextvars(
            task=self.name,
            task_id=task_id,
            retries=self.request.retries,
            worker=WORKER_ID,
            run=chunk.run_id,
            chunk=chunk.name,
        )
        self.request.begun = time.monotonic()

    def after_return(self, status: str, retval: Any, *_: Any) -> None:
        """Log how the task ended, and unbind."""
        begun = getattr(self.request, "begun", None)
        seconds = None if begun is None else round(time.monotonic() - begun, 3)
        detail = retval if status == "SUCCESS" else repr(retval)
        log.info("task ended", status=status, seconds=seconds, detail=detail)
        TASKS.labels(IN_METRICS, status.lower()).inc()
        TASK_SECONDS.labels(IN_METRICS).observe(seconds or 0.0)
        clear_contextvars()


@app.task(base=NightgridTask, name=WORK_CHUNK, bind=True)  # type: ignore[untyped-decorator]
def work_chunk(task: Task, ref: dict[str, Any], driver: str) -> dict[str, Any]:
    """Solve one chunk of a run and announce it to the driver process that sent it."""
    chunk = ChunkRef(**ref)
    lake, _ = connections()
    # On-demand chunks keep others waiting, so they get the shorter limits.
    small = (task.request.delivery_info or {}).get("routing_key") == INTERACTIVE
    ended = solve_chunk(lake, chunk, SETTINGS, WORKER_ID, small=small)
    if ended != "stale":
        event: Event = "returned" if ended == "returned" else "done"
        notify_driver(driver, Announcement(event=event, ref=chunk))
    return {"state": ended}


@signals.task_failure.connect  # type: ignore[untyped-decorator]
def _report_failure(sender: Any, exception: BaseException, args: Any, **_: Any) -> None:
    # Celery sends this signal in the child if the task raised, and in the main process if the child
    # died or was killed at the hard limit.
    if sender is None or not args:
        return
    ref, driver = ChunkRef(**args[0]), args[1]
    if isinstance(exception, TransientError):
        _refuse(ref, str(exception))
        reason = Reason(code=ReasonCode.TRANSIENT, sentence=str(exception))
        notify_driver(driver, Announcement(event="returned", ref=ref, reason=reason))
        # The message is acknowledged when this returns; the next one is taken after that.
        time.sleep(SETTINGS.tuning.refusal_pause_seconds)
    else:
        reason = _reason_of(exception)
        notify_driver(driver, Announcement(event="failed", ref=ref, reason=reason))


def _refuse(ref: ChunkRef, why: str) -> None:
    """Record why this worker refused work: `status` shows it, and drivers read it."""
    log.warning("cannot work here", chunk=ref.name, reason=why)
    REFUSALS.labels(IN_METRICS).inc()
    with contextlib.suppress(redis.RedisError):
        record_refusal(connections()[1], SETTINGS, WORKER_ID, why)


def _reason_of(exception: BaseException) -> Reason:
    if isinstance(exception, TimeLimitExceeded):
        limit = f"exceeded the hard limit of {SETTINGS.hard_limit_seconds:g} s"
        return Reason(code=ReasonCode.HARD_LIMIT, sentence=limit)
    if type(exception).__name__ == "WorkerLostError":
        died = f"{ReasonCode.PROCESS_LOST.sentence}: {_how(exception)}"
        return Reason(code=ReasonCode.PROCESS_LOST, sentence=died)
    return exception_reason(exception)


def _how(death: BaseException) -> str:
    """Return how a process died, without its process number."""
    found = re.search(r"(signal|exitcode) -?\d+( \(\w+\))?", str(death))
    return found[0] if found else str(death)

"""Failed tasks: the driver is notified of the reason, or another worker may take the work."""

from __future__ import annotations

import contextlib
import re
import time
from typing import Any

import redis
from celery import signals
from celery.exceptions import TimeLimitExceeded

from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.app import WORK_CHUNK
from nightgrid.workers.broker.notices.announcements import Announcement
from nightgrid.workers.broker.worker_keys import record_refusal
from nightgrid.workers.celery_worker.base_task import TASK_PREFIX
from nightgrid.workers.celery_worker.this_worker import (
    SETTINGS,
    WORKER_ID,
    connections,
    notify_driver,
)
from nightgrid.workers.chunks.result_rows import exception_reason
from nightgrid.workers.logs import get_logger
from nightgrid.workers.metrics import REFUSALS
from nightgrid.workers.runs.run_files import ChunkRef

log = get_logger("nightgrid.worker")


@signals.task_failure.connect  # type: ignore[untyped-decorator]
def _report_failure(sender: Any, exception: BaseException, args: Any, **_: Any) -> None:
    # Celery sends this in the child when the task raised, and in the main process when the child
    # died or was killed at the hard limit.
    if sender is None or not args:
        return
    if sender.name == WORK_CHUNK:
        ref, driver = ChunkRef(**args[0]), args[1]
        if isinstance(exception, TransientError):
            _refuse(ref, str(exception))
            reason = Reason(code=ReasonCode.TRANSIENT, sentence=str(exception))
            notify_driver(driver, Announcement(event="returned", ref=ref, reason=reason))
            # The message is acknowledged when this returns, and the next one is taken after that.
            time.sleep(SETTINGS.tuning.refusal_pause_seconds)
        else:
            reason = _reason_of(exception)
            notify_driver(driver, Announcement(event="failed", ref=ref, reason=reason))


def _reason_of(exception: BaseException) -> Reason:
    if isinstance(exception, TimeLimitExceeded):
        limit = f"exceeded the hard limit of {SETTINGS.hard_limit_seconds:g} s"
        return Reason(code=ReasonCode.HARD_LIMIT, sentence=limit)
    if type(exception).__name__ == "WorkerLostError":
        died = f"{ReasonCode.PROCESS_LOST.sentence}: {_how(exception)}"
        return Reason(code=ReasonCode.PROCESS_LOST, sentence=died)
    return exception_reason(exception)


def _refuse(ref: ChunkRef, why: str) -> None:
    """Record why this worker could not work: `status` shows it, and drivers read it."""
    log.warning("cannot work here", chunk=ref.name, reason=why)
    REFUSALS.labels(WORK_CHUNK.removeprefix(TASK_PREFIX)).inc()
    with contextlib.suppress(redis.RedisError):
        record_refusal(connections()[1], SETTINGS, WORKER_ID, why)


def _how(death: BaseException) -> str:
    """Say how a process died, without the number that this worker gave it."""
    found = re.search(r"(signal|exitcode) -?\d+( \(\w+\))?", str(death))
    return found[0] if found else str(death)

"""Cancel on-demand jobs: no process works them any more, and their states leave the lake."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.workers.broker.stop_keys import request_stop
from nightgrid.workers.ondemand.jobs.rows import ends, find_row
from nightgrid.workers.ondemand.jobs.status import JobStatus, status
from nightgrid.workers.ondemand.record import BadRecordError, Record
from nightgrid.workers.ondemand.record_files import (
    End,
    end_record,
    ended_path,
    list_ended,
    read_record,
    record_path,
    set_aside,
)
from nightgrid.workers.runs.interests import withdraw_interest
from nightgrid.workers.runs.listed_files import drop_files
from nightgrid.workers.runs.manifest import has_run, open_run
from nightgrid.workers.runs.staged.frontier import drop_frontiers, frontiers
from nightgrid.workers.runs.status import cancel_run, delete_discarded, drops_states
from nightgrid.workers.settings import Settings
from nightgrid.workers.stopping import CancelCheck

BY_COMMAND = "by nightgrid cancel"
"""Why a job ended that was cancelled from the command line."""
DAY_SECONDS = 24 * 3600.0


def cancel_job(
    lake: Lake, job_id: str, settings: Settings | None = None, *, reason: str = BY_COMMAND
) -> tuple[JobStatus, bool]:
    """Cancel a job; tell where it is now, and whether there was anything to cancel.

    The reason says for people how it was cancelled.

    What was worked of its run is kept, its states are not: the next submission goes on from there.
    Workers that are at it stop within a second if they are called, which takes the settings; else
    within seconds. One that was about to file its answer may still do so. Raises PermanentError for
    what is no id of a job.
    """
    before = status(lake, job_id)
    try:
        record = read_record(lake, job_id)
    except BadRecordError:
        set_aside(lake, record_path(job_id))
        return status(lake, job_id), True
    if record is None or before.state == "done":
        return before, False
    end_with_run(lake, record, "cancelled", reason)
    if settings is not None:
        request_stop(settings, job_id, *([record.run_id] if record.run_id else []))
    return _note_earlier_row(lake, record, status(lake, job_id)), True


def _note_earlier_row(lake: Lake, record: Record, now: JobStatus) -> JobStatus:
    """Set the reason where the cancel leaves a row that does not answer what was asked."""
    row = find_row(lake, record.job_id) if now.state == "done" else None
    if row is None or ends(row, record):
        return now
    return replace(now, reason="it is cancelled, and an earlier row of it stays in the lake")


def leave_job(
    lake: Lake,
    job_id: str,
    interest: str,
    settings: Settings | None = None,
    *,
    reason: str = BY_COMMAND,
) -> tuple[JobStatus, int]:
    """Withdraw one client's interest in a job, and cancel the job when it was the last.

    Returns where the job is now, and how many other interests there are. Raises PermanentError for
    what is no id of a job.
    """
    try:
        record = read_record(lake, job_id)
    except BadRecordError:
        record = None
    if record is not None:
        left = withdraw_interest(lake, job_id, record.submitted_at, interest)
        if left:
            return status(lake, job_id), left
    return cancel_job(lake, job_id, settings, reason=reason)[0], 0


def end_with_run(lake: Lake, record: Record, end: End, reason: str) -> None:
    """End a job without an answer, its run first: a keeper ends the job of a cancelled run."""
    if record.run_id is not None and has_run(lake, record.run_id):
        cancel_run(lake, record.run_id, drop_states=True)
    end_record(lake, record, end, reason)


def expire(lake: Lake, record: Record) -> None:
    """End a job whose deadline has passed: without an answer, so that the next ask asks anew."""
    end_with_run(lake, record, "expired", ReasonCode.DEADLINE.sentence)


def job_cancel_check(lake: Lake, record: Record) -> CancelCheck:
    """Return a check for whether a submission of a job is cancelled or past its deadline."""

    def check() -> ReasonCode | None:
        with suppress(BadRecordError):
            now = read_record(lake, record.job_id)
            if now is None or now.submitted_at != record.submitted_at:
                return ReasonCode.CANCELLED
            return ReasonCode.DEADLINE if now.is_late else None
        return None

    return check


def drop_old_ends(lake: Lake, kept_days: float) -> None:
    """Forget ends without an answer that are older, and delete the runs that were cancelled."""
    before = time.time() - kept_days * DAY_SECONDS
    for ended in list_ended(lake):
        if ended.ended_at >= before or lake.exists(record_path(ended.job_id)):
            continue
        if ended.run_id is not None and drops_states(lake, ended.run_id):
            delete_discarded(lake, ended.run_id)
        lake.delete(ended_path(ended.job_id))


def drop_left_states(lake: Lake) -> None:
    """Delete what workers have left of cancelled runs after their states were deleted."""
    for ended in list_ended(lake):
        if ended.run_id is not None and drops_states(lake, ended.run_id):
            drop_frontiers(lake, ended.run_id, frontiers(lake, ended.run_id))
            if has_run(lake, ended.run_id):
                drop_files(lake, open_run(lake, ended.run_id))

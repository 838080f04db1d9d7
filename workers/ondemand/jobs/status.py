"""Where a job on demand is: queued, worked, a run, done, or ended without an answer."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Literal

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.ondemand.jobs.rows import ends, find_row
from nightgrid.workers.ondemand.jobs.run_progress import open_again, progress_of
from nightgrid.workers.ondemand.record import BadRecordError, Record, check_job_id
from nightgrid.workers.ondemand.record_files import is_set_aside, read_ended, read_record
from nightgrid.workers.runs.manifest import read_done
from nightgrid.workers.runs.status import is_cancelled

JobState = Literal[
    "done", "queued", "working", "run", "refused", "cancelled", "expired", "damaged", "unknown"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """Where an on-demand job is."""

    job_id: str
    state: JobState
    """`done`: the result is in the lake. `queued`: no worker has begun. `working`: a worker has.
    `run`: it was too large for one task. `refused`: no worker could work it. `cancelled`: a person
    did not want it any more. `expired`: its deadline passed. `damaged`: what lies in the place of
    its record is none. `unknown`: never submitted, and no result. The next submission asks again
    what has no result."""
    age_s: float | None = None
    """Seconds since it was submitted."""
    attempts: int = 0
    run_id: str | None = None
    chunks_done: int | None = None
    chunks_total: int | None = None
    states: int | None = None
    """States of the chunks of its run that are done."""
    started_at: float | None = None
    """When a worker began it in one task: Unix time; None before that, and for a run. A service
    does not tell it."""
    elapsed_s: float | None = None
    """Seconds since then."""
    expected_s: float | None = None
    """What it is expected to take altogether: seconds of one core. None for a short task."""
    left_s: float | None = None
    """What of that is left."""
    reason: str = ""
    """Why it is refused, cancelled, expired or damaged, in one sentence. A cancel of what was asked
    again under a larger budget says here that an earlier row stays."""


def status(lake: Lake, job_id: str) -> JobStatus:
    """Tell where a job is."""
    check_job_id(job_id)
    try:
        record = read_record(lake, job_id)
    except BadRecordError as error:
        if find_row(lake, job_id) is not None:
            return JobStatus(job_id=job_id, state="done")
        return JobStatus(job_id=job_id, state="damaged", reason=str(error))
    if record is None:
        return status_without_record(lake, job_id)
    if record.run_id is None:
        row = find_row(lake, job_id)
        if row is not None and ends(row, record):
            return JobStatus(job_id=job_id, state="done")
    return status_of(lake, record)


def status_without_record(lake: Lake, job_id: str) -> JobStatus:
    """Tell where a job is that has no record: it has ended, or it never was."""
    if find_row(lake, job_id) is not None:
        return JobStatus(job_id=job_id, state="done")
    ended = read_ended(lake, job_id)
    if ended is not None:
        return JobStatus(
            job_id=job_id,
            state=ended.end,
            attempts=ended.attempts,
            run_id=ended.run_id,
            reason=ended.reason,
        )
    if is_set_aside(lake, job_id):
        aside = "its record was damaged, and set aside; submit it again"
        return JobStatus(job_id=job_id, state="damaged", reason=aside)
    return JobStatus(job_id=job_id, state="unknown")


def status_of(lake: Lake, record: Record) -> JobStatus:
    """Tell how far a job is that has no result of a task."""
    found = JobStatus(
        job_id=record.job_id,
        state="working" if record.worker else "queued",
        age_s=max(0.0, time.time() - record.submitted_at),
        attempts=record.attempts,
        run_id=record.run_id,
    )
    expected = record.expected
    if found.run_id is None:
        return found if record.worker is None else _with_task(found, record)
    try:
        if read_done(lake, found.run_id) is not None:
            row = find_row(lake, record.job_id)
            is_done = row is None or ends(row, record)
            return replace(found, state="done" if is_done else "queued", attempts=0)
        if is_cancelled(lake, found.run_id):
            return replace(found, state="cancelled", reason="its run is cancelled")
        run = open_again(lake, found.run_id)
    except PermanentError as error:
        return replace(found, state="run", reason=str(error))
    far = progress_of(lake, run, expected)
    return replace(
        found,
        state="run",
        chunks_done=far.chunks_done,
        chunks_total=far.chunks_total,
        states=far.states,
        expected_s=far.expected_s,
        left_s=far.left_s,
    )


def _with_task(found: JobStatus, record: Record) -> JobStatus:
    """Add how far the task of a job is, as far as its record says."""
    elapsed_s = max(0.0, time.time() - (record.started_at or time.time()))
    begun = replace(found, started_at=record.started_at, elapsed_s=elapsed_s)
    if record.expected is None:
        return begun
    expected_s = record.expected.seconds
    return replace(begun, expected_s=expected_s, left_s=max(0.0, expected_s - elapsed_s))

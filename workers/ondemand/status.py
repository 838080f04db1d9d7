"""The state of an on-demand job: queued, working, done, or ended without an answer."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Literal

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.ondemand.results import find_row
from nightgrid.workers.ondemand.submissions import Wanted, check_job_id, read_ended, read_wanted
from nightgrid.workers.runs.manifest import has_run, open_run, read_done
from nightgrid.workers.runs.run_files import ChunkRef, folder, read_result
from nightgrid.workers.runs.status import is_cancelled

JobState = Literal["done", "queued", "working", "cancelled", "expired", "refused", "unknown"]
COSTS_KEPT = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """State and progress of an on-demand job."""

    job_id: str
    state: JobState
    """`done`: the result is in the lake. `queued`: no worker has started. `working`: a worker has.
    `refused`: no worker could solve it. `cancelled`: no client wants it any more. `expired`: its
    deadline passed. `unknown`: never submitted, and no result. The next submission restarts a job
    without a result."""
    age_s: float | None = None
    """Seconds since it was submitted."""
    run_id: str | None = None
    chunks_done: int | None = None
    chunks_total: int | None = None
    states: int | None = None
    """States of the chunks that are done."""
    expected_s: float | None = None
    """Expected total, in seconds of one core. None: not known."""
    left_s: float | None = None
    """Expected rest of it."""
    reason: str = ""
    """Why it was refused, cancelled or expired, in one sentence."""


def status(lake: Lake, job_id: str) -> JobStatus:
    """Return the state of a job."""
    check_job_id(job_id)
    wanted = read_wanted(lake, job_id)
    if wanted is not None:
        return status_of(lake, wanted)
    if find_row(lake, job_id) is not None:
        return JobStatus(job_id=job_id, state="done")
    ended = read_ended(lake, job_id)
    if ended is None:
        return JobStatus(job_id=job_id, state="unknown")
    return JobStatus(job_id=job_id, state=ended.end, run_id=ended.run_id, reason=ended.reason)


def status_of(lake: Lake, wanted: Wanted) -> JobStatus:
    """Return the state of a wanted job."""
    run_id = wanted.run_id
    found = JobStatus(
        job_id=wanted.job_id,
        state="queued",
        age_s=max(0.0, time.time() - wanted.submitted_at),
        run_id=run_id,
    )
    try:
        if not has_run(lake, run_id):
            return found
        if read_done(lake, run_id) is not None:
            return replace(found, state="done")
        if is_cancelled(lake, run_id) or not lake.list(f"{folder(run_id)}/started"):
            return found
        return _with_progress(lake, replace(found, state="working"))
    except PermanentError as error:
        # A damaged file of the run; the keeper plans it again.
        return replace(found, reason=str(error))


def _with_progress(lake: Lake, found: JobStatus) -> JobStatus:
    """Add what the chunks of a run have taken, and the estimate for the others.

    Parts that the planner could not foresee are expected to take as long as those that are done.
    """
    run = open_run(lake, str(found.run_id))
    done, refs = lake.stamps(f"{folder(run.run_id)}/parts"), run.chunks()
    states, took_s, foreseen_s, left_s, chunks_done = 0, 0.0, 0.0, 0.0, 0
    for number, group in groupby(refs, attrgetter("segment")):
        chunks = {ref: ref.result_path in done for ref in group}
        spent = [_spent(lake, ref, done[ref.result_path]) for ref in chunks if chunks[ref]]
        seconds = sum(seconds for _, seconds in spent)
        likely_s = seconds / len(spent) if spent else math.inf
        costs_s = run.segments[number].chunk_cost_s or [likely_s] * len(chunks)
        foreseen_s += sum(costs_s[ref.chunk] for ref in chunks if chunks[ref])
        left_s += sum(costs_s[ref.chunk] for ref in chunks if not chunks[ref])
        states, took_s = states + sum(more for more, _ in spent), took_s + seconds
        chunks_done += len(spent)
    if is_known := math.isfinite(left_s):
        # Scaled by actual over expected time of the finished chunks; a few chunks say little.
        left_s *= (took_s + left_s) / max(foreseen_s + left_s, 1e-9)
    return replace(
        found,
        chunks_done=chunks_done,
        chunks_total=len(refs),
        states=states,
        expected_s=took_s + left_s if is_known else None,
        left_s=left_s if is_known else None,
    )


@lru_cache(COSTS_KEPT)
def _spent(lake: Lake, ref: ChunkRef, stamp: object) -> tuple[int, float]:  # noqa: ARG001
    """Read the states and kernel seconds of a chunk result, cached by its stamp."""
    columns = read_result(lake, ref, ("states", "kernel_ns")).columns
    states, kernel_ns = (sum(column.to_pylist()) for column in columns)
    return states, kernel_ns / 1e9

"""Cancelled runs: a word in the lake stops driver and workers until somebody takes it back."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from nightgrid.archive.lake.json_files import read_json, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.workers.runs.manifest import done_places, folder, open_run, read_done


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """What is done of a run, and what is left."""

    run_id: str
    finished: bool
    """The results stand; there is nothing to cancel."""
    cancelled_at: str | None
    """When it was cancelled, UTC; None: it is not."""
    jobs: int
    chunks_done: int
    chunks_left: int
    planned: bool = True
    """Whether there are no more chunks to come."""


def cancelled_path(run_id: str) -> str:
    """Name the file whose presence means that a run is cancelled."""
    return f"{folder(run_id)}/CANCELLED.json"


def is_cancelled(lake: Lake, run_id: str) -> bool:
    """Tell whether nobody is to work on a run."""
    return lake.exists(cancelled_path(run_id))


def cancel_run(lake: Lake, run_id: str) -> Remains:
    """Cancel a run durably, unless it is finished; what has been worked is kept.

    Raises PermanentError for a run that the lake does not have.
    """
    remains = remains_of(lake, run_id)
    if remains.finished or remains.cancelled_at is not None:
        return remains
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    write_json(lake, cancelled_path(run_id), {"cancelled_at": now})
    return remains_of(lake, run_id)


def take_up_run(lake: Lake, run_id: str) -> None:
    """Let a cancelled run be worked again."""
    lake.delete(cancelled_path(run_id))


def remains_of(lake: Lake, run_id: str) -> Remains:
    """Look what is done of a run, and what is left.

    Raises PermanentError for a run that the lake does not have.
    """
    run = open_run(lake, run_id)
    chunks = {ref.place for ref in run.chunks()}
    done = len(chunks & done_places(lake, run_id))
    word = read_json(lake, cancelled_path(run_id))
    answered = run.planned and not run.job_count
    finished = answered or read_done(lake, run_id) is not None
    return Remains(
        run_id=run_id,
        finished=finished,
        cancelled_at=None if word is None else str(word["cancelled_at"]),
        jobs=run.job_count,
        chunks_done=len(chunks) if finished else done,
        chunks_left=0 if finished else len(chunks) - done,
        planned=run.planned,
    )

"""Notes of a run in the lake: begun chunks, failures, whether the run is cancelled."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from nightgrid.archive.lake.conforming import reason_of_failure
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.json_files import read_hint, read_json, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import result_path
from nightgrid.archive.results.solution_files import files_folder
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.runs.listed_files import drop_files
from nightgrid.workers.runs.manifest import has_run, open_run, read_done
from nightgrid.workers.runs.run_files import ChunkKey, ChunkRef, chunk_keys, done_chunks, folder
from nightgrid.workers.runs.staged.frontier import drop_frontiers, frontiers


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """What has happened to one chunk, kept in the lake because the driver may die too."""

    attempt: int = 1
    """The attempt that counts now; messages with a smaller one are stale."""
    failures: tuple[Reason, ...] = ()
    """Why it failed or died, oldest first."""
    interruptions: int = 0
    """How often it died together with its driver, perhaps for another reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A worker's note that it works on a chunk."""

    attempt: int
    worker: str
    """Worker id, by which its liveness is asked for."""
    started_at: float
    """Unix time, seconds."""


def read_attempts(lake: Lake, ref: ChunkRef) -> Attempts:
    """Read what has happened to a chunk so far; where the file is damaged, nothing has."""
    return read_hint(lake, ref.attempts_path, _attempts_from_json) or Attempts()


def _attempts_from_json(value: dict[str, Any]) -> Attempts:
    attempt, interruptions = int(value["attempt"]), int(value["interruptions"])
    if attempt < 1 or interruptions < 0:
        raise ValueError("expected numbers of attempts")
    failures = tuple(map(failure_from_json, value["failures"]))
    return Attempts(attempt=attempt, failures=failures, interruptions=interruptions)


def read_all_attempts(lake: Lake, run_id: str) -> dict[ChunkKey, Attempts]:
    """Read what has happened to every chunk to which something has."""
    found = {}
    for key in chunk_keys(lake.list(f"{folder(run_id)}/attempts")):
        ref = ChunkRef(run_id=run_id, segment=key[0], chunk=key[1])
        found[key] = read_attempts(lake, ref)
    return found


def write_attempts(lake: Lake, ref: ChunkRef, attempts: Attempts) -> None:
    """Keep what has happened to a chunk."""
    value = {
        "attempt": attempts.attempt,
        "failures": [failure_to_json(failure) for failure in attempts.failures],
        "interruptions": attempts.interruptions,
    }
    write_json(lake, ref.attempts_path, value, checked=True)


def failure_to_json(failure: Reason) -> dict[str, str]:
    """Write why an attempt failed."""
    return {"code": str(failure.code), "reason": failure.sentence}


def failure_from_json(value: Any) -> Reason:
    """Read why an attempt failed; a sentence alone is what versions before 4 wrote."""
    if isinstance(value, str):
        return reason_of_failure(value)
    return Reason(code=ReasonCode(value["code"]), sentence=value["reason"])


def write_start(lake: Lake, ref: ChunkRef, worker: str, started_at: float) -> None:
    """Note that a worker begins a chunk, before it does.

    The note outlives every process; nothing waits until it is on the disk, for a machine that has
    lost it has lost its workers too.
    """
    note = {"worker": worker, "started_at": started_at}
    write_json(lake, ref.started_path, note, durable=False)


def read_start(lake: Lake, ref: ChunkRef) -> Start | None:
    """Read which worker works on this attempt of a chunk, or None if no worker began."""

    def start(value: dict[str, Any]) -> Start:
        worker, started_at = str(value["worker"]), float(value["started_at"])
        return Start(attempt=ref.attempt, worker=worker, started_at=started_at)

    # What a power failure has left of the note counts as none: no worker is at it any more.
    return read_hint(lake, ref.started_path, start)


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
    """Tell whether a run is cancelled: no process is to work on it."""
    return lake.exists(cancelled_path(run_id))


def cancel_run(lake: Lake, run_id: str, *, drop_states: bool = False) -> Remains:
    """Cancel a run durably, unless it is finished; what has been worked is kept.

    With `drop_states` the states of staged counts are not, nor files of solutions: they may be
    gigabytes, and are made again if the run is taken up. Raises PermanentError for a run that the
    lake does not have.
    """
    remains = remains_of(lake, run_id)
    if remains.finished:
        return remains
    if remains.cancelled_at is None or drop_states:
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        about = {"cancelled_at": remains.cancelled_at or now, "drop_states": drop_states}
        write_json(lake, cancelled_path(run_id), about)
    if drop_states:
        drop_frontiers(lake, run_id, frontiers(lake, run_id))
        drop_files(lake, open_run(lake, run_id))
    return remains_of(lake, run_id)


def drops_states(lake: Lake, run_id: str) -> bool:
    """Tell whether a run is cancelled and its states are not to be kept."""
    return given_up_at(lake, run_id) is not None


def given_up_at(lake: Lake, run_id: str) -> str | None:
    """Read when a run was cancelled whose states were not to be kept, UTC; None: it was not."""
    about = read_json(lake, cancelled_path(run_id))
    return str(about["cancelled_at"]) if about is not None and about.get("drop_states") else None


def delete_given_up(lake: Lake, run_id: str) -> None:
    """Delete a run that was given up, with the solutions that it has listed."""
    # In this order: as long as there is any of it, the run is one that was given up.
    for path in lake.list(files_folder(run_id)):
        lake.delete(path, durable=False)
    lake.delete_folder(folder(run_id), last=cancelled_path(run_id))


def take_up_run(lake: Lake, run_id: str) -> None:
    """Let a cancelled run be worked again."""
    lake.delete(cancelled_path(run_id))


def remains_of(lake: Lake, run_id: str) -> Remains:
    """Look what is done of a run, and what is left.

    Raises PermanentError for a run that the lake does not have.
    """
    run = open_run(lake, run_id)
    chunks = {ref.key for ref in run.chunks()}
    done = len(chunks & done_chunks(lake, run_id))
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


def is_finished(lake: Lake, run_id: str) -> bool:
    """Tell whether a run is begun and nothing of it is left to work; a damaged one is not."""
    try:
        return has_run(lake, run_id) and remains_of(lake, run_id).finished
    except DamagedFileError:
        return False


def next_name(lake: Lake, run_id: str, *, more: bool) -> str:
    """Name the run that goes on with what a run was to answer: it, or one of those after it.

    That is the first that is not begun or not at its end; unless there is `more` to work, one that
    is at its end will do. A run whose folder is gone has left results: no other may have its name.
    """
    names = chain([run_id], (digest("retry", run_id, str(number)) for number in count(1)))
    for name in names:
        if has_run(lake, name):
            if not more or not is_finished(lake, name):
                break
        elif not lake.exists(result_path(name)):
            break
    return name

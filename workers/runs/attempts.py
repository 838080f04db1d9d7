"""What has happened to the chunks of a run so far: who began, what failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nightgrid.archive.lake.conforming import reason_of_failure
from nightgrid.archive.lake.json_files import read_json, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.runs.manifest import ChunkRef, Place, folder, place_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """What has happened to one chunk, kept in the lake because the driver may die too."""

    attempt: int = 1
    """The attempt that counts now; messages with a smaller one are stale."""
    failures: tuple[Reason, ...] = ()
    """Why it failed or died, oldest first."""
    interruptions: int = 0
    """How often it died together with its driver, perhaps innocent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A worker's note that it works on a chunk."""

    attempt: int
    worker: str
    """Worker id, by which its liveness is asked for."""
    started_at: float
    """Unix time, seconds."""


def read_attempts(lake: Lake, ref: ChunkRef) -> Attempts:
    """Read what has happened to a chunk so far."""
    value = read_json(lake, ref.attempts_path)
    if value is None:
        return Attempts()
    return Attempts(**{**value, "failures": tuple(map(failure_from_json, value["failures"]))})


def read_all_attempts(lake: Lake, run_id: str) -> dict[Place, Attempts]:
    """Read what has happened to every chunk to which something has."""
    found = {}
    for name in lake.list(f"{folder(run_id)}/attempts"):
        place = place_of(name)
        if place is not None:
            ref = ChunkRef(run_id=run_id, segment=place[0], chunk=place[1])
            found[place] = read_attempts(lake, ref)
    return found


def write_attempts(lake: Lake, ref: ChunkRef, attempts: Attempts) -> None:
    """Keep what has happened to a chunk."""
    value = {
        "attempt": attempts.attempt,
        "failures": [failure_to_json(failure) for failure in attempts.failures],
        "interruptions": attempts.interruptions,
    }
    write_json(lake, ref.attempts_path, value)


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
    """Read who works on this attempt of a chunk, or None if nobody began."""
    try:
        value = read_json(lake, ref.started_path)
    except PermanentError:
        # What a power failure has left of the note: nobody is at it any more.
        return None
    if value is None:
        return None
    return Start(attempt=ref.attempt, worker=value["worker"], started_at=value["started_at"])

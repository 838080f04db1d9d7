"""Attempts at chunks: a note in the lake for each, with who began it and why it failed.

The notes of a chunk are its attempts: there is no other counter. A worker writes the note when it
starts, and deletes it when it hands the chunk back; the driver adds why the attempt failed.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from nightgrid.archive.lake.json_files import read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.runs.run_files import ChunkKey, ChunkRef, folder, named_chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """The record of one attempt at a chunk."""

    worker: str
    """Id of the worker, as in its heartbeat; empty if none is known to have started."""
    failure: Reason | None = None
    """Why the attempt failed."""


def write_note(lake: Lake, ref: ChunkRef, note: Note) -> None:
    """Write the note of an attempt: before a worker starts, or when the attempt has failed.

    A worker's note is not synced to disk: a machine that loses it in a power failure loses its
    workers too.
    """
    value: dict[str, Any] = {"worker": note.worker}
    if note.failure is not None:
        value["failure"] = {"code": str(note.failure.code), "reason": note.failure.sentence}
    write_json(lake, ref.started_path, value, durable=note.failure is not None)


def read_note(lake: Lake, ref: ChunkRef) -> Note | None:
    """Read the note of an attempt; None if no worker started it, or if it is damaged."""

    def note(value: dict[str, Any]) -> Note:
        why = value.get("failure")
        failure = why and Reason(code=ReasonCode(why["code"]), sentence=why["reason"])
        return Note(worker=value["worker"], failure=failure)

    return read_hint(lake, ref.started_path, note)


def write_failure(lake: Lake, ref: ChunkRef, failure: Reason) -> bool:
    """Add to the note of an attempt why it failed; return False if that is noted already."""
    note = read_note(lake, ref) or Note(worker="")
    if note.failure is not None:
        return False
    write_note(lake, ref, replace(note, failure=failure))
    return True


def take_back(lake: Lake, ref: ChunkRef, worker: str) -> None:
    """Delete the note of a worker that hands a chunk back: it does not count as an attempt."""
    with suppress(NightgridError):
        note = read_note(lake, ref)
        if note is not None and note.worker == worker and note.failure is None:
            lake.delete(ref.started_path, durable=False)


def read_attempts(lake: Lake, run_id: str) -> dict[ChunkKey, int]:
    """Return the last attempt at each started chunk."""
    # Names are sorted, so the last attempt of a chunk replaces those before it.
    return dict(sorted(named_chunks(lake.list(f"{folder(run_id)}/started"))))

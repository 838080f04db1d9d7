"""The status of a run in the lake: finished, cancelled, or how many chunks are left."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.json_files import read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import result_path
from nightgrid.archive.results.solution_files import files_folder
from nightgrid.solvers.canonical import digest
from nightgrid.workers.runs.listed import drop_files
from nightgrid.workers.runs.manifest import has_run, open_run, read_done
from nightgrid.workers.runs.run_files import done_chunks, folder
from nightgrid.workers.runs.staged import drop_frontiers


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """Chunks done and left of a run, and whether it is finished or cancelled."""

    run_id: str
    finished: bool
    """Whether its results are written; then it cannot be cancelled."""
    cancelled_at: str | None
    """When it was cancelled, UTC; None: it is not; "": its note is damaged."""
    jobs: int
    chunks_done: int
    chunks_left: int
    planned: bool
    """Whether the manifest is complete: no more chunks are planned."""


def cancelled_path(run_id: str) -> str:
    """Return the file whose presence means that a run is cancelled."""
    return f"{folder(run_id)}/CANCELLED.json"


def is_cancelled(lake: Lake, run_id: str) -> bool:
    """Return whether a run is cancelled."""
    return lake.exists(cancelled_path(run_id))


def cancel_run(lake: Lake, run_id: str, *, drop_states: bool = False) -> RunStatus:
    """Cancel a run durably, unless it is finished; keep its chunk results.

    With `drop_states`, delete the states of staged counts, which may be gigabytes, and the solution
    files and chunk results of listings. A run that is resumed makes them again.
    Raises PermanentError for a run that the lake does not have.
    """
    status = read_run_status(lake, run_id)
    if status.finished:
        return status
    if not status.cancelled_at or drop_states:
        when = status.cancelled_at or dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        write_json(lake, cancelled_path(run_id), {"cancelled_at": when, "drop_states": drop_states})
    if drop_states:
        drop_frontiers(lake, run_id)
        drop_files(lake, open_run(lake, run_id))
    return read_run_status(lake, run_id)


def drops_states(lake: Lake, run_id: str) -> bool:
    """Return whether a run is cancelled and its states are dropped."""
    return bool((_cancelled(lake, run_id) or {}).get("drop_states"))


def _cancelled(lake: Lake, run_id: str) -> dict[str, Any] | None:
    """Read CANCELLED.json; None if there is none. A damaged one counts as empty."""
    path = cancelled_path(run_id)
    return (read_hint(lake, path, dict) or {}) if lake.exists(path) else None


def delete_discarded(lake: Lake, run_id: str) -> None:
    """Delete a run that was cancelled with `drop_states`, and its solution files."""
    # CANCELLED.json goes last: a deletion that is killed is found and repeated by the next upkeep.
    for path in lake.list(files_folder(run_id)):
        lake.delete(path, durable=False)
    lake.delete_folder(folder(run_id), last=cancelled_path(run_id))


def resume_run(lake: Lake, run_id: str) -> None:
    """Take back the cancellation of a run."""
    lake.delete(cancelled_path(run_id))


def read_run_status(lake: Lake, run_id: str) -> RunStatus:
    """Read the status of a run, without reading its chunk results.

    Raises PermanentError for a run that the lake does not have.
    """
    run = open_run(lake, run_id)
    chunks = {ref.key for ref in run.chunks()}
    done = len(chunks & done_chunks(lake, run_id))
    cancelled = _cancelled(lake, run_id)
    ended = read_done(lake, run_id)
    return RunStatus(
        run_id=run_id,
        finished=ended is not None,
        cancelled_at=None if cancelled is None else str(cancelled.get("cancelled_at", "")),
        jobs=run.job_count,
        chunks_done=done if ended is None else ended.get("chunks", 0),
        chunks_left=len(chunks) - done if ended is None else 0,
        planned=run.planned,
    )


def is_finished(lake: Lake, run_id: str) -> bool:
    """Return whether a run exists and is finished; a damaged run is not."""
    try:
        return has_run(lake, run_id) and read_run_status(lake, run_id).finished
    except DamagedFileError:
        return False


def next_name(lake: Lake, run_id: str, *, more: bool) -> str:
    """Return the run that continues a run: the run itself, or the first usable one derived from it.

    A run is usable if it does not exist yet, is not finished, or there is no `more` work to do. A
    run whose folder is deleted but whose results exist is not usable.
    """
    names = chain([run_id], (digest("retry", run_id, str(number)) for number in count(1)))
    for name in names:
        if has_run(lake, name):
            if not more or not is_finished(lake, name):
                break
        elif not lake.exists(result_path(name)):
            break
    return name

"""Runs of which a file cannot be read that says what they are: set aside, and planned anew."""

from __future__ import annotations

from nightgrid.archive.lake.faults import ASIDE, DamagedFileError, MissingFileError, set_aside
from nightgrid.archive.lake.json_files import read_hint
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.skipped_files import skip_file
from nightgrid.workers.runs.manifest import (
    Run,
    has_run,
    open_run,
    read_about,
    read_segments,
)
from nightgrid.workers.runs.run_files import asked_path, folder, plan_path
from nightgrid.workers.runs.staged.frontier import drop_frontiers, frontiers

NIGHTLY = "runs/nightly"
"""Folder of the notes of which run a night has begun."""


def ensure_plan(lake: Lake, run_id: str) -> Run | None:
    """Set damaged files aside that say what a run is, and name them, before it is planned on.

    Where what is asked can still be read, and all segments, the planner goes on with them; else
    the whole run is set aside, and the same jobs are planned anew. Results are left as they are.
    Returns the run as it is then; None where there is none.
    """
    try:
        return open_run(lake, run_id) if has_run(lake, run_id) else None
    except DamagedFileError as error:
        why = error
    paths = (plan_path(run_id), asked_path(run_id))
    bad = [path for path in paths if _is_damaged(lake, path)]
    if bad and len(bad) < sum(map(lake.exists, paths)) and _has_segments(lake, run_id):
        for path in bad:
            set_aside(lake, path)
        moved = ", ".join(f"{ASIDE}/{path}" for path in bad)
    else:
        moved = set_run_aside(lake, run_id)
    skip_file(bad[0] if bad else folder(run_id), f"{why}; moved to {moved}, and planned anew")
    return open_run(lake, run_id) if has_run(lake, run_id) else None


def set_run_aside(lake: Lake, run_id: str) -> str:
    """Move all files of a run to where no process reads them, but its states; return that place."""
    for note in lake.list(NIGHTLY):
        if read_hint(lake, note, lambda told: told["run_id"]) == run_id:
            lake.delete(note)
    drop_frontiers(lake, run_id, frontiers(lake, run_id))
    # What says that there is such a run goes first.
    for path in sorted(lake.list(folder(run_id)), key=lambda path: path.count("/")):
        set_aside(lake, path)
    return f"{ASIDE}/{folder(run_id)}"


def _is_damaged(lake: Lake, path: str) -> bool:
    try:
        read_about(lake, path)
    except DamagedFileError:
        return True
    return False


def _has_segments(lake: Lake, run_id: str) -> bool:
    try:
        read_segments(lake, run_id)
    except (DamagedFileError, MissingFileError):
        return False
    return True

"""Runs of which a file cannot be read that says what they are: set aside, and planned again."""

from __future__ import annotations

from nightgrid.archive.lake.faults import ASIDE, DamagedFileError, set_aside
from nightgrid.archive.lake.json_files import read_hint
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.skipped_files import skip_file
from nightgrid.workers.runs.manifest import Run, has_run, open_run
from nightgrid.workers.runs.run_files import folder
from nightgrid.workers.runs.staged.frontier import drop_frontiers, frontiers

NIGHTLY = "runs/nightly"
"""Folder of the notes of which run a night has begun."""


def ensure_plan(lake: Lake, run_id: str) -> Run | None:
    """Open a run before it is planned on; set it aside, and name it, if it cannot be read.

    Results are left as they are. Returns None where there is no run, or none any more: the same
    jobs are planned again.
    """
    try:
        return open_run(lake, run_id) if has_run(lake, run_id) else None
    except DamagedFileError as error:
        aside = set_run_aside(lake, run_id)
        skip_file(folder(run_id), f"{error}; moved to {aside}, and planned again")
        return None


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

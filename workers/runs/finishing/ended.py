"""Lost or damaged files of a run: moved aside, so that its jobs are planned again."""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa

from nightgrid.archive.lake.conforming import select
from nightgrid.archive.lake.faults import (
    ASIDE,
    DamagedFileError,
    MissingFileError,
    NewerSchemaError,
    set_aside,
)
from nightgrid.archive.lake.schemas import RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import RESULT_FILES
from nightgrid.archive.skipped_files import skip_file
from nightgrid.workers.runs.manifest import Run, has_run, open_run, read_done
from nightgrid.workers.runs.run_files import folder
from nightgrid.workers.runs.staged import drop_frontiers

_RUN_ROWS = select(RESULTS, ["run_id", "job_id"])


def set_damaged_aside(lake: Lake) -> None:
    """Move damaged files of results aside, so that their jobs are planned again."""
    for path in lake.list(RESULT_FILES.path):
        if not path.endswith(".parquet"):
            continue
        try:
            for _ in lake.scan_file(path, RESULTS, RESULTS.names):
                pass
        except MissingFileError:
            continue
        except DamagedFileError as error:
            aside = set_aside(lake, path)
            skip_file(path, f"{error}; moved to {aside}, and its jobs are solved again")


def ensure_plan(lake: Lake, run_id: str) -> Run | None:
    """Open a run before it is planned further; move it aside if it cannot be read.

    Results are kept. Returns None if there is no run, or it was moved aside: the same jobs are
    planned again.
    """
    try:
        return open_run(lake, run_id) if has_run(lake, run_id) else None
    except DamagedFileError as error:
        aside = set_run_aside(lake, run_id)
        skip_file(folder(run_id), f"{error}; moved to {aside}, and planned again")
        return None


def set_run_aside(lake: Lake, run_id: str) -> str:
    """Move all files of a run to `damaged/`, but delete its states; return the new folder."""
    drop_frontiers(lake, run_id)
    # The files at the top go first: without them there is no run.
    for path in sorted(lake.list(folder(run_id)), key=lambda path: path.count("/")):
        set_aside(lake, path)
    return f"{ASIDE}/{folder(run_id)}"


def ended_runs(lake: Lake, paths: list[str]) -> dict[str, int]:
    """Return the number of result rows in DONE.json of each finished run."""
    found = {}
    for path in paths:
        if not path.startswith("runs/run=") or not path.endswith("/DONE.json"):
            continue
        run_id = path.split("/")[1].removeprefix("run=")
        done = read_done(lake, run_id)
        if done is not None and done.get("results"):
            found[run_id] = int(done["result_count"])
    return found


def rows_by_run(lake: Lake, paths: list[str]) -> dict[str, int]:
    """Count the jobs of each run that have a result row in a readable file.

    A row may be in two files while these are merged.
    """
    found = [_RUN_ROWS.empty_table()]
    for path in paths:
        if not path.startswith("results/") or not path.endswith(".parquet"):
            continue
        with suppress(DamagedFileError, MissingFileError, NewerSchemaError):
            found += lake.scan(path, RESULTS, _RUN_ROWS.names)
    rows = pa.concat_tables(found).group_by(_RUN_ROWS.names).aggregate([])
    counts = rows.column("run_id").value_counts().to_pylist()
    return {row["values"]: row["counts"] for row in counts}

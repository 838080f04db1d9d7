"""Lost or damaged files of a run: moved aside, and rebuilt from what the lake still has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

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
from nightgrid.archive.results.files import RESULT_FILES, ranges_where, result_path
from nightgrid.archive.skipped_files import skip_file
from nightgrid.workers.runs.finishing.finish import finish_run
from nightgrid.workers.runs.manifest import Run, has_run, open_run, read_done
from nightgrid.workers.runs.run_files import DamagedResultError, done_path, folder
from nightgrid.workers.runs.staged import drop_frontiers

_RUN_ROWS = select(RESULTS, ["run_id", "job_id"])


def results_of_run(lake: Lake, run_id: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read columns of a run's results, from its own file or from merged ones.

    Raises DamagedFileError for a damaged file.
    """
    path = result_path(run_id)
    try:
        yield from lake.scan_file(path, RESULTS, columns)
    except MissingFileError:
        # They were merged with those of other runs.
        is_one = pc.field("run_id") == run_id
        for table in ranges_where(lake, RESULT_FILES, is_one):
            yield table.select(list(columns))


def ensure_results(lake: Lake, run_id: str) -> dict[str, Any] | None:
    """Read DONE.json of a run; rewrite its results from its chunk results if rows are missing.

    A damaged file of results is moved aside. None: the run has not ended, or chunk results are
    missing too, so that it has to be solved again.
    """
    done = read_done(lake, run_id)
    if done is None or not done["results"]:
        return done
    path = result_path(run_id)
    try:
        # All columns, since any of them may be damaged.
        there = sum(map(len, results_of_run(lake, run_id, RESULTS.names)))
    except DamagedFileError as error:
        skip_file(path, f"{error}; moved to {set_aside(lake, path)}, and written again")
        there = 0
    return done if there >= done["result_count"] else write_again(lake, run_id)


def write_again(lake: Lake, run_id: str) -> dict[str, Any] | None:
    """Rewrite the results of a finished run.

    None: chunk results are missing, and the run is no longer finished.
    """
    try:
        return finish_run(lake, run_id, again=True)
    except DamagedResultError:
        lake.delete(done_path(run_id))
        return None


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

"""Drop what only answers needed that are gone: puzzles of questions, and divisions of jobs.

Both go after the rows, so that a row that is there has its board and its parts, wherever a call is
killed. What such a call has left is found by the next one: nothing refers to it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import ASKED
from nightgrid.archive.merging.without import drop_rows
from nightgrid.archive.results.files import (
    ASKED_FILES,
    ONDEMAND_PREFIX,
    RESULT_FILES,
    SOLUTION_FILES,
)
from nightgrid.archive.results.parts import DIVISIONS_FOLDER
from nightgrid.archive.skipped_files import skip_file
from nightgrid.flows.maintenance.retention.ages import delete_old, unix_ns
from nightgrid.flows.maintenance.retention.reading import (
    UnreadableError,
    readable,
    scan_all,
    wanted_records,
)
from nightgrid.solvers.canonical import ID_HEX_DIGITS
from nightgrid.workers.ondemand.record import puzzle_id_of
from nightgrid.workers.ondemand.record_files import record_path
from nightgrid.workers.upkeep import ends_of_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftovers:
    """What was dropped."""

    puzzles: int = 0
    divisions: int = 0
    """Files, each of the jobs of one run."""
    freed_bytes: int = 0


def drop_puzzles(
    lake: Lake, game: str, before: dt.datetime, check: Callable[[], None]
) -> Leftovers:
    """Drop puzzles that came with questions of a game that nothing refers to.

    A puzzle stays while a result, a solution, a job that is wanted or a run that has not ended
    refers to it, and while its file is younger than `before`. Nothing is dropped while one of the
    files that may refer to it cannot be read; that file is named.
    """
    asked = _old(lake, ASKED_FILES.path, unix_ns(before))
    puzzles = _puzzles_in(lake, game, asked)
    needed = _needed_of(lake, puzzles, ()) if len(puzzles) else None
    if needed is None:
        return Leftovers()
    gone = puzzles.filter(pc.invert(pc.is_in(puzzles, value_set=needed.puzzles)))
    dropped = drop_rows(lake, ASKED_FILES, (ASKED_FILES.key,), gone, paths=asked, check=check)
    return Leftovers(puzzles=len(gone), freed_bytes=dropped.freed_bytes)


def drop_divisions(lake: Lake, before: dt.datetime, check: Callable[[], None]) -> Leftovers:
    """Drop divisions of runs of which no result is left; such a one is of no game.

    They stay as `drop_puzzles` lets puzzles stay.
    """
    limit_ns = unix_ns(before)
    divided = _old(lake, DIVISIONS_FOLDER, limit_ns)
    needed = _needed_of(lake, pa.array([], pa.string()), divided) if divided else None
    if needed is None:
        return Leftovers()
    count = freed = 0
    for path in divided:
        if path not in needed.divisions and not _is_wanted(lake, path):
            check()
            size = delete_old(lake, path, limit_ns)
            # None: its job was answered again meanwhile.
            if size is not None:
                count, freed = count + 1, freed + size
    return Leftovers(divisions=count, freed_bytes=freed)


def _needed_of(lake: Lake, puzzles: pa.Array, divisions: Iterable[str]) -> _Needed | None:
    """Read what is needed; None while a file cannot be read, which is named."""
    try:
        return _read_needed(lake, puzzles, divisions)
    except UnreadableError as error:
        skip_file(error.path, error)
        return None


def _old(lake: Lake, folder: str, limit_ns: int) -> dict[str, int]:
    """List the files of a folder that were written before a time, with their bytes."""
    stamps = sorted(lake.stamps(folder).items())
    return {
        path: size
        for path, (size, written_ns) in stamps
        if path.endswith(".parquet") and written_ns < limit_ns
    }


def _puzzles_in(lake: Lake, game: str, paths: Iterable[str]) -> pa.Array:
    """Read the ids of the puzzles of a game that stand in files; a damaged file is named."""
    found = [pa.array([], pa.string())]
    for path in paths:
        try:
            for table in lake.scan_file(path, ASKED, ("puzzle_id", "game")):
                mine = pc.equal(table.column("game"), game)
                found += table.column("puzzle_id").filter(mine).chunks
        except MissingFileError:
            continue  # Merged meanwhile: the file that has its rows is young.
        except DamagedFileError as error:
            skip_file(path, error)
    return pc.unique(pa.concat_arrays(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Needed:
    """What something refers to."""

    puzzles: pa.Array
    divisions: set[str]
    """Their paths."""


def _read_needed(lake: Lake, puzzles: pa.Array, divisions: Iterable[str]) -> _Needed:
    """Read which puzzles and divisions are needed. Raises UnreadableError."""
    runs = {_run_of(path): path for path in divisions}
    run_ids = pa.array(sorted(runs), pa.string())
    found = [pa.array([], pa.string())]
    # In this order: what is worked has a record or a run until its row is there.
    if len(puzzles):
        found.append(pa.array(_wanted_puzzles(lake), pa.string()))
    there, ends = ends_of_runs(lake)
    open_runs = there.difference(ends)
    needed = {runs[run_id] for run_id in open_runs.intersection(runs)}
    if len(puzzles):
        found += (_among(column, puzzles) for column in _planned_puzzles(lake, open_runs))
        for table in scan_all(lake, SOLUTION_FILES, ["puzzle_id"]):
            found.append(_among(table.column("puzzle_id"), puzzles))
    for table in scan_all(lake, RESULT_FILES, ["puzzle_id", "run_id"]):
        found.append(_among(table.column("puzzle_id"), puzzles))
        of_runs = _among(table.column("run_id"), run_ids).to_pylist()
        needed.update(runs[run_id] for run_id in of_runs)
    return _Needed(puzzles=pc.unique(pa.concat_arrays(found)), divisions=needed)


def _run_of(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".parquet")


def _among(column: pa.ChunkedArray, values: pa.Array) -> pa.Array:
    """Give the values that a column has."""
    return pc.unique(column.filter(pc.is_in(column, value_set=values)))


def _wanted_puzzles(lake: Lake) -> list[str]:
    """Name the puzzles of the jobs that are wanted. Raises UnreadableError."""
    found = []
    for record in wanted_records(lake):
        with readable(record_path(record.job_id)):
            found.append(puzzle_id_of(lake, record))
    return found


def _planned_puzzles(lake: Lake, run_ids: Iterable[str]) -> Iterator[pa.ChunkedArray]:
    """Read the ids of the puzzles that runs have planned, a chunk at a time."""
    for run_id in sorted(run_ids):
        for path in lake.list(f"runs/run={run_id}/manifest"):
            # A run that is gone has ended, or was given up.
            with suppress(MissingFileError), readable(path):
                if path.endswith(".parquet"):
                    for table in lake.iter_row_groups(path, ["puzzle_id"]):
                        yield table.column("puzzle_id")


def _is_wanted(lake: Lake, path: str) -> bool:
    """Tell whether the job of a division on demand is wanted again."""
    run_id = _run_of(path)
    job_id = run_id.removeprefix(ONDEMAND_PREFIX)[:ID_HEX_DIGITS]
    return run_id.startswith(ONDEMAND_PREFIX) and lake.exists(record_path(job_id))

"""Drop the solutions of jobs: those that lie beside others, and listings of files of their own.

What is to go is noted in dropped/GAME.parquet first, so that a reader that misses it says so.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import DROPPED
from nightgrid.archive.merging.without import Dropped, drop_rows, keys_in
from nightgrid.archive.results.dropped import dropped_path, read_dropped, write_dropped
from nightgrid.archive.results.files import SOLUTION_FILES, SOLUTIONS_FOLDER
from nightgrid.archive.results.results import scan_results
from nightgrid.archive.results.solution_files import files_folder

JOB = ("job_id", "run_id")
"""Columns that name the solutions of a job."""


def with_solutions(lake: Lake, rows: pa.Table) -> pa.Table:
    """Keep the result rows whose solutions the lake has."""
    wanted = pc.unique(rows.column("job_id"))
    known = [pa.array([], pa.string())]
    for path in lake.list(SOLUTION_FILES.path) if len(wanted) else ():
        if path.endswith(".parquet"):
            for table in lake.scan_file(path, SOLUTION_FILES.schema, JOB):
                mine = table.filter(pc.is_in(table.column("job_id"), value_set=wanted))
                known.append(pc.unique(keys_in(mine, JOB)))
    listed = {
        f"{job_id}/{run_id}"
        for run_id, job_id in map(_of_listing, lake.folders("listings", deep=True))
        if job_id
    }
    known.append(pa.array(sorted(listed), pa.string()))
    return rows.filter(pc.is_in(keys_in(rows, JOB), value_set=pa.concat_arrays(known)))


def _of_listing(folder: str) -> tuple[str, str]:
    _, run_id, job_id = (*folder.split("/"), "", "")[:3]
    return run_id, job_id


def drop_solutions(
    lake: Lake, game: str, rows: pa.Table, day: dt.date, check: Callable[[], None]
) -> None:
    """Drop the solutions of result rows, after it is noted that they were."""
    if not len(rows):
        return
    check()
    noted = pa.table(
        [
            rows.column("job_id"),
            rows.column("run_id"),
            pa.repeat(pa.scalar(SOLUTIONS_FOLDER), len(rows)),
            pa.repeat(pa.scalar(day, pa.date32()), len(rows)),
        ],
        schema=DROPPED,
    )
    write_dropped(lake, game, pa.concat_tables([read_dropped(lake, game), noted]))
    drop_rows(lake, SOLUTION_FILES, JOB, _keys(rows), check=check)
    for path in _listed(lake, rows):
        lake.delete(path, durable=False)


def solution_bytes(lake: Lake, rows: pa.Table, scratch: Lake) -> int:
    """Count the bytes that `drop_solutions` frees; new files are written to another lake."""
    freed: Dropped = drop_rows(lake, SOLUTION_FILES, JOB, _keys(rows), into=scratch)
    sizes = lake.sizes("listings") if len(rows) else {}
    return freed.freed_bytes + sum(sizes.get(path, 0) for path in _listed(lake, rows))


def _keys(rows: pa.Table) -> pa.Array:
    return pc.unique(keys_in(rows, JOB))


def _listed(lake: Lake, rows: pa.Table) -> list[str]:
    pairs = zip(*(rows.column(name).to_pylist() for name in JOB), strict=True)
    folders = [f"{files_folder(run_id)}/{job_id}" for job_id, run_id in pairs]
    return [path for folder in folders if lake.exists(folder) for path in lake.list(folder)]


def forget_dropped(lake: Lake, game: str) -> None:
    """Leave out of what was dropped the rows whose result is gone as well."""
    if not lake.exists(dropped_path(game)):
        return
    noted = read_dropped(lake, game)
    there = [pa.array([], pa.string())]
    there += [pc.unique(keys_in(table, JOB)) for table in scan_results(lake, JOB)]
    kept = noted.filter(pc.is_in(keys_in(noted, JOB), value_set=pa.concat_arrays(there)))
    if len(kept) < len(noted):
        write_dropped(lake, game, kept)

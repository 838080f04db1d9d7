"""Drop the solutions of jobs: those that lie beside others, and listings of files of their own.

What is to go is noted in dropped/GAME.parquet first, so that a reader that misses it says so.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import DROPPED, RESULTS
from nightgrid.archive.merging.without import drop_rows, keys_in
from nightgrid.archive.results.dropped import (
    dropped_jobs,
    dropped_path,
    read_dropped,
    write_dropped,
)
from nightgrid.archive.results.files import SOLUTION_FILES
from nightgrid.archive.results.results import scan_results
from nightgrid.archive.results.solution_files import (
    LISTINGS_FOLDER,
    files_folder,
    files_of,
    list_files,
)
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.errors import PermanentError

JOB = ("job_id", "run_id")
"""Columns that name the solutions of a job."""
_SOLVED = [*JOB, "status", "count"]


def with_solutions(lake: Lake, rows: pa.Table) -> pa.Table:
    """Keep the result rows whose solutions the lake has."""
    wanted = pc.unique(rows.column("job_id"))
    known = [pa.array([], pa.string())]
    for path in lake.list(SOLUTION_FILES.path) if len(wanted) else ():
        if path.endswith(".parquet"):
            for table in lake.scan_file(path, SOLUTION_FILES.schema, JOB):
                mine = table.filter(pc.is_in(table.column("job_id"), value_set=wanted))
                known.append(pc.unique(keys_in(mine, JOB)))
    known.append(_keys_of_listings(lake))
    return rows.filter(pc.is_in(keys_in(rows, JOB), value_set=pa.concat_arrays(known)))


def with_listings(lake: Lake, game: str, rows: pa.Table) -> pa.Table:
    """Keep the result rows of a game whose solutions lie in files of their own.

    Those are among them whose files are gone, since a call that dropped them was killed.
    """
    is_listed = pc.is_in(keys_in(rows, JOB), value_set=_keys_of_listings(lake))
    listed = rows.filter(is_listed)
    noted = pc.is_in(rows.column("job_id"), value_set=dropped_jobs(lake, game))
    begun = rows.filter(pc.and_(noted, pc.invert(is_listed)))
    has_others = pc.is_in(keys_in(begun, JOB), value_set=_keys(with_solutions(lake, begun)))
    return pa.concat_tables([listed, begun.filter(pc.invert(has_others))])


def _keys_of_listings(lake: Lake) -> pa.Array:
    """Name the jobs that have files of their own; folders without a file may be left of others."""
    files = list_files(lake, LISTINGS_FOLDER)
    listed = {f"{file.job_id}/{file.path.split('/')[1]}" for file in files}
    return pa.array(sorted(listed), pa.string())


def drop_solutions(
    lake: Lake, game: str, rows: pa.Table, table: str, day: dt.date, check: Callable[[], None]
) -> int:
    """Drop the solutions of result rows, after it is noted that they were, of `table`.

    Returns the bytes that this frees.
    """
    if not len(rows):
        return 0
    check()
    noted = pa.table(
        [
            rows.column("job_id"),
            rows.column("run_id"),
            pa.repeat(pa.scalar(table), len(rows)),
            pa.repeat(pa.scalar(day, pa.date32()), len(rows)),
        ],
        schema=DROPPED,
    )
    write_dropped(lake, game, pa.concat_tables([read_dropped(lake, game), noted]))
    freed = drop_rows(lake, SOLUTION_FILES, JOB, _keys(rows), check=check).freed_bytes
    sizes = lake.sizes(LISTINGS_FOLDER)
    for path in _listed(lake, rows):
        lake.delete(path, durable=False)
        freed += sizes.get(path, 0)
    return freed


def _keys(rows: pa.Table) -> pa.Array:
    return pc.unique(keys_in(rows, JOB))


def _listed(lake: Lake, rows: pa.Table) -> list[str]:
    pairs = zip(*(rows.column(name).to_pylist() for name in JOB), strict=True)
    folders = [f"{files_folder(run_id)}/{job_id}" for job_id, run_id in pairs]
    return [path for folder in folders if lake.exists(folder) for path in lake.list(folder)]


def forget_dropped(lake: Lake, game: str) -> None:
    """Leave out of what was dropped the rows whose result is gone as well.

    Of listings, those stay noted whose job has no answer; what was answered again is forgotten.
    """
    if not lake.exists(dropped_path(game)):
        return
    noted = read_dropped(lake, game)
    is_listing = pc.equal(noted.column("table"), LISTINGS_FOLDER)
    there = _rows_of(lake, pc.unique(noted.column("job_id")))
    has_row = pc.is_in(keys_in(noted, JOB), value_set=_keys(there))
    again = pc.is_in(noted.column("job_id"), value_set=_answered_again(lake, there))
    kept = noted.filter(pc.if_else(is_listing, pc.invert(again), has_row))
    if len(kept) < len(noted):
        write_dropped(lake, game, kept)


def _rows_of(lake: Lake, job_ids: pa.Array) -> pa.Table:
    """Read the result rows of jobs, as much of them as says where their solutions are."""
    found = (
        table.filter(pc.is_in(table.column("job_id"), value_set=job_ids))
        for table in scan_results(lake, _SOLVED)
    )
    return pa.concat_tables([RESULTS.empty_table().select(_SOLVED), *found])


def _answered_again(lake: Lake, rows: pa.Table) -> pa.Array:
    """Name the jobs whose solutions are there as a whole."""
    solved = rows.filter(pc.equal(rows.column("status"), Status.SOLVED.value))
    found = with_solutions(lake, solved).to_pylist()
    return pa.array(sorted({row["job_id"] for row in found if _is_whole(lake, row)}), pa.string())


def _is_whole(lake: Lake, row: dict[str, Any]) -> bool:
    try:
        # Solutions that lie beside those of other jobs have no files: they are all there.
        files_of(lake, row["run_id"], row["job_id"], int(row["count"]))
    except PermanentError:
        return False
    return True

"""Solutions that retention has dropped: dropped/GAME.parquet.

A row says that what is missing was dropped, and did not come to harm. It is looked at where
solutions or a result are missing, and nowhere else: a job that was asked again has its solutions
again. Listings are noted after their result row is gone, too: a night counts their jobs as known.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.json_files import write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import DROPPED
from nightgrid.archive.results.files import SOLUTIONS_FOLDER
from nightgrid.archive.results.solution_files import LISTINGS_FOLDER
from nightgrid.archive.skipped_files import skip_file
from nightgrid.solvers.errors import PermanentError

_ORDER = ("job_id", "run_id", "table", "day")
DROPPED_FOLDER = "dropped"
ROWS_DROPPED_PATH = "checked/rows-dropped.json"
"""When retention has dropped result rows last: what keeps answers in memory compares its text."""


class DroppedError(PermanentError):
    """The solutions of a job were dropped, and are worked again when they are asked again."""


def note_rows_dropped(lake: Lake) -> None:
    """Note that result rows are dropped now."""
    now = dt.datetime.now(dt.UTC).isoformat()
    write_json(lake, ROWS_DROPPED_PATH, {"at": now}, durable=False)


def dropped_path(game: str) -> str:
    """Name the table of what was dropped of a game's results."""
    return f"{DROPPED_FOLDER}/{game}.parquet"


def read_dropped(lake: Lake, game: str) -> pa.Table:
    """Read what was dropped of a game's results."""
    return lake.read_table(dropped_path(game), DROPPED)


def _read_sound(lake: Lake, path: str) -> pa.Table:
    """Read what was dropped; a damaged table is named and has no rows."""
    try:
        return lake.read_table(path, DROPPED)
    except DamagedFileError as error:
        skip_file(path, error)
        return DROPPED.empty_table()


def write_dropped(lake: Lake, game: str, table: pa.Table) -> None:
    """Replace the table of what was dropped, each row once; an empty one is deleted."""
    # The day of the last time counts.
    days = table.group_by(["job_id", "run_id", "table"]).aggregate([("day", "max")])
    named = days.rename_columns(["job_id", "run_id", "table", "day"]).select(list(_ORDER))
    rows = named.sort_by([(name, "ascending") for name in _ORDER]).cast(DROPPED)
    before = read_dropped(lake, game)
    if not len(rows):
        lake.delete(dropped_path(game))
    elif not rows.equals(before):
        lake.write_table(dropped_path(game), rows)


def dropped_on(lake: Lake, row: Mapping[str, Any]) -> dt.date | None:
    """Tell on which day the solutions of a result row were dropped; None: they were not.

    Where the table is damaged, it is named, and nothing is known to be dropped.
    """
    if "game" not in row:
        return None
    table = _read_sound(lake, dropped_path(row["game"]))
    is_one = pc.and_(
        pc.equal(table.column("job_id"), row["job_id"]),
        pc.equal(table.column("run_id"), row["run_id"]),
    )
    tables = pa.array([SOLUTIONS_FOLDER, LISTINGS_FOLDER])
    is_one = pc.and_(is_one, pc.is_in(table.column("table"), value_set=tables))
    found: dt.date | None = pc.max(table.column("day").filter(is_one)).as_py()
    return found


def check_dropped(lake: Lake, row: Mapping[str, Any]) -> None:
    """Raise DroppedError for a result row whose solutions were dropped."""
    _raise_of(row["job_id"], dropped_on(lake, row))


def check_dropped_job(lake: Lake, job_id: str) -> None:
    """Raise DroppedError for a job without a result row whose solutions were dropped.

    Damaged tables are named and passed over.
    """
    for path in lake.list(DROPPED_FOLDER):
        if path.endswith(".parquet"):
            table = _read_sound(lake, path)
            is_one = pc.equal(table.column("job_id"), job_id)
            _raise_of(job_id, pc.max(table.column("day").filter(is_one)).as_py())


def _raise_of(job_id: str, day: dt.date | None) -> None:
    if day is not None:
        raise DroppedError(
            f"the solutions of job {job_id} were dropped on {day}; ask again to have them"
        )


def dropped_jobs(lake: Lake, game: str) -> pa.Array:
    """Read the ids of the jobs that were answered and whose listings were dropped.

    Where the table is damaged, it is named, and none of them is known.
    """
    table = _read_sound(lake, dropped_path(game))
    is_listing = pc.equal(table.column("table"), LISTINGS_FOLDER)
    return pc.unique(table.column("job_id").filter(is_listing))

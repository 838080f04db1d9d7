"""Solutions that retention has dropped while their result rows are there: dropped/GAME.parquet.

A row says that what is missing was dropped, and did not come to harm. It is looked at where
solutions are missing, and nowhere else: a job that was asked again has its solutions again.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import DROPPED
from nightgrid.archive.results.files import SOLUTIONS_FOLDER
from nightgrid.solvers.errors import PermanentError

_ORDER = ("job_id", "run_id", "table", "day")


class DroppedError(PermanentError):
    """The solutions of a job were dropped, and are worked again when they are asked again."""


def dropped_path(game: str) -> str:
    """Name the table of what was dropped of a game's results."""
    return f"dropped/{game}.parquet"


def read_dropped(lake: Lake, game: str) -> pa.Table:
    """Read what was dropped of a game's results."""
    return lake.read_table(dropped_path(game), DROPPED)


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
    """Tell on which day the solutions of a result row were dropped; None: they were not."""
    if "game" not in row:
        return None
    table = read_dropped(lake, row["game"])
    is_one = pc.and_(
        pc.equal(table.column("job_id"), row["job_id"]),
        pc.equal(table.column("run_id"), row["run_id"]),
    )
    is_one = pc.and_(is_one, pc.equal(table.column("table"), SOLUTIONS_FOLDER))
    found: dt.date | None = pc.max(table.column("day").filter(is_one)).as_py()
    return found


def check_dropped(lake: Lake, row: Mapping[str, Any]) -> None:
    """Raise DroppedError for a result row whose solutions were dropped."""
    day = dropped_on(lake, row)
    if day is not None:
        raise DroppedError(
            f"the solutions of job {row['job_id']} were dropped on {day}; ask again to have them"
        )

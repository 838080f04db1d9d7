"""Answers on demand that a damaged file of results held, and how they are asked again.

No chunk result tells them: they were worked in the request. Their rows name the board and the ask
as long as these columns can be read.
"""

from __future__ import annotations

import shlex

import pyarrow.compute as pc

from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import ONDEMAND_PREFIX
from nightgrid.archive.results.results import find_results

_NAMED = ("job_id", "run_id", "puzzle_id", "ask", "rules")
COMMANDS_SHOWN = 5
"""Commands of one file that are named."""


def commands_of(lake: Lake, path: str) -> list[str]:
    """Write the commands that ask again what a damaged file of results alone had answered.

    None for a file of which these columns cannot be read. Words of a player's own are not in them.
    """
    try:
        with lake.open_parquet(path) as file:
            # Without a look at the sums: that the file is damaged is known.
            table = file.read(columns=list(_NAMED))
    except (DamagedFileError, MissingFileError):
        return []
    if table.schema.names != list(_NAMED):
        return []
    table = table.filter(pc.starts_with(table.column("run_id"), ONDEMAND_PREFIX))
    known = find_results(lake, table.column("job_id").to_pylist()).column("job_id")
    lost = table.filter(
        pc.invert(pc.is_in(table.column("job_id"), value_set=known.combine_chunks()))
    )
    return sorted({_command(lake, **row) for row in lost.to_pylist()})


def _command(lake: Lake, *, puzzle_id: str, ask: str, rules: str, **_: str) -> str:
    words = ["nightgrid", "submit", puzzle_id, "--ask", ask, "--lake", lake.url]
    return shlex.join([*words, *(["--rules", rules] if rules else [])])


def shown(commands: list[str]) -> str:
    """Write some commands as one sentence; "" for none."""
    if not commands:
        return ""
    more = len(commands) - COMMANDS_SHOWN
    rest = f"; and {more:,} more" if more > 0 else ""
    return f"ask again: {'; '.join(commands[:COMMANDS_SHOWN])}{rest}"

"""Submitted puzzles, kept so that answers can be drawn on their boards.

A puzzle submitted again on another day gets another file, even if the lake has it: retention drops
puzzles only from old files, so it never drops one that was just submitted.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from nightgrid.archive.lake.schemas import ASKED
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.files import rows_of_keys
from nightgrid.archive.merging.merge import put_merged
from nightgrid.archive.results.files import (
    ASKED_FILES,
    ASKED_FOLDER,
    ONDEMAND_PREFIX,
    put_rows,
)
from nightgrid.solvers.canonical import canonical_json


class AskedPuzzle(NamedTuple):
    """A puzzle as sent in messages: in canonical form, without a board's own words."""

    puzzle_id: str
    game: str
    puzzle: dict[str, Any]


def keep_asked(lake: Lake, puzzles: Sequence[AskedPuzzle]) -> None:
    """Store puzzles in the lake, those of one call in one file, and each once a day (UTC)."""
    once = {puzzle.puzzle_id: puzzle for puzzle in puzzles}
    items = [once[name] for name in sorted(once)]
    if not items:
        return
    rows = [{**item._asdict(), "puzzle": canonical_json(item.puzzle)} for item in items]
    table = pa.Table.from_pylist(rows, ASKED)
    day = dt.datetime.now(dt.UTC).date()
    if len(items) == 1:
        name = f"{ONDEMAND_PREFIX}{items[0].puzzle_id}-{day}.parquet"
        put_rows(lake, f"{ASKED_FOLDER}/{name}", table)
    else:
        put_merged(lake, ASKED_FILES, table)


def find_asked(lake: Lake, puzzle_id: str) -> AskedPuzzle | None:
    """Find a submitted puzzle, or None."""
    for table in rows_of_keys(lake, ASKED_FILES, [puzzle_id]):
        for row in table.to_pylist():
            return AskedPuzzle(row["puzzle_id"], row["game"], json.loads(row["puzzle"]))
    return None

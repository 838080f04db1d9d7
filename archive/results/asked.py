"""Puzzles that came with a question: kept so that an answer can be drawn on its board."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import ASKED
from nightgrid.archive.results.files import (
    ASKED_FILES,
    ASKED_FOLDER,
    ONDEMAND_PREFIX,
    put_rows,
    put_rows_of_many,
    rows_of_jobs,
)
from nightgrid.solvers.canonical import canonical_json


class AskedPuzzle(NamedTuple):
    """A puzzle as it travels in messages: in canonical form, without a board's own words."""

    puzzle_id: str
    game: str
    puzzle: dict[str, Any]


def keep_asked(lake: Lake, puzzles: Sequence[AskedPuzzle]) -> None:
    """Put puzzles into the lake, those of one call into one file."""
    once = {puzzle.puzzle_id: puzzle for puzzle in puzzles}
    rows = [{**item._asdict(), "puzzle": canonical_json(item.puzzle)} for item in once.values()]
    if not rows:
        return
    table = pa.Table.from_pylist(rows, ASKED)
    if len(rows) == 1:
        path = f"{ASKED_FOLDER}/{ONDEMAND_PREFIX}{rows[0]['puzzle_id']}.parquet"
        put_rows(lake, path, table)
    else:
        put_rows_of_many(lake, ASKED_FILES, table)


def find_asked(lake: Lake, puzzle_id: str) -> AskedPuzzle | None:
    """Find a puzzle that came with a question, or None."""
    for table in rows_of_jobs(lake, ASKED_FILES, [puzzle_id]):
        for row in table.to_pylist():
            return AskedPuzzle(row["puzzle_id"], row["game"], json.loads(row["puzzle"]))
    return None

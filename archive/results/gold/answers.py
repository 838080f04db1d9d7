"""The results that answer a game's asks, as columns: what all tables of gold are made of."""

from __future__ import annotations

from collections.abc import Collection
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.conforming import select
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS
from nightgrid.archive.results.results import once_a_job, scan_results
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import question_of

COUNT = Ask(kind="count")
ANSWER = (
    "job_id", "run_id", "puzzle_id", "status", "count", "value", "states", "kernel_ns",
    "budget_seconds",
)  # fmt: skip
"""Columns of an answer."""


class Answers:
    """The results that answer a game's asks, which are read once for all tables."""

    def __init__(self, lake: Lake, game: Game[Any, Any], asks: Collection[Ask]) -> None:
        self._questions = {ask: question_of(game, ask) for ask in asks}
        fields = next(iter(self._questions.values())).to_json() if asks else {}
        names = [*ANSWER, *(name for name in fields if name not in ANSWER)]
        asked = pa.array(sorted(map(str, asks)), pa.string())
        found = [select(RESULTS, names).empty_table()]
        for table in scan_results(lake, names):
            same = [pc.equal(table.column(n), text) for n, text in fields.items() if n != "ask"]
            same.append(pc.is_in(table.column("ask"), value_set=asked))
            found.append(table.filter(reduce(pc.and_, same)))
        self._rows = pa.concat_tables(found).select([*ANSWER, "ask"])

    def __len__(self) -> int:
        return len(self._rows)

    def all_to(self, ask: Ask) -> pa.Table:
        """Give all rows that answer an ask; a job that ended several times has several."""
        rows = self._rows.filter(pc.equal(self._rows.column("ask"), str(ask)))
        return rows.select(list(ANSWER))

    def to(self, ask: Ask, puzzle_ids: pa.ChunkedArray) -> pa.Table:
        """Give what counts as the answer about each of these puzzles: nulls where there is none."""
        rows = self.all_to(ask)
        rows = once_a_job(rows.filter(pc.is_in(rows.column("puzzle_id"), value_set=puzzle_ids)))
        return rows.take(pc.index_in(puzzle_ids, value_set=rows.column("puzzle_id")))

"""Contradictions: two versions of a solver answer a question differently, so that one is wrong.

The version of a solver is part of the question, so that a new version is asked anew about every
board. What both have proven must agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.conforming import select
from nightgrid.archive.lake.json_files import read_hint, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS
from nightgrid.archive.results.files import RESULT_FILES, rows_where
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.question import Question

PROVEN = pa.array([Status.SOLVED.value, Status.UNSOLVABLE.value], pa.string())
"""Statuses that no budget changes: other statuses contradict nothing."""
_COLUMNS = ("puzzle_id", "solver_version", "status", "count", "value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two versions that answer differently about one board."""

    puzzle_id: str
    version: str
    """The version before, and what it said."""
    before: str
    now: str

    def sentence(self) -> str:
        """Say in one sentence what is wrong."""
        return f"{self.version} said {self.before}, and the present solver says {self.now}"


def contradictions(lake: Lake, question: Question) -> Iterator[Contradiction]:
    """Compare the answers to a question with those of other versions of its solver, by puzzle."""
    asked = question.to_json()
    now = asked.pop("solver_version")
    condition = pc.field("status").isin(PROVEN)
    for name, text in asked.items():
        condition = condition & (pc.field(name) == text)
    found = rows_where(lake, RESULT_FILES, condition, _COLUMNS, (*asked, "status"))
    table = pa.concat_tables([select(RESULTS, list(_COLUMNS)).empty_table(), *found])
    is_now = pc.equal(table.column("solver_version"), now)
    present = {row["puzzle_id"]: row for row in table.filter(is_now).to_pylist()}
    others = table.filter(pc.invert(is_now)).group_by(list(_COLUMNS)).aggregate([])
    order = [(name, "ascending") for name in ("puzzle_id", "solver_version")]
    for row in others.sort_by(order).to_pylist():
        here = present.get(row["puzzle_id"])
        if here is not None and _said(here) != _said(row):
            yield Contradiction(
                puzzle_id=row["puzzle_id"],
                version=row["solver_version"],
                before=_said(row),
                now=_said(here),
            )


def _said(row: dict[str, Any]) -> str:
    if row["status"] == Status.UNSOLVABLE.value:
        return "unsolvable"
    value = "" if row["value"] is None else f" of value {row['value']}"
    return f"{row['count']:,} solutions{value}" if row["count"] is not None else f"solved{value}"


def compared_path(game: str) -> str:
    """Name the note that lists the compared versions of a game's solver."""
    return f"checked/{game}-compared.json"


def is_compared(lake: Lake, question: Question) -> bool:
    """Tell whether all answers of this version were compared with those of versions before it."""
    known = read_hint(lake, compared_path(question.game), dict)
    return known is not None and known.get(_about(question)) == question.solver_version


def keep_compared(lake: Lake, question: Question) -> None:
    """Note that they were."""
    path = compared_path(question.game)
    known = read_hint(lake, path, dict) or {}
    known[_about(question)] = question.solver_version
    write_json(lake, path, known, durable=False)


def _about(question: Question) -> str:
    return f"{question.ask}\n{question.rules}\n{question.lexicon_id}"

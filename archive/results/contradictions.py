"""Contradictions: two versions of a solver answer a question differently, so that one is wrong.

The version of a solver is part of the question, so a new version answers every board again. Proven
results of both must agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.conforming import select
from nightgrid.archive.lake.schemas import RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import RESULT_FILES, rows_where
from nightgrid.archive.results.statuses import PROVEN
from nightgrid.archive.state import read_state, write_state
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.question import Question

COMPARED = "compared"
"""Step of the state: the version and the count of each compared question."""
_ASKED = ("game", "puzzle_id", "ask", "rules", "lexicon_id")
ANSWER_COLUMNS = (*_ASKED, "solver_version", "status", "count", "value", "job_id", "run_id")
"""Columns of contradicting answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Two versions that answer differently about one board."""

    puzzle_id: str
    version: str
    """The earlier version, and its answer."""
    before: str
    now: str

    def sentence(self) -> str:
        """Describe the contradiction in one sentence."""
        return f"{self.version} said {self.before}, and the present solver says {self.now}"


def contradictions(lake: Lake, question: Question) -> Iterator[Contradiction]:
    """Compare the answers to a question with those of other versions of its solver, by puzzle.

    Rankers differ without contradicting one another.
    """
    asked = question.to_json()
    now = asked.pop("solver_version")
    condition = reduce(and_, (pc.field(name) == text for name, text in asked.items()))
    rows = contradicting_answers(lake, condition).to_pylist()
    rows.sort(key=lambda row: (row["puzzle_id"], row["solver_version"]))
    present = {row["puzzle_id"]: row for row in rows if row["solver_version"] == now}
    # A version may have answered in several runs.
    before = dict.fromkeys((row["puzzle_id"], row["solver_version"], said_in(row)) for row in rows)
    for puzzle_id, version, said in before:
        if puzzle_id in present and version != now and said != said_in(present[puzzle_id]):
            yield Contradiction(
                puzzle_id=puzzle_id,
                version=version,
                before=said,
                now=said_in(present[puzzle_id]),
            )


def contradicting_answers(lake: Lake, condition: pc.Expression | None = None) -> pa.Table:
    """Read proven answers to one question about one board that differ, each once.

    From any versions and runs; they match a condition on ANSWER_COLUMNS.
    """
    wanted = pc.field("status").isin(PROVEN) & ~pc.starts_with(pc.field("ask"), "meant")
    wanted = wanted if condition is None else wanted & condition
    found = rows_where(lake, RESULT_FILES, wanted, ANSWER_COLUMNS)
    table = pa.concat_tables([select(RESULTS, ANSWER_COLUMNS).empty_table(), *found])
    said = table.select(list(_ASKED)).append_column("said", answer_texts(table))
    different = said.group_by([*_ASKED, "said"]).aggregate([])
    counted = different.group_by(list(_ASKED)).aggregate([([], "count_all")])
    several = counted.filter(pc.greater(counted.column("count_all"), 1)).select(list(_ASKED))
    differing = table.join(several, list(_ASKED), join_type="left semi")
    return differing.group_by(list(ANSWER_COLUMNS)).aggregate([]).select(list(ANSWER_COLUMNS))


def answer_texts(table: pa.Table) -> pa.ChunkedArray:
    """Return each row's answer as a text, so that equal texts are equal answers."""
    numbers = (pc.cast(table.column(name), pa.string()) for name in ("count", "value"))
    solved = pc.binary_join_element_wise(*(pc.fill_null(text, "") for text in numbers), "/")
    is_none = pc.equal(table.column("status"), Status.UNSOLVABLE.value)
    return pc.if_else(is_none, Status.UNSOLVABLE.value, solved)


def said_in(row: Mapping[str, Any]) -> str:
    """Describe the answer of a proven result in words."""
    if row["status"] == Status.UNSOLVABLE.value:
        return "unsolvable"
    value = "" if row["value"] is None else f" of value {row['value']}"
    return f"{row['count']:,} solutions{value}" if row["count"] is not None else f"solved{value}"


def is_compared(lake: Lake, question: Question) -> bool:
    """Return whether a night has compared the answers of this version with earlier ones."""
    note = _notes(lake, question.game).get(_about(question), {})
    return bool(note.get("version") == question.solver_version)


def note_compared(lake: Lake, question: Question, count: int) -> None:
    """Record that a night has compared the answers of this version, and how many differ."""
    note = {"version": question.solver_version, "count": count}
    notes = {**_notes(lake, question.game), _about(question): note}
    write_state(lake, question.game, COMPARED, notes)


def contradicted_count(lake: Lake, game: str) -> int | None:
    """Read how many contradictions nights have found in a game; None: never compared."""
    notes = _notes(lake, game)
    return sum(note["count"] for note in notes.values()) if notes else None


def _notes(lake: Lake, game: str) -> dict[str, dict[str, Any]]:
    return read_state(lake, game, COMPARED) or {}


def _about(question: Question) -> str:
    return f"{question.ask}\n{question.rules}\n{question.lexicon_id}"

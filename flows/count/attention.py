"""What of a count needs attention, with its place in the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.corpus.corpus import LAKE, Corpus
from nightgrid.archive.games.generator_spec import is_generator_spec
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import CORPUS_QUARANTINE, CORPUS_ROWS
from nightgrid.archive.lookup.row_filter import RowFilter
from nightgrid.archive.results.contradictions import contradictions, note_contradicted
from nightgrid.flows.attention import (
    AttentionItem,
    contradicting,
    in_quarantine,
    unanswered,
)
from nightgrid.solvers.algebra import Status
from nightgrid.workers.runs.manifest import Run


def attention_of(
    lake: Lake, corpus: Corpus, run: Run, statuses: Mapping[str, int], *, across: bool
) -> list[AttentionItem]:
    """List the puzzles of a corpus without an answer, and its rows in quarantine.

    A board without a solution is listed unless a generator made the corpus, for which it is an
    answer like any other. `across` reads the results of all runs instead of this run's.
    """
    wanted = RowFilter(games=(corpus.game,), question=run.question)
    figures = dict(statuses)
    if is_generator_spec(corpus.name):
        figures.pop(Status.UNSOLVABLE, None)
    if across:
        ids: list[pa.ChunkedArray] = []

        def within(table: pa.Table) -> pa.Table:
            if not ids:
                ids.append(corpus.puzzle_ids())
            return table.filter(pc.is_in(table.column("puzzle_id"), value_set=ids[0]))

        found = unanswered(lake, wanted, figures, within)
    else:
        found = unanswered(lake, replace(wanted, runs=frozenset({run.run_id})), figures)
    broken = (
        row
        for table in lake.scan(corpus.quarantine_path, CORPUS_QUARANTINE, CORPUS_QUARANTINE.names)
        for row in table.to_pylist()
    )
    return [*_placed(lake, corpus, found), *in_quarantine(broken if corpus.quarantined else ())]


def contradictions_of(lake: Lake, corpus: Corpus, run: Run) -> list[AttentionItem]:
    """List the puzzles of a corpus that another version of the solver has answered otherwise.

    A night tells of the boards that it brings, and once; a count tells of those of its corpus.
    """
    found = list(contradictions(lake, run.question))
    note_contradicted(lake, run.question, len(found))
    if found:
        ids = {*corpus.puzzle_ids().to_pylist()}
        found = [one for one in found if one.puzzle_id in ids]
    items = contradicting(found, str(run.question.ask), lambda name: name)
    return _placed(lake, corpus, items)


def _placed(lake: Lake, corpus: Corpus, items: tuple[AttentionItem, ...]) -> list[AttentionItem]:
    """Name puzzles by their rows in the corpus."""
    if corpus.name == LAKE or not items:
        return list(items)
    ids = pa.array([item.puzzle_id for item in items], pa.string())
    rows = lake.rows_among(corpus.rows_path, CORPUS_ROWS, CORPUS_ROWS.names, "puzzle_id", ids)
    places: dict[str, dict[str, Any]] = {}
    for row in rows.to_pylist():
        places.setdefault(row["puzzle_id"], row)
    placed = [
        replace(item, name=_place(places[str(item.puzzle_id)], str(item.puzzle_id)))
        if item.puzzle_id in places
        else item
        for item in items
    ]
    return sorted(placed, key=lambda item: item.name)


def _place(row: Mapping[str, Any], puzzle_id: str) -> str:
    where = row["level"] or f"row {row['source_row']}"
    return f"{row['source']} {where}, puzzle {puzzle_id}"

"""Figures of the puzzles of a count: statuses, counts, values and costs, summed up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import find_results_of
from nightgrid.solvers.question import Question

_COLUMNS = ("job_id", "run_id", "puzzle_id", "status", "count", "value", "states", "kernel_ns")
_DIGITS_WRITTEN = 9
"""Longer counts are shown by their number of digits."""


@dataclass(slots=True, kw_only=True)
class Figures:
    """Figures over result rows."""

    jobs: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    digits: Counter[int] = field(default_factory=Counter)
    """Rows with a count, by how many decimal digits it has: 0 for a count of 0, and 1 for 2 to 9
    next to `unique`."""
    unique: int = 0
    """Rows with a count of exactly 1, which `digits` leaves out."""
    values: Counter[int] = field(default_factory=Counter)
    """Rows by the value of their best solution, in games that ask for the fewest of something."""
    states: int = 0
    kernel_ns: int = 0
    largest_count: int | None = None
    largest_puzzle: str | None = None
    longest_ns: int = 0
    longest_puzzle: str | None = None

    @classmethod
    def of(cls, rows: pa.Table) -> Figures:
        """Add up result rows."""
        if not rows.num_rows:
            return cls()
        longest = pc.max(rows.column("kernel_ns")).as_py()
        at = pc.index(rows.column("kernel_ns"), longest).as_py()
        figures = cls(
            jobs=rows.num_rows,
            statuses=_value_counts(rows.column("status")),
            values=_value_counts(rows.column("value").drop_null()),
            states=pc.sum(rows.column("states")).as_py(),
            kernel_ns=pc.sum(rows.column("kernel_ns")).as_py(),
            longest_ns=longest,
            longest_puzzle=rows.column("puzzle_id")[at].as_py() if longest else None,
        )
        counts = rows.column("count")
        told = counts.drop_null()
        if len(told):
            texts = told.cast(pa.string())
            lengths = _value_counts(pc.utf8_length(texts))
            zeros, figures.unique = (pc.sum(pc.equal(texts, one)).as_py() for one in ("0", "1"))
            lengths[1] -= zeros + figures.unique
            lengths[0] = zeros
            figures.digits = +lengths
            largest = pc.max(told).as_py()
            at = pc.index(counts, pa.scalar(largest, counts.type)).as_py()
            figures.largest_count = int(largest)
            figures.largest_puzzle = rows.column("puzzle_id")[at].as_py()
        return figures

    def distribution(self) -> list[tuple[str, int]]:
        """List how many rows have how many solutions, from few to many."""
        found = [("0", self.digits[0]), ("1", self.unique), ("2 to 9", self.digits[1])]
        for digits in range(2, max(self.digits, default=0) + 1):
            if digits > _DIGITS_WRITTEN:
                found.append((f"{digits} digits", self.digits[digits]))
                continue
            low = 10 ** (digits - 1)
            found.append((f"{low:,} to {10 * low - 1:,}", self.digits[digits]))
        return [(span, number) for span, number in found if number]


def figures_of_puzzles(lake: Lake, question: Question, wanted: pa.ChunkedArray) -> Figures:
    """Sum up the results of all puzzles with the ids `wanted`, whichever runs answered them.

    Takes about 150 bytes of memory a puzzle.
    """
    found = find_results_of(lake, question, _COLUMNS)
    return Figures.of(found.filter(pc.is_in(found.column("puzzle_id"), value_set=wanted)))


def _value_counts(values: pa.Array | pa.ChunkedArray) -> Counter[Any]:
    return Counter({row["values"]: row["counts"] for row in pc.value_counts(values).to_pylist()})

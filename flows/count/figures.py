"""What the puzzles of a count came to: statuses, counts, values and costs, summed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import find_results_of
from nightgrid.solvers.question import Question
from nightgrid.workers.runs.finishing.ended import results_of_run

_COLUMNS = ("puzzle_id", "status", "count", "value", "states", "kernel_ns")
_TOGETHER = ("job_id", "run_id", *_COLUMNS)
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
    """Rows by what their best solution is worth, in games that ask for the fewest of something."""
    states: int = 0
    kernel_ns: int = 0
    largest_count: int | None = None
    largest_puzzle: str | None = None
    longest_ns: int = 0
    longest_puzzle: str | None = None

    def add(self, rows: pa.Table) -> None:
        """Take more result rows in."""
        if not rows.num_rows:
            return
        self.jobs += rows.num_rows
        self.statuses.update(_value_counts(rows.column("status")))
        self.values.update(_value_counts(rows.column("value").drop_null()))
        self.states += pc.sum(rows.column("states")).as_py()
        self.kernel_ns += pc.sum(rows.column("kernel_ns")).as_py()
        self._add_counts(rows)
        longest = pc.max(rows.column("kernel_ns")).as_py()
        if longest > self.longest_ns:
            at = pc.index(rows.column("kernel_ns"), longest).as_py()
            self.longest_ns, self.longest_puzzle = longest, rows.column("puzzle_id")[at].as_py()

    def _add_counts(self, rows: pa.Table) -> None:
        counts = rows.column("count")
        told = counts.drop_null()
        if not len(told):
            return
        texts = told.cast(pa.string())
        lengths = _value_counts(pc.utf8_length(texts))
        zeros = pc.sum(pc.equal(texts, "0")).as_py()
        ones = pc.sum(pc.equal(texts, "1")).as_py()
        self.unique += ones
        lengths[1] = lengths.get(1, 0) - zeros - ones
        lengths[0] = zeros
        self.digits.update({length: number for length, number in lengths.items() if number})
        largest = pc.max(told).as_py()
        if self.largest_count is None or largest > self.largest_count:
            at = pc.index(counts, pa.scalar(largest, counts.type)).as_py()
            self.largest_count = int(largest)
            self.largest_puzzle = rows.column("puzzle_id")[at].as_py()

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


def figures_of_run(lake: Lake, done: Mapping[str, Any] | None) -> Figures:
    """Add up the results of a run, given how it ended; memory does not grow with it."""
    figures = Figures()
    if done is not None and done["results"]:
        for rows in results_of_run(lake, done["run_id"], _COLUMNS):
            figures.add(rows)
    return figures


def figures_of_puzzles(lake: Lake, question: Question, wanted: pa.ChunkedArray) -> Figures:
    """Add up the results of all puzzles with the ids `wanted`, whichever runs they are from.

    Takes about 150 bytes of memory a puzzle.
    """
    found = find_results_of(lake, question, _TOGETHER)
    figures = Figures()
    figures.add(found.filter(pc.is_in(found.column("puzzle_id"), value_set=wanted)))
    return figures


def _value_counts(values: pa.Array | pa.ChunkedArray) -> dict[Any, int]:
    return {row["values"]: row["counts"] for row in pc.value_counts(values).to_pylist()}

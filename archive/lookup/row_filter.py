"""Filter of the rows of a list: the options of `nightgrid list` and of reports."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.solvers.algebra import Status
from nightgrid.solvers.question import Question
from nightgrid.solvers.registry import GAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """Filter by games, statuses, dates, runs and questions."""

    games: tuple[str, ...] = GAMES
    statuses: frozenset[str] = frozenset(map(str, Status))
    since: dt.date | None = None
    """First date; if set, rows without a date are left out."""
    until: dt.date | None = None
    runs: frozenset[str] | None = None
    """Only results of these runs; None: of all."""
    question: Question | None = None
    """Only results that answer it; None: all."""
    asks: frozenset[str] | None = None
    """Only results of these asks, formatted as `str(ask)`; None: of all."""
    jobs: frozenset[str] | None = None
    """Only results of these jobs; None: of all."""
    puzzles: frozenset[str] | None = None
    """Only results of these puzzles, by id; None: of all."""

    def ended(self, status: str) -> RowFilter:
        """Return the filter restricted to one status."""
        return replace(self, statuses=frozenset({status}))

    @property
    def dated(self) -> bool:
        """Whether the filter has dates."""
        return self.since is not None or self.until is not None

    def on_dates(self, table: pa.Table) -> pa.Table:
        """Keep the rows between the filter's dates."""
        if self.since is not None:
            table = table.filter(pc.greater_equal(table.column("date"), self.since))
        if self.until is not None:
            table = table.filter(pc.less_equal(table.column("date"), self.until))
        return table

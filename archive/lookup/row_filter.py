"""Which rows a list of a lake has: the options of `nightgrid list` and of reports."""

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
    """Which rows a list has: games, statuses, dates, runs, questions."""

    games: tuple[str, ...] = GAMES
    statuses: frozenset[str] = frozenset(map(str, Status))
    since: dt.date | None = None
    """First date; with it, rows without a date are left out."""
    until: dt.date | None = None
    runs: frozenset[str] | None = None
    """Results of these runs alone; None: of all runs."""
    question: Question | None = None
    """Results that answer it alone; None: all results."""
    asks: frozenset[str] | None = None
    """Results of these asks alone, as `str(ask)` writes them; None: of all."""
    jobs: frozenset[str] | None = None
    """Results of these jobs alone; None: of all."""
    puzzles: frozenset[str] | None = None
    """Results of these puzzles alone, by id; None: of all."""

    def ended(self, status: str) -> RowFilter:
        """Narrow the filter to the results of one status."""
        return replace(self, statuses=frozenset({status}))

    @property
    def dated(self) -> bool:
        """Whether dates bound the list."""
        return self.since is not None or self.until is not None

    def on_dates(self, table: pa.Table) -> pa.Table:
        """Keep the rows between the filter's dates."""
        if self.since is not None:
            table = table.filter(pc.greater_equal(table.column("date"), self.since))
        if self.until is not None:
            table = table.filter(pc.less_equal(table.column("date"), self.until))
        return table

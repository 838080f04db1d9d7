"""A Strands job by ranges of spangrams, or of first pieces where there is no spangram."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from nightgrid.solvers.algebra import Ask, Budget, Outcome, Statistics
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.strands.general.wide_pieces import WideFound
from nightgrid.solvers.strands.listing import counted_outcome, engine_for
from nightgrid.solvers.strands.paths import build_cover, spell
from nightgrid.solvers.strands.pieces.pieces import Found
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.solution import Cover


class RangedCovers:
    """Counts covers, and ranks them for `best`, by ranges of the root's children."""

    def __init__(
        self, puzzle: Puzzle, rules: Rules, found: Found | WideFound, words: Lexicon, ask: Ask,
        budget: Budget,
    ) -> None:  # fmt: skip
        self._puzzle, self._rules, self._found, self._words = puzzle, rules, found, words
        self._ask = ask
        self._engine: Any = engine_for(puzzle, rules, found, budget, exists=False)
        self._covered: dict[int, tuple[int, int]] = {}
        """Count and best score of each first choice with covers."""
        self._before = Statistics()

    @property
    def size(self) -> int:
        """Number of first choices."""
        return int(self._engine.root_size())

    def work(self, start: int, stop: int) -> None:
        """Value the covers of first choices. Raises BudgetSpentError."""
        indices, counts, bests = self._engine.root_values(start, stop)
        self._covered |= zip(indices, zip(counts, bests, strict=True), strict=True)

    def outcome(self, start: int, stop: int) -> Outcome[Cover]:
        """Make the outcome of a range that was worked. Raises BudgetSpentError."""
        indices = sorted(i for i in self._covered if start <= i < stop)
        counts, bests = ([self._covered[i][k] for i in indices] for k in (0, 1))
        values = counts, bests, [(i, None) for i in indices]
        return counted_outcome(
            self._engine, self._ask.limit, values, ([], 0), self._build, self._spent
        )

    def _build(self, pieces: list[tuple[str, int]], value: int) -> Cover:
        return build_cover(pieces, value, self._puzzle, self._rules, self._found, self._words)

    def what(self, start: int, stop: int) -> str:
        """Say of a range with which spangram it begins and ends."""
        named = [self._name(i) for i in sorted({start, stop - 1})]
        kind = "first word" if self._rules.spangram == "off" else "spangram"
        many = f"{kind}s {start + 1:,}-{stop:,} of {self.size:,}"
        return f"{many}: {' to '.join(named)}" if stop - start > 1 else f"{kind} {named[0]}"

    def _name(self, choice: int) -> str:
        return spell(self._engine.root_child(choice)[0], self._found, self._words)

    def _spent(self) -> Statistics:
        """Say what was spent since the last time."""
        now, before = self._engine.statistics(), self._before
        self._before = now
        spent = {
            field.name: getattr(now, field.name) - getattr(before, field.name)
            for field in fields(Statistics)
            if field.name not in ("table_bytes", "engine")
        }
        return Statistics(**spent, table_bytes=now.table_bytes, engine=now.engine)

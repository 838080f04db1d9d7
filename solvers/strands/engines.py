"""Which of the two searches a board goes to."""

from __future__ import annotations

from solvers.algebra import Budget
from solvers.strands.pieces import Found
from solvers.strands.puzzle import Puzzle
from solvers.strands.rules import Rules
from solvers.strands.sweep_engine import SweepEngine
from solvers.strands.zone_engine import ZoneEngine


def engine_for(
    puzzle: Puzzle, rules: Rules, found: Found, budget: Budget, *, exists: bool
) -> ZoneEngine | SweepEngine:
    """Choose the search: by zones where the number of words is known, else cell by cell."""
    known = rules.words == "given" and puzzle.theme_words is not None
    if known and rules.spangram != "off" and 1 <= (puzzle.theme_words or 0) <= 60:
        if puzzle.cell_count <= 63:
            return ZoneEngine(puzzle, rules, found, budget, exists=exists)
    return SweepEngine(puzzle, rules, found, budget, exists=exists)

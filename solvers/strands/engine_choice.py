"""Which search a board goes to: the fast ones first, the general one where they cannot go."""

from __future__ import annotations

import time
from dataclasses import replace

from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.kernel.codes import FIXED_TABLE_FULL
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.general.engine import GeneralEngine
from nightgrid.solvers.strands.general.wide_pieces import WideFound, widened
from nightgrid.solvers.strands.pieces.pieces import Found
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.states.table import NODES
from nightgrid.solvers.strands.sweep.engine import SweepEngine
from nightgrid.solvers.strands.zones.engine import ZoneEngine

ZONE_CELLS_MAX, ZONE_WORDS_MAX = 63, 60
SWEEP_WORDS_MAX = 250
SWEEP_NODES = 1 << 22
"""What the sweep may try, about a second, before a board of more than 63 cells is taken off it: row
by row may be the wrong way to go. Any board is that has more sets of words in use, or of
alternative paths, than the sweep has room for."""


def engine_for(
    puzzle: Puzzle, rules: Rules, found: Found | WideFound, budget: Budget, *, exists: bool
) -> ZoneEngine | SweepEngine | GeneralEngine:
    """Choose the search: by zones where the number of words is known, else cell by cell.

    The choice never depends on the clock, and all searches but that by zones have the same states
    and children, so that a part means the same whichever of them takes it.
    """
    if isinstance(found, WideFound):
        return GeneralEngine(puzzle, rules, found, budget, exists=exists)
    words = puzzle.theme_words if rules.words == "given" else None
    if words is not None and rules.spangram != "off" and 1 <= words <= ZONE_WORDS_MAX:
        if puzzle.cell_count <= ZONE_CELLS_MAX:
            return ZoneEngine(puzzle, rules, found, budget, exists=exists)
    if (words or 0) > SWEEP_WORDS_MAX:
        return GeneralEngine(puzzle, rules, widened(found), budget, exists=exists)
    sweep = SweepEngine(puzzle, rules, found, budget, exists=exists)
    large = puzzle.cell_count > ZONE_CELLS_MAX
    if budget.nodes <= SWEEP_NODES or not (large or not rules.crossing or not rules.repeats):
        return sweep
    started_s = time.monotonic()
    try:
        if sweep.try_all(SWEEP_NODES) or not large:
            return sweep
    except BudgetSpentError as error:
        if error.code != FIXED_TABLE_FULL:
            raise
    rest = replace(
        budget,
        nodes=budget.nodes - int(sweep.table.control[NODES]),
        seconds=max(1e-9, budget.seconds - (time.monotonic() - started_s)),
    )
    return GeneralEngine(puzzle, rules, widened(found), rest, exists=exists)

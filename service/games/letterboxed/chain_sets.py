"""`solve --disjoint`: a largest set of chains without shared words."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from nightgrid.solvers.algebra import Ask, Budget, Outcome, Statistics, Status
from nightgrid.solvers.letterboxed.search.disjoint import disjoint_chains
from nightgrid.solvers.reasons import ReasonCode

if TYPE_CHECKING:
    from nightgrid.solvers.game_contract import Game
    from nightgrid.solvers.letterboxed.puzzle import Puzzle
    from nightgrid.solvers.letterboxed.solution import Chain

CHAINS_MAX = 100_000
"""Most chains from which a set is chosen."""


def disjoint_set(
    game: Game[Puzzle, Chain], puzzle: Puzzle, budget: Budget
) -> tuple[Outcome[Chain], int | None]:
    """Find a largest set of chains that share no word; a board without chains is an answer.

    Returns it with the number of chains that it is chosen from, None if unknown. Raises
    PermanentError if chains have three words or more.
    """
    every = game.solve(puzzle, Ask(kind="all", limit=CHAINS_MAX), None, budget)
    if every.status is not Status.SOLVED:
        return every, None
    if every.truncated:
        reason = (
            f"--disjoint chooses among at most {CHAINS_MAX:,} chains, and there are more; "
            "--rule words=N and --rule min_length=N leave fewer"
        )
        code = ReasonCode.CAPACITY
        return Outcome(status=Status.OVER_BUDGET, reason_code=code, reason=reason), None
    begun_ns = time.perf_counter_ns()
    best = disjoint_chains(every.solutions)
    took = Statistics(kernel_ns=time.perf_counter_ns() - begun_ns)
    outcome = replace(every, count=len(best), solutions=best, statistics=every.statistics + took)
    return outcome, len(every.solutions)

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
) -> tuple[Outcome[Chain], dict[str, int | None]]:
    """Find a largest set of chains that share no word; a board without chains is an answer.

    Returns it with the number of chains that it is chosen `of`, and the `at_most` that may be in
    one; None where that is not known.
    """
    unknown: dict[str, int | None] = {"at_most": None, "of": None}
    every = game.solve(puzzle, Ask(kind="all", limit=CHAINS_MAX), None, budget)
    if every.status is not Status.SOLVED:
        return every, unknown
    if every.truncated:
        reason = (
            f"--disjoint chooses among at most {CHAINS_MAX:,} chains, and there are more; "
            "--rule words=N and --rule min_length=N leave fewer"
        )
        code = ReasonCode.CAPACITY
        return Outcome(status=Status.OVER_BUDGET, reason_code=code, reason=reason), unknown
    begun_ns = time.perf_counter_ns()
    best = disjoint_chains(every.solutions, budget)
    took = Statistics(kernel_ns=time.perf_counter_ns() - begun_ns)
    outcome = replace(
        every,
        status=Status.SOLVED if best.proven else Status.OVER_BUDGET,
        count=len(best.chains),
        solutions=best.chains,
        statistics=every.statistics + took,
        reason_code=None if best.proven else ReasonCode.UNPROVEN,
        reason="" if best.proven else "the budget ran out before the set was proven largest",
    )
    return outcome, {"at_most": best.bound, "of": len(every.solutions)}

"""Solve once more what had too little of a core: seconds are of the wall clock, work is not."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nightgrid.solvers.algebra import Budget, Outcome
from nightgrid.solvers.reasons import ReasonCode

BUSY_SHARE = 0.75
"""A process that had less of a core than this shares it with others."""
LONGER_MAX = 3.0
"""How many times as long the second try may take where nothing else is said."""


def solve_twice_if_busy(
    solve: Callable[[Budget], Outcome[Any]],
    budget: Budget,
    most_s: float,
    processor_s: Callable[[], float] = time.process_time,
    *,
    longer_max: float = LONGER_MAX,
    may_do: Callable[[float], bool] = lambda _: True,
) -> Outcome[Any]:
    """Solve within a budget; once more if only its seconds ran out while the machine was busy.

    The second try has as many seconds as the first would have needed for its share of a core: at
    most `longer_max` times those of the budget, and there is none that would take over `most_s`, or
    of which `may_do` says after the first that it would be in vain: it is told how much of a core
    the second would have, in seconds.
    What the board would become otherwise costs more than the seconds of the first try: a run takes
    planning, messages and files.
    """
    begun = processor_s()
    outcome = solve(budget)
    share = (processor_s() - begun) / budget.seconds
    if outcome.reason_code is not ReasonCode.SECONDS or budget.stopped is not None:
        return outcome
    longer = budget.seconds / max(share, 1 / longer_max)
    if share >= BUSY_SHARE or longer > most_s or not may_do(longer * share):
        return outcome
    return solve(replace(budget, seconds=longer))

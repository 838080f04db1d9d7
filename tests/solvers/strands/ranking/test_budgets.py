"""The budget of a ranking is that of all its steps together."""

from __future__ import annotations

from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.solvers.strands.ranking.budgets import timed


def test_a_timed_budget_keeps_its_limits_and_stops_when_its_seconds_are_over():
    spent = Budget(nodes=7, seconds=1e-9)
    with timed(spent) as budget:
        assert budget.stopped is ReasonCode.DEADLINE
        assert budget.limits == spent.limits


def test_a_timed_budget_follows_the_stop_that_it_had():
    stop = Stop()
    with timed(Budget(seconds=60.0, stop=stop)) as budget:
        assert budget.stopped is None
        stop.set(ReasonCode.CANCELLED)
        assert budget.stopped is ReasonCode.CANCELLED

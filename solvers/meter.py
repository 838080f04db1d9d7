"""Metering of the general search against its budget."""

from __future__ import annotations

import time

from nightgrid.solvers.algebra import Budget, Statistics
from nightgrid.solvers.kernel.codes import OUT_OF_BYTES, OUT_OF_NODES, OUT_OF_SECONDS
from nightgrid.solvers.reasons import BudgetSpentError

STATE_BYTES = 400
"""A state of the general search, with its key, its count and its share of the table."""
CLOCK_STRIDE = 1024


class Meter:
    """Counts the cost of a search, and stops it when its budget is spent."""

    def __init__(self, budget: Budget) -> None:
        self.states = self.nodes = self.peak = 0
        self._started_ns = time.perf_counter_ns()
        self._nodes_max = budget.nodes
        self._states_max = budget.table_bytes // STATE_BYTES
        self._budget, self._deadline_ns = budget, budget.deadline_ns()

    def add_node(self) -> None:
        """Count a transition."""
        self.nodes += 1
        if self.nodes > self._nodes_max:
            raise BudgetSpentError(OUT_OF_NODES)
        if self.nodes % CLOCK_STRIDE == 1:
            self.check_clock()

    def add_states(self, states: int) -> None:
        """Count many states at once, each with its transition."""
        self.nodes += states
        self.states += states
        self.peak = max(self.peak, states)
        if self.nodes > self._nodes_max:
            raise BudgetSpentError(OUT_OF_NODES)
        if states > self._states_max:
            raise BudgetSpentError(OUT_OF_BYTES)
        self.check_clock()

    def check_clock(self) -> None:
        """Raise BudgetSpentError if the budget's seconds have passed, or the solve is to stop."""
        if self._budget.is_over(self._deadline_ns):
            raise BudgetSpentError(OUT_OF_SECONDS)

    def add_state(self, states: int) -> None:
        """Count another state; `states` is the number of states held."""
        self.states += 1
        self.peak = max(self.peak, states)
        if states > self._states_max:
            raise BudgetSpentError(OUT_OF_BYTES)

    def statistics(self) -> Statistics:
        """Return the cost so far."""
        return Statistics(
            states=self.states,
            nodes=self.nodes,
            kernel_ns=time.perf_counter_ns() - self._started_ns,
            table_bytes=self.peak * STATE_BYTES,
            engine="general",
        )

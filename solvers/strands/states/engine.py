"""Common parts of both searches: the table, the pool, the budget, and the cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from nightgrid.solvers.algebra import Budget, Statistics
from nightgrid.solvers.kernel.codes import DONE, FIXED_TABLE_FULL, OUT_OF_SECONDS
from nightgrid.solvers.kernel.hash_table import MOST_NUMBERS
from nightgrid.solvers.kernel.machine import STOP_AT
from nightgrid.solvers.reasons import BudgetSpentError, Reason, ReasonCode
from nightgrid.solvers.strands.pieces.pieces import Found
from nightgrid.solvers.strands.states import table as tables
from nightgrid.solvers.strands.states.blocks import new_pool
from nightgrid.solvers.strands.states.table import Table

State = tuple[Any, ...]

TOO_MANY_SETS = Reason(
    code=ReasonCode.FIXED_TABLE_FULL,
    sentence="more sets of alternative paths, or of used words, than the solver has room for",
)
TOO_MANY_PIECES = Reason(
    code=ReasonCode.CAPACITY,
    sentence="the board has more pieces, or wider ones, than the solver has room for",
)


def reason_of(error: BudgetSpentError) -> Reason:
    """Return why a search of Strands stopped."""
    if error.code == FIXED_TABLE_FULL:
        return TOO_MANY_SETS
    return Reason(code=error.reason_code)


class RootChildren:
    """The root's children of a search that begins with a piece on the first cell."""

    _root_children: list[tuple[tuple[str, int], int, State]]
    on_progress: Callable[[int, int], None] | None

    def value(self, state: State) -> tuple[int, int]:
        """Count the covers below a state, and find the best score among them."""
        raise NotImplementedError

    def children(self, state: State) -> list[tuple[tuple[str, int], int, State]]:
        """List (piece, score, state) after each piece that may come next."""
        raise NotImplementedError

    def live_children(self, state: State) -> list[tuple[int, int, Any]]:
        """List (best score below, index, child) of the children that have covers."""
        valued = [(self.value(step[2]), i, step) for i, step in enumerate(self.children(state))]
        return [(best, i, step) for (count, best), i, step in valued if count]

    def root_size(self) -> int:
        """Count the root's children: one for each piece on the first cell."""
        return len(self._root_children)

    def root_child(self, index: int) -> tuple[tuple[str, int], int, State]:
        """Return the piece of a root's child, its score and the state after it."""
        return self._root_children[index]

    def root_values(self, start: int, stop: int) -> tuple[list[int], list[int], list[int]]:
        """Value the root's children start..stop that have covers: indices, counts, best scores."""
        indices, counts, scores = [], [], []
        for i in range(start, stop):
            _, score, state = self._root_children[i]
            count, best = self.value(state)
            if count:
                indices.append(i)
                counts.append(count)
                scores.append(score + best)
            if self.on_progress is not None:
                self.on_progress(i + 1 - start, stop - start)
        return indices, counts, scores


def _new_table(budget: Budget) -> Table:
    states = int(max(1, min(budget.table_bytes // tables.STATE_BYTES, MOST_NUMBERS)))
    while True:
        try:
            return tables.new_table(states)
        except MemoryError:
            # More than this machine can reserve: use what it can.
            states //= 2


class Engine:
    """Common parts of both fast searches: the table, the pool, the budget and the cost."""

    found: Found
    name: str

    def __init__(self, budget: Budget, *, exists: bool) -> None:
        self.table, self.pool = _new_table(budget), new_pool()
        self.budget, self.started_ns = budget, time.perf_counter_ns()
        self.control = control = self.table.control
        self.table.clock[STOP_AT] = budget.stop_address
        control[tables.NODES] = 0
        control[tables.NODES_MAX] = budget.nodes
        control[tables.DEADLINE_NS] = budget.deadline_ns()
        control[tables.EXISTS] = exists
        control[tables.TICK] = tables.CLOCK_STRIDE - 1

    def statistics(self) -> Statistics:
        """Return the cost so far."""
        states = int(self.control[tables.STATES])
        return Statistics(
            states=states,
            nodes=int(self.control[tables.NODES]),
            kernel_ns=time.perf_counter_ns() - self.started_ns,
            table_bytes=states * tables.STATE_BYTES,
            engine=self.name,
        )

    def check_clock(self) -> None:
        """Raise BudgetSpentError if the budget's seconds have passed, or the solve is to stop."""
        if self.budget.is_over(int(self.control[tables.DEADLINE_NS])):
            raise BudgetSpentError(OUT_OF_SECONDS)

    def check(self) -> None:
        """Raise BudgetSpentError if the kernel has stopped."""
        if self.control[tables.STATUS] != DONE:
            raise BudgetSpentError(int(self.control[tables.STATUS]))

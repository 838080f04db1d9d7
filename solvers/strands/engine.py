"""What both searches share: the table, the pool, the budget, and what they have cost."""

from __future__ import annotations

import time
from typing import Any

from solvers.algebra import Budget, Statistics
from solvers.strands.pieces import Found
from solvers.strands.table import (
    CLOCK_STRIDE,
    DEADLINE_NS,
    EXISTS,
    NODES,
    NODES_MAX,
    OK,
    STATE_BYTES,
    STATES,
    STATES_MAX,
    STATUS,
    TICK,
    Table,
    clear,
    new_pool,
    new_table,
)

State = tuple[Any, ...]
STATES_KEPT = 1 << 22
_kept: list[Table] = []


class BudgetSpentError(Exception):
    """The kernel stopped; `code` says why (solvers.strands.table)."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def _table(budget: Budget) -> Table:
    states = max(1, min(budget.table_bytes // STATE_BYTES, 2**31 - 1))
    if states <= STATES_KEPT:
        table = new_table(int(states))
    else:
        if not _kept or len(_kept[0].states) < states:
            _kept[:] = [new_table(int(states))]
        table = _kept[0]
        table.control[STATES_MAX] = states
    clear(table)
    return table


class Engine:
    """What both searches share: the table, the budget, and how a piece is named."""

    found: Found

    def __init__(self, budget: Budget, *, exists: bool) -> None:
        self.table = _table(budget)
        self.pool = new_pool()
        control = self.table.control
        control[NODES] = 0
        control[NODES_MAX] = budget.nodes
        control[DEADLINE_NS] = time.monotonic_ns() + int(budget.seconds * 1e9)
        control[EXISTS] = exists
        control[TICK] = CLOCK_STRIDE - 1
        self.started_ns = time.perf_counter_ns()

    def statistics(self) -> Statistics:
        """Say what the search has cost so far."""
        control = self.table.control
        return Statistics(
            states=int(control[STATES]),
            nodes=int(control[NODES]),
            kernel_ns=time.perf_counter_ns() - self.started_ns,
            table_bytes=int(control[STATES]) * STATE_BYTES,
        )

    def check(self) -> None:
        """Raise BudgetSpentError if the kernel has stopped."""
        if self.table.control[STATUS] != OK:
            raise BudgetSpentError(int(self.table.control[STATUS]))

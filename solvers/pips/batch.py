"""Count many boards in one call: columns in, columns out, no Python object in between."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.kernel.compiling import I64, U64, Int, search_kernel
from nightgrid.solvers.kernel.machine import STOP_AT, is_stopped, monotonic_ns
from nightgrid.solvers.pips.columns import Columns
from nightgrid.solvers.pips.layers import space as spaces
from nightgrid.solvers.pips.layers.count import count_board
from nightgrid.solvers.pips.layers.endings import SOLVING, is_capacity
from nightgrid.solvers.pips.layers.prepare import prepare
from nightgrid.solvers.pips.layers.scratch import NARROW, WIDE, allocate_for_budget, heed, kept
from nightgrid.solvers.pips.layers.space import Limits, Space, Work
from nightgrid.solvers.pips.parts import PartArrays

CODE, STATES, NODES, KERNEL_NS, TABLE_BYTES = range(5)
"""Columns of Counts.costs: after CODE those of nightgrid.solvers.algebra.COST_COLUMNS."""


class Counts(NamedTuple):
    """Results of counting boards, by row."""

    costs: I64
    """int64[rows, 5]: a CODE and what it took. Codes below SOLVING are those of `prepare`, the
    others SOLVING plus those of `count_board`."""
    counts: U64
    """uint64[rows, 2]: high half and low half."""

    @classmethod
    def of(cls, rows: int) -> Counts:
        """Allocate for some number of boards."""
        return cls(costs=np.zeros((rows, 5), np.int64), counts=np.zeros((rows, 2), np.uint64))


class Rows(NamedTuple):
    """Which boards of which columns to count, and which part of them."""

    columns: Columns
    start: Int
    stop: Int
    part: PartArrays


@search_kernel
def _count_rows(work: Work, rows: Rows, node_limit: Int, budget_ns: Int, into: Counts) -> None:
    no_count = np.uint64(0)
    space = Space(work.boards[0], work.forest, work.width)
    table, children = work.table, work.children
    row_bytes = 8 * (len(space.width) + 2)
    for row in range(rows.start, rows.stop):
        begun = monotonic_ns(space.board.clock)
        deadline_ns = begun + budget_ns
        code: Int = np.int64(spaces.TIME_IS_UP)
        if not is_stopped(space.board.clock[STOP_AT]):
            # Many rows may be too small to check the clock themselves.
            code = prepare(space, table, children, rows.columns, row, rows.part, deadline_ns)
        into.costs[row, STATES] = 0
        into.costs[row, NODES] = 0
        into.costs[row, TABLE_BYTES] = 0
        into.counts[row, 0] = no_count
        into.counts[row, 1] = no_count
        if code == spaces.READY:
            limits = Limits(node_limit, deadline_ns)
            ended, hi, lo, carried = count_board(space, table, children, limits)
            code = ended + SOLVING
            into.costs[row, STATES] = carried.states + 1
            into.costs[row, NODES] = carried.nodes
            into.costs[row, TABLE_BYTES] = carried.peak * row_bytes + (4 << carried.bits)
            into.counts[row, 0] = hi
            into.counts[row, 1] = lo
        into.costs[row, CODE] = code
        into.costs[row, KERNEL_NS] = monotonic_ns(space.board.clock) - begun


def count_rows(rows: Rows, budget: Budget, into: Counts) -> None:
    """Count the solutions of boards in memory reused by the thread.

    The budget applies to each board. A board that needs more memory ends with a code for which
    `is_capacity` is true: see `count_again`.
    """
    work = kept()
    arena = work.table.rows
    most = min(len(arena), max(budget.table_bytes // (8 * arena.shape[1]), 1))
    table = work.table._replace(rows=arena[:most])
    heed(work, budget)
    _count_rows(work._replace(table=table), rows, budget.nodes, int(budget.seconds * 1e9), into)


def count_again(rows: Rows, budget: Budget, into: Counts) -> None:
    """Count one board with the whole budget's memory, after `count_rows` ran out of it.

    Retries with longer keys if these are too short.
    """
    row = int(rows.start)
    tried: tuple[int, ...] | None = None
    while is_capacity(code := int(into.costs[row, CODE])):
        width = WIDE if code == spaces.KEY_TOO_LONG else tried or NARROW
        if width is tried:
            return
        tried = width
        work = allocate_for_budget(width, budget.table_bytes)
        heed(work, budget)
        _count_rows(work, rows, budget.nodes, int(budget.seconds * 1e9), into)

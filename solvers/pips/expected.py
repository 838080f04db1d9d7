"""What counting boards is expected to take: by size, or for one by an estimate of its states.

The number of dominoes says little of a loose board: of two boards of 14, one takes a millisecond
and the other ten seconds. The estimate by which a cell order is chosen
(nightgrid.solvers.pips.layers.order) is mostly within a factor of ten of the states that there are,
and costs about 0.03 ms a board: too much for a plan of a million boards, whose counts take no
longer, and nothing next to a few jobs.
"""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Arrays, Expected
from nightgrid.solvers.kernel.compiling import Int, search_kernel
from nightgrid.solvers.pips.columns import Columns, kernel_columns
from nightgrid.solvers.pips.layers.board import BOARD, F64, MOST_CELLS
from nightgrid.solvers.pips.layers.order import estimate, judge_orders
from nightgrid.solvers.pips.layers.prepare import load
from nightgrid.solvers.pips.layers.space import READY

STATE_S = 0.8e-6
"""What one state of the estimate stands for. Of 30 loose boards of 14 dominoes 27 take
a fifth to two and a half times as long as expected, half in the median, and three at least eight
times as long (ADR 51)."""
BOARD_S = 50e-6
"""What a board takes beside its states."""
LARGE_SIZE = 16
"""Dominoes of the largest boards that are published."""
LARGE_S = 0.4e-3
"""What such a board costs on average, files and messages included."""
SMALLER_FACTOR, LARGER_FACTOR = 1.4, 2.0
"""A board with a domino fewer costs so many times less, and one with a domino more so many times
more."""
NOT_COUNTED = -1.0
_kept = threading.local()


def cost_s(arrays: Arrays) -> npt.NDArray[np.float64]:
    """Estimate the seconds that each board will take one core, from its number of dominoes."""
    beyond = np.minimum(arrays["size"].astype(np.float64) - LARGE_SIZE, 32.0)
    growth = np.where(beyond < 0, SMALLER_FACTOR, LARGER_FACTOR)
    cost: npt.NDArray[np.float64] = LARGE_S * growth**beyond
    return cost


@search_kernel
def _expect(boards: npt.NDArray[np.void], columns: Columns, row: Int, passed: F64) -> float:
    board = boards[0]
    if load(board, columns, row) != READY:
        return NOT_COUNTED
    judge_orders(board)
    for p in range(board.cells):
        board.order[p] = board.best_order[p]
    total = estimate(board)
    for layer in range(board.dominoes):
        passed[layer] = board.expected[2 * layer + 1]
    return total


def expected_count(arrays: Arrays) -> Expected | None:
    """Return what counting the one board of these columns takes; None if layers cannot."""
    if not hasattr(_kept, "boards"):
        _kept.boards = np.zeros(1, BOARD)
    passed = np.empty(MOST_CELLS // 2, np.float64)
    total = float(_expect(_kept.boards, kernel_columns(arrays), 0, passed))
    if total == NOT_COUNTED:
        return None
    shares = (passed[: int(arrays["size"][0])] / total).round(6).tolist()
    return Expected(seconds=BOARD_S + STATE_S * total, passed=(0.0, *shares))

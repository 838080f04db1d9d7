"""What counting one board is expected to take, from an estimate of its states.

The number of dominoes says little: of two boards of 14, one takes a millisecond and the other ten
seconds. The estimate by which a cell order is chosen (nightgrid.solvers.pips.layers.order) is
mostly within a factor of ten of the states that there are, and costs about 0.03 ms a board: too
much for a plan of a million boards, whose counts take no longer, and nothing beside a job on
demand.
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
NOT_COUNTED = -1.0
_kept = threading.local()


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
    """Say what counting the one board of these columns takes; None where layers cannot hold it."""
    if not hasattr(_kept, "boards"):
        _kept.boards = np.zeros(1, BOARD)
    passed = np.empty(MOST_CELLS // 2, np.float64)
    total = float(_expect(_kept.boards, kernel_columns(arrays), 0, passed))
    if total == NOT_COUNTED:
        return None
    shares = (passed[: int(arrays["size"][0])] / total).round(6).tolist()
    return Expected(seconds=BOARD_S + STATE_S * total, passed=(0.0, *shares))

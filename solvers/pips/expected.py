"""The expected cost of counting boards: by size, or for a single one by an estimate of its states.

The number of dominoes says little about a loose board: of two boards of 14, one takes a millisecond
and the other ten seconds. The estimate that chooses a cell order
(nightgrid.solvers.pips.layers.order) is mostly within a factor of ten of the actual states, and
costs about 0.03 ms a board: too much for a plan of a million boards, whose counts take no longer,
but nothing for a few jobs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Arrays
from nightgrid.solvers.kernel.compiling import Int, search_kernel
from nightgrid.solvers.pips.columns import Columns, kernel_columns
from nightgrid.solvers.pips.layers.board import BOARD
from nightgrid.solvers.pips.layers.load import load
from nightgrid.solvers.pips.layers.order import judge_orders
from nightgrid.solvers.pips.layers.space import READY

STATE_S = 0.8e-6
"""Seconds for each state of the estimate. Of 23 loose boards of 14 dominoes 19 take a fifth to two
and a half times as long as expected, and the others up to eight times as long."""
BOARD_S = 50e-6
"""Overhead of a board besides its states."""
LARGE_SIZE = 16
"""Dominoes of the largest published boards."""
LARGE_S = 0.4e-3
"""Average cost of such a board, including files and messages."""
SMALLER_FACTOR, LARGER_FACTOR = 1.4, 2.0
"""Factor of the cost for one domino more or less."""
NOT_COUNTED = -1.0


def cost_s(arrays: Arrays) -> npt.NDArray[np.float64]:
    """Estimate the seconds that each board takes one core, from its number of dominoes."""
    beyond = np.minimum(arrays["size"].astype(np.float64) - LARGE_SIZE, 32.0)
    growth = np.where(beyond < 0, SMALLER_FACTOR, LARGER_FACTOR)
    cost: npt.NDArray[np.float64] = LARGE_S * growth**beyond
    return cost


@search_kernel
def _expected_states(boards: npt.NDArray[np.void], columns: Columns, row: Int) -> float:
    board = boards[0]
    return judge_orders(board) if load(board, columns, row) == READY else NOT_COUNTED


def count_s(arrays: Arrays) -> float | None:
    """Estimate the seconds of counting the only board of these columns.

    None if layers cannot.
    """
    states = float(_expected_states(np.zeros(1, BOARD), kernel_columns(arrays), 0))
    return None if states == NOT_COUNTED else BOARD_S + STATE_S * states

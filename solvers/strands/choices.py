"""The words that may come next in a zone search: what ranking and listing covers walk along."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.compiling import search_kernel
from solvers.kernel_codes import FIXED_TABLE_FULL
from solvers.strands.candidates import list_fitting, place_word, rarest_cell
from solvers.strands.cell_prices import UNIT
from solvers.strands.table import STATUS
from solvers.strands.zone_board import price_of
from solvers.strands.zones import F_LEFT

_ONE = np.uint64(1)


@search_kernel
def zone_children(
    left: np.uint64, closed: np.uint64, several: bool, n: int, ban: int, rank: int, words: Any,
    board: Any, table: Any, pool: Any, out: np.ndarray,
) -> int:  # fmt: skip
    """List the states after each word that fits on the cell that `cover` would cover next.

    Rows of `out` (uint64[pieces, 8]): piece, left, closed, several, n, ban, rank, 0; in canonical
    order, that of the pieces.
    """
    slack = n * UNIT - price_of(left, board.prices)
    if slack < 0:
        return 0
    size = list_fitting(
        0, 1, board.frames[0, F_LEFT] & ~left, closed, several, ban, rank, slack, words, board,
        pool,
    )  # fmt: skip
    cell = rarest_cell(left, board.fitting, 1, size, words.on_cell)
    if cell < 0:
        return 0
    count = 0
    for p in range(64 * size):
        if (
            not ((board.fitting[1, p >> 6] & words.on_cell[cell, p >> 6]) >> np.uint64(p & 63))
            & _ONE
        ):
            continue
        code, after, now_closed, now_several, banned = place_word(
            p, left, closed, several, ban, words, board, pool
        )
        if code == -1:
            continue
        if code == -2:
            table.control[STATUS] = FIXED_TABLE_FULL
            return 0
        out[count, 0] = np.uint64(p)
        out[count, 1] = after
        out[count, 2] = now_closed
        out[count, 3] = np.uint64(now_several)
        out[count, 4] = np.uint64(n - 1)
        out[count, 5] = np.uint64(banned)
        out[count, 6] = np.uint64(rank)
        count += 1
    return count

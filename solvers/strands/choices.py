"""The words that may come next in a zone search: what ranking and listing covers walk along."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.compiling import search_kernel
from solvers.strands.blocks import combine, open_blocks
from solvers.strands.candidates import (
    ban_pieces,
    fit,
    leave_out_ranks,
    rarest_cell,
    still_banned,
    within,
)
from solvers.strands.ground import COLUMNS, price_of
from solvers.strands.prices import UNIT
from solvers.strands.table import STATUS, TOO_MANY_SETS
from solvers.strands.zones import F_LEFT

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@search_kernel
def zone_children(
    left: np.uint64, closed: np.uint64, several: bool, n: int, ban: int, rank: int, words: Any,
    ground: Any, table: Any, pool: Any, out: np.ndarray,
) -> int:  # fmt: skip
    """List the states after each word that fits on the cell that `cover` would cover next.

    Rows of `out` (uint64[pieces, 8]): piece, left, closed, several, n, ban, rank, 0; in canonical
    order, that of the pieces.
    """
    slack = n * UNIT - price_of(left, ground.prices)
    if slack < 0:
        return 0
    fitting = ground.fitting
    size = fit(
        fitting, 0, 1, ground.frames[0, F_LEFT] & ~left, closed, several,
        within(slack, words.reduced), words.on_cell, words.on_block,
    )  # fmt: skip
    if ban:
        ban_pieces(fitting, 1, size, ban, words, pool)
    if rank:
        leave_out_ranks(fitting, 1, size, rank, words)
    cell = rarest_cell(left, fitting, 1, size, words.on_cell)
    if cell < 0:
        return 0
    count = 0
    for p in range(64 * size):
        if not ((fitting[1, p >> 6] & words.on_cell[cell, p >> 6]) >> np.uint64(p & 63)) & _ONE:
            continue
        after = left ^ words.cells[p]
        code, now_closed, now_several = combine(
            closed, several, words.blocks, words.block_offsets[p], words.block_offsets[p + 1],
            _ZERO, _ZERO, open_blocks(after, ground.geometry[COLUMNS]), pool,
        )  # fmt: skip
        if code == -1:
            continue
        banned: Any = 0
        if code == 0 and (ban or words.twin[p]):
            word = words.word[p] if words.twin[p] else np.int64(-1)
            banned = still_banned(ban, word, after, words, pool)
        if code == -2 or banned < 0:
            table.control[STATUS] = TOO_MANY_SETS
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

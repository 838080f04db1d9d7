"""Spangrams one after the other: what each leaves of the board, covered with theme words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.compiling import search_kernel
from solvers.kernel_codes import DONE, FIXED_TABLE_FULL
from solvers.strands.blocks import combine, open_blocks
from solvers.strands.candidates import still_banned
from solvers.strands.cell_prices import UNIT
from solvers.strands.table import DEAD, STATUS
from solvers.strands.zone_board import COLUMNS, price_of
from solvers.strands.zones import cover

OWN_WORD, OWN_RANK = range(2)
_ZERO = np.uint64(0)


class Spangrams(NamedTuple):
    """Spangrams in the order in which they are tried, those on the same cells and blocks once."""

    cells: npt.NDArray[np.uint64]
    fields: npt.NDArray[np.int64]
    """int64[spangrams, 2]: number of the word it is (-1: none that may come again), and its rank
    if theme words that are spangrams of lower rank fit beside it, else 0."""
    block_offsets: npt.NDArray[np.int64]
    blocks: npt.NDArray[np.uint64]


@search_kernel
def after_spangram(
    s: int, full: np.uint64, spangrams: Any, words: Any, board: Any, pool: Any
) -> tuple[int, np.uint64, np.uint64, bool, int, int]:
    """Place a spangram on the empty board; return (code, left, closed, several, banned, rank)."""
    left = full ^ spangrams.cells[s]
    code, closed, several = combine(
        _ZERO, False, spangrams.blocks, spangrams.block_offsets[s],
        spangrams.block_offsets[s + 1], open_blocks(left, board.geometry[COLUMNS]), pool,
    )  # fmt: skip
    banned = 0
    if spangrams.fields[s, OWN_WORD] >= 0:
        banned = still_banned(0, spangrams.fields[s, OWN_WORD], left, words, pool)
        if banned < 0:
            code = -2
    return code, left, closed, several, banned, spangrams.fields[s, OWN_RANK]


@search_kernel
def cover_beside(
    start: int, stop: int, full: np.uint64, n: int, spangrams: Any, words: Any, board: Any,
    table: Any, pool: Any, counts: np.ndarray, best: np.ndarray,
) -> None:  # fmt: skip
    """Cover the board beside spangrams `start` to `stop` with n theme words each.

    Writes counts (uint64[spangrams, 2]) and best scores of the theme words. A budget that runs out
    shows in the table's status.
    """
    for s in range(start, stop):
        counts[s, 0] = _ZERO
        counts[s, 1] = _ZERO
        best[s] = DEAD
        if price_of(full ^ spangrams.cells[s], board.prices) > n * UNIT:
            continue
        code, left, closed, several, banned, rank = after_spangram(
            s, full, spangrams, words, board, pool
        )
        if code == -2:
            table.control[STATUS] = FIXED_TABLE_FULL
            return
        hi, lo, value = cover(left, closed, several, n, banned, rank, words, board, table, pool)
        if table.control[STATUS] != DONE:
            return
        counts[s, 0] = hi
        counts[s, 1] = lo
        best[s] = value

"""Spangrams one after the other: what each leaves of the board, covered with theme words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.codes import DONE, FIXED_TABLE_FULL
from nightgrid.solvers.kernel.compiling import Int, search_kernel
from nightgrid.solvers.strands.states.blocks import combine, open_blocks
from nightgrid.solvers.strands.states.interned_sets import Pool
from nightgrid.solvers.strands.states.table import DEAD, STATUS
from nightgrid.solvers.strands.zones.board import (
    COLUMNS,
    F_LEFT,
    Words,
    ZoneBoard,
    ZoneSearch,
    ZoneState,
    price_of,
)
from nightgrid.solvers.strands.zones.candidates import still_banned
from nightgrid.solvers.strands.zones.cell_prices import UNIT
from nightgrid.solvers.strands.zones.zones import cover

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
    s: Int, n: Int, spangrams: Spangrams, words: Words, board: ZoneBoard, pool: Pool
) -> tuple[Int, ZoneState]:
    """Place a spangram on the empty board; return (code, state that n words are to cover).

    Code 0 if it fits, -2 without room for another set.
    """
    left = board.frames[0, F_LEFT] ^ spangrams.cells[s]
    code, closed, several = combine(
        _ZERO, False, spangrams.blocks, spangrams.block_offsets[s],
        spangrams.block_offsets[s + 1], open_blocks(left, board.geometry[COLUMNS]), pool,
    )  # fmt: skip
    ban: Int = np.int64(0)
    if spangrams.fields[s, OWN_WORD] >= 0:
        ban = still_banned(np.int64(0), spangrams.fields[s, OWN_WORD], left, words, pool)
        if ban < 0:
            code = -2
    return code, ZoneState(left, closed, several, n, ban, spangrams.fields[s, OWN_RANK])


@search_kernel
def cover_beside(
    start: Int, stop: Int, n: Int, spangrams: Spangrams, search: ZoneSearch,
    counts: npt.NDArray[np.uint64], best: npt.NDArray[np.int64],
) -> None:  # fmt: skip
    """Cover the board beside spangrams `start` to `stop` with n theme words each.

    Writes counts (uint64[spangrams, 2]) and best scores of the theme words. A budget that runs out
    shows in the table's status.
    """
    board, control = search.board, search.table.control
    full = board.frames[0, F_LEFT]
    for s in range(start, stop):
        counts[s, 0] = _ZERO
        counts[s, 1] = _ZERO
        best[s] = DEAD
        if price_of(full ^ spangrams.cells[s], board.prices) > n * UNIT:
            continue
        code, state = after_spangram(s, n, spangrams, search.words, board, search.pool)
        if code == -2:
            control[STATUS] = FIXED_TABLE_FULL
            return
        hi, lo, value = cover(state, search)
        if control[STATUS] != DONE:
            return
        counts[s, 0] = hi
        counts[s, 1] = lo
        best[s] = value

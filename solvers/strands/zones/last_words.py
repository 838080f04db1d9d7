"""The last one and the last two words of a cover: looked up, not searched for."""

from __future__ import annotations

import numpy as np

from nightgrid.solvers.kernel.bits import popcount, trailing_zeros
from nightgrid.solvers.kernel.compiling import Int, search_kernel
from nightgrid.solvers.strands.states.blocks import combine, crosses, open_blocks
from nightgrid.solvers.strands.states.interned_sets import Pool, is_banned
from nightgrid.solvers.strands.states.table import DEAD
from nightgrid.solvers.strands.zones.board import (
    COLUMNS,
    MIN_LETTERS,
    REPEATS,
    Words,
    ZoneBoard,
    ZoneState,
    first_on,
)

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@search_kernel
def cover_with_one(state: ZoneState, other: Int, words: Words, pool: Pool) -> tuple[np.uint64, Int]:
    """Count the words that stand on just what is left; return (count, best score).

    `other`: a word that must not come again, -1: none.
    """
    closed, ban = state.closed, state.ban
    count, best = _ZERO, np.int64(DEAD)
    p = first_on(state.left, words)
    while p >= 0:
        q, p = p, np.int64(words.same_cells[p])
        if closed != _ZERO and crosses(
            closed, state.several, words.blocks, words.block_offsets[q],
            words.block_offsets[q + 1], pool,
        ):  # fmt: skip
            continue
        if words.word[q] == other or 0 <= words.rank[q] < state.rank:
            continue
        if ban and is_banned(words.word[q], ban, pool):
            continue
        count += _ONE
        best = max(best, words.score[q])
    return count, best


@search_kernel
def cover_with_two(
    state: ZoneState, slack: Int, words: Words, board: ZoneBoard, pool: Pool
) -> tuple[Int, np.uint64, Int]:
    """Cover what is left with two words; return (code, count, best score), code -2 when full."""
    left, ban, rank = state.left, state.ban, state.rank
    count, best = _ZERO, np.int64(DEAD)
    # The cell that the fewest pieces of the whole board cover.
    cell, fewest = 0, np.int64(2**62)
    cells = left
    while cells:
        c = trailing_zeros(cells)
        cells &= cells - _ONE
        on_it = words.cell_offsets[c + 1] - words.cell_offsets[c]
        if on_it < fewest:
            cell, fewest = c, on_it
    roomy = popcount(left) - board.geometry[MIN_LETTERS]
    for i in range(words.cell_offsets[cell], words.cell_offsets[cell + 1]):
        if words.cell_reduced[i] > slack:
            break
        mask = words.cell_masks[i]
        if mask & ~left:
            continue
        p = np.int64(words.cell_pieces[i])
        rest = left ^ mask
        if popcount(mask) > roomy or first_on(rest, words) < 0:
            continue
        if 0 <= words.rank[p] < rank:
            continue
        word = words.word[p]
        if ban and is_banned(word, ban, pool):
            continue
        code, now_closed, now_several = combine(
            state.closed, state.several, words.blocks, words.block_offsets[p],
            words.block_offsets[p + 1], open_blocks(rest, board.geometry[COLUMNS]), pool,
        )  # fmt: skip
        if code == -1:
            continue
        if code == -2:
            return -2, _ZERO, np.int64(DEAD)
        other = word if board.geometry[REPEATS] == 0 else np.int64(-1)
        last = ZoneState(rest, now_closed, now_several, np.int64(1), ban, rank)
        more, value = cover_with_one(last, other, words, pool)
        if more:
            count += more
            best = max(best, value + words.score[p])
    return 0, count, best

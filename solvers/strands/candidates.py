"""Which theme words fit on what is left: as bitsets, from those that fitted before."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.bits import popcount, trailing_zeros
from solvers.compiling import inlined_kernel, search_kernel
from solvers.strands.blocks import combine, open_blocks
from solvers.strands.interned_sets import intern_bans, list_bans
from solvers.strands.zone_board import COLUMNS

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_63 = np.int64(63)


@inlined_kernel
def within(slack: int, reduced: np.ndarray) -> int:
    """Count the pieces, sorted by reduced cost, whose reduced cost is at most `slack`."""
    low, high = 0, len(reduced)
    while low < high:
        middle = (low + high) >> 1
        if reduced[middle] <= slack:
            low = middle + 1
        else:
            high = middle
    return low


@inlined_kernel
def fit(
    fitting: np.ndarray, before: int, now: int, taken: np.uint64, closed: np.uint64,
    several: bool, pieces: int, on_cell: np.ndarray, on_block: np.ndarray,
) -> int:  # fmt: skip
    """Write to row `now` which of the first `pieces` of row `before` still fit.

    `taken` and `closed` are the cells and blocks taken since. Returns the words of the bitset
    that were written. Pieces that have several paths, or cross one of several alternatives, may
    fit no more and still be in it.
    """
    size = (pieces + 63) >> 6
    for i in range(size):
        fitting[now, i] = fitting[before, i]
    if pieces & _63:
        fitting[now, size - 1] &= (_ONE << np.uint64(pieces & _63)) - _ONE
    while taken:
        c = trailing_zeros(taken)
        taken &= taken - _ONE
        for i in range(size):
            fitting[now, i] &= ~on_cell[c, i]
    if not several:
        while closed:
            b = trailing_zeros(closed)
            closed &= closed - _ONE
            for i in range(size):
                fitting[now, i] &= ~on_block[b, i]
    return size


@inlined_kernel
def rarest_cell(
    left: np.uint64, fitting: np.ndarray, now: int, size: int, on_cell: np.ndarray
) -> int:
    """Choose the cell that the fewest pieces of row `now` cover; -1 if none covers some cell."""
    cell: Any = np.int64(-1)
    fewest = np.int64(2**62)
    while left:
        c = trailing_zeros(left)
        left &= left - _ONE
        count = np.int64(0)
        for i in range(size):
            count += popcount(fitting[now, i] & on_cell[c, i])
        if count < fewest:
            cell, fewest = c, count
            if fewest == 0:
                return -1
    return cell


@inlined_kernel
def has_lost_cell(
    left: np.uint64, closed: np.uint64, several: bool, slack: int, words: Any, support: np.ndarray
) -> bool:
    """Tell whether no word of reduced cost up to `slack` fits on some cell of `left`.

    What covered a cell last is tried first (residues, as in AC-3rm), and answers for all its cells.
    """
    sure = _ZERO if several else closed
    masks, reduced, pieces = words.cell_masks, words.cell_reduced, words.cell_pieces
    rest = left
    while rest:
        c = trailing_zeros(rest)
        i = support[c]
        if masks[i] & ~left or reduced[i] > slack or words.every_path[pieces[i]] & sure:
            i, stop = words.cell_offsets[c], words.cell_offsets[c + 1]
            while i < stop and (
                masks[i] & ~left or (sure != _ZERO and words.every_path[pieces[i]] & sure)
            ):
                i += _ONE
            # Behind the dear ones only cheaper ones follow.
            if i == stop or reduced[i] > slack:
                return True
            support[c] = i
        rest &= ~masks[i]
    return False


@search_kernel
def ban_pieces(fitting: np.ndarray, now: int, size: int, ban: int, words: Any, pool: Any) -> None:
    """Take the pieces of banned words out of row `now`."""
    for i in range(pool.offsets[ban], pool.offsets[ban + 1]):
        word = np.int64(pool.sets[i])
        for j in range(words.word_offsets[word], words.word_offsets[word + 1]):
            p = words.word_pieces[j]
            if p >> 6 < size:
                fitting[now, p >> 6] &= ~(_ONE << np.uint64(p & _63))


@search_kernel
def leave_out_ranks(fitting: np.ndarray, now: int, size: int, rank: int, words: Any) -> None:
    """Take the pieces that are spangrams of a lower rank out of row `now`."""
    for i in range(len(words.spanning)):
        p = words.spanning[i]
        if words.rank[p] < rank and p >> 6 < size:
            fitting[now, p >> 6] &= ~(_ONE << np.uint64(p & _63))


@inlined_kernel
def list_fitting(
    before: int, now: int, taken: np.uint64, closed: np.uint64, several: bool, ban: int, rank: int,
    slack: int, words: Any, board: Any, pool: Any,
) -> int:  # fmt: skip
    """Write to row `now` which pieces of row `before` a state still allows, as `fit` does.

    Pieces of a reduced cost of more than `slack`, banned words and spangrams of a rank lower than
    `rank` are left out as well.
    """
    size = fit(
        board.fitting, before, now, taken, closed, several, within(slack, words.reduced),
        words.on_cell, words.on_block,
    )  # fmt: skip
    if ban:
        ban_pieces(board.fitting, now, size, ban, words, pool)
    if rank:
        leave_out_ranks(board.fitting, now, size, rank, words)
    return size


@search_kernel
def still_banned(ban: int, word: Any, left: np.uint64, words: Any, pool: Any) -> int:
    """Intern the banned words, and `word` (-1: none), that still fit in `left`; -1 if full."""
    scratch = pool.scratch
    kept = 0
    for i in range(list_bans(ban, word, pool)):
        number = np.int64(scratch[i])
        for j in range(words.word_offsets[number], words.word_offsets[number + 1]):
            if not (words.cells[words.word_pieces[j]] & ~left):
                scratch[kept] = scratch[i]
                kept += 1
                break
    return intern_bans(kept, pool)


@inlined_kernel
def place_word(
    p: int, left: np.uint64, closed: np.uint64, several: bool, ban: int, words: Any, board: Any,
    pool: Any,
) -> tuple[int, np.uint64, np.uint64, bool, Any]:  # fmt: skip
    """Lay a piece on what is left; return (code, left, closed, several, banned) after it.

    Code 0 if it fits, -1 if it crosses, -2 without room for another set.
    """
    after = left ^ words.cells[p]
    code, now_closed, now_several = combine(
        closed, several, words.blocks, words.block_offsets[p], words.block_offsets[p + 1],
        open_blocks(after, board.geometry[COLUMNS]), pool,
    )  # fmt: skip
    banned: Any = np.int64(0)
    if code == 0 and (ban or words.twin[p]):
        word = words.word[p] if words.twin[p] else np.int64(-1)
        banned = still_banned(ban, word, after, words, pool)
        if banned < 0:
            code = -2
    return code, after, now_closed, now_several, banned


@search_kernel
def zones_share_words(
    fitting: np.ndarray, now: int, size: int, zones: np.ndarray, count: int, words: Any,
    stamps: np.ndarray, stamp: np.ndarray,
) -> bool:  # fmt: skip
    """Tell whether a word of row `now` fits in two of the zones of the frame of that number."""
    base = stamp[0]
    stamp[0] = base + count
    for i in range(size):
        bits = fitting[now, i] & words.twins[i]
        while bits:
            p = (i << 6) + trailing_zeros(bits)
            bits &= bits - _ONE
            word = words.word[p]
            for z in range(count):
                if words.cells[p] & zones[now, z]:
                    if stamps[word] > base and stamps[word] != base + 1 + z:
                        return True
                    stamps[word] = base + 1 + z
                    break
    return False

"""Which 2 x 2 blocks the words so far close to others: kept as sets of sets where paths differ.

A block is named by its lower right cell. Two words cross when each uses one diagonal of a block.
Since the words of a cover share no cell, and a block counts for a word only if the word holds
neither of the two other cells, two words cross if and only if their sets of blocks meet. A word
with several paths has several least sets; what a partial cover closes is then a set of
alternatives, of which again only the least count. Nearly always there is just one, and it is kept
as a mask; several are interned and kept as their number.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import Int, inlined_kernel, search_kernel
from nightgrid.solvers.strands.states.interned_sets import SET_MAX, Pool, intern

Masks = npt.NDArray[np.uint64]

_ONE = np.uint64(1)


@search_kernel
def open_blocks(free: np.uint64, columns: Int) -> np.uint64:
    """Mark the blocks in which both cells of a diagonal are free: only these still matter."""
    c = np.uint64(columns)
    falling = free & (free << (c + _ONE))
    rising = (free << _ONE) & (free << c)
    return falling | rising


@inlined_kernel
def combine(
    closed: np.uint64, several: bool, sets: Masks, start: Int, stop: Int, matter: np.uint64,
    pool: Pool,
) -> tuple[Int, np.uint64, bool]:  # fmt: skip
    """Close a piece's blocks as well; return (0, closed, several), -1 if it crosses, -2 if full.

    The piece's least sets are sets[start:stop]; of the result only the blocks of `matter` are kept.
    """
    if not several and stop - start == 1:
        if sets[start] & closed:
            return -1, closed, False
        return 0, (closed | sets[start]) & matter, False
    return _combine_sets(closed, several, sets, start, stop, matter, pool)


@search_kernel
def _combine_sets(
    closed: np.uint64, several: bool, sets: Masks, start: Int, stop: Int, matter: np.uint64,
    pool: Pool,
) -> tuple[Int, np.uint64, bool]:  # fmt: skip
    scratch = pool.scratch
    count: Int = np.int64(0)
    first, last = np.int64(0), np.int64(1)
    if several:
        first, last = pool.offsets[closed], pool.offsets[closed + _ONE]
    for i in range(first, last):
        one = pool.sets[i] if several else closed
        for j in range(start, stop):
            if sets[j] & one:
                continue
            if count == SET_MAX:
                return -2, closed, False
            scratch[count] = (one | sets[j]) & matter
            count += 1
    if count == 0:
        return -1, closed, False
    count = _least(scratch, count)
    if count == 1:
        return 0, scratch[0], False
    number = intern(count, pool)
    if number < 0:
        return -2, closed, False
    return 0, np.uint64(number), True


@search_kernel
def crosses(
    closed: np.uint64,
    several: bool,
    sets: Masks,
    start: Int,
    stop: Int,
    pool: Pool,
) -> bool:
    """Tell whether every path of a piece crosses what is closed."""
    if not several and stop - start == 1:
        return (sets[start] & closed) != 0
    first, last = np.int64(0), np.int64(1)
    if several:
        first, last = pool.offsets[closed], pool.offsets[closed + _ONE]
    for i in range(first, last):
        one = pool.sets[i] if several else closed
        for j in range(start, stop):
            if not (sets[j] & one):
                return False
    return True


@search_kernel
def _least(masks: Masks, count: Int) -> Int:
    """Sort, drop every set that contains another, return how many are left."""
    for i in range(1, count):
        value = masks[i]
        j = i
        while j > 0 and masks[j - 1] > value:
            masks[j] = masks[j - 1]
            j -= 1
        masks[j] = value
    kept = 0
    for i in range(count):
        covered = False
        for j in range(kept):
            if (masks[j] & masks[i]) == masks[j]:
                covered = True
                break
        if not covered:
            masks[kept] = masks[i]
            kept += 1
    return kept

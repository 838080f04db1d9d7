"""The 2 x 2 blocks that the words so far close to others, with alternatives if paths differ.

A block is named by its lower right cell. Two words cross when each uses one diagonal of a block.
Since the words of a cover share no cell, and a block counts for a word only if the word holds
neither of the two other cells, two words cross if and only if their sets of blocks meet. A word
with several paths has several least sets; a partial cover then closes a set of alternatives, of
which again only the least count. Nearly always there is just one, stored as a mask; several are
interned and stored by number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel import hash_table
from nightgrid.solvers.kernel.compiling import I64, U64, Int, inlined_kernel, inner_kernel
from nightgrid.solvers.kernel.hash_table import Index
from nightgrid.solvers.kernel.machine import ONE

SET_MAX = 256
"""Values that one set may hold; more are refused, never cut."""
POOL_SETS = 1 << 16
_INDEX_BITS = np.int64(17)
"""The index has twice as many slots as the pool has sets. Numba compiles kernels once more for a
number that is written as a literal."""


class Pool(NamedTuple):
    """Interned sets of 64-bit values: equal sets have one number, and set 0 is empty.

    They are alternatives of closed blocks, and words that must not recur.
    """

    sets: U64
    offsets: I64
    """int64[POOL_SETS + 1]: set s is sets[offsets[s]:offsets[s + 1]], ascending."""
    slots: Index
    """uint32[2^_INDEX_BITS]: finds sets by their values."""
    held: I64
    """int64[1]: how many sets there are."""
    scratch: U64
    """uint64[SET_MAX + 1]: a set under construction."""


def new_pool() -> Pool:
    """Make a pool with only the empty set, number 0."""
    return Pool(
        sets=np.empty(16 * POOL_SETS, np.uint64),
        offsets=np.zeros(POOL_SETS + 1, np.int64),
        slots=np.full(1 << _INDEX_BITS, hash_table.EMPTY, np.uint32),
        held=np.ones(1, np.int64),
        # One more: a set of banned words and another, before useless ones are dropped.
        scratch=np.empty(SET_MAX + 1, np.uint64),
    )


@inlined_kernel
def _is_set(number: Int, count: Int, pool: Pool) -> bool:
    """Return whether a set equals the first `count` values of the scratch."""
    start = pool.offsets[number]
    if pool.offsets[number + 1] - start != count:
        return False
    for i in range(count):
        if pool.sets[start + i] != pool.scratch[i]:
            return False
    return True


@inner_kernel
def intern(count: Int, pool: Pool) -> Int:
    """Intern the first `count` values of the scratch, ascending; -1 if the pool is full."""
    mixed = hash_table.hash_span(np.uint64(count), pool.scratch, 0, count)
    slot = hash_table.first_slot(mixed, _INDEX_BITS)
    while True:
        slot, number = hash_table.seek(pool.slots, _INDEX_BITS, mixed, slot)
        if number < 0:
            break
        if _is_set(number, count, pool):
            return number
        slot = hash_table.next_slot(slot, _INDEX_BITS)
    number = pool.held[0]
    start = pool.offsets[number]
    if number + 2 > len(pool.offsets) or start + count > len(pool.sets):
        return -1
    for i in range(count):
        pool.sets[start + i] = pool.scratch[i]
    pool.offsets[number + 1] = start + count
    hash_table.enter(pool.slots, slot, mixed, number)
    pool.held[0] = number + 1
    return number


@inlined_kernel
def is_banned(word: Int, ban: Int, pool: Pool) -> bool:
    """Return whether a word is in a set."""
    for i in range(pool.offsets[ban], pool.offsets[ban + 1]):
        if pool.sets[i] == np.uint64(word):
            return True
    return False


@inner_kernel
def list_bans(ban: Int, word: Int, pool: Pool) -> Int:
    """Write a set, and `word` (-1: none), in order to the pool's scratch; return how many."""
    scratch = pool.scratch
    count = 0
    placed = word < 0
    for i in range(pool.offsets[ban], pool.offsets[ban + 1]):
        if not placed and pool.sets[i] >= np.uint64(word):
            scratch[count] = np.uint64(word)
            count += 1
            placed = True
        scratch[count] = pool.sets[i]
        count += 1
    if not placed:
        scratch[count] = np.uint64(word)
        count += 1
    return count


@inner_kernel
def intern_bans(count: Int, pool: Pool) -> Int:
    """Intern the first values of the pool's scratch as a set; -1 if there is no room."""
    if count == 0:
        return 0
    return -1 if count > SET_MAX else intern(count, pool)


@inner_kernel
def open_blocks(free: np.uint64, columns: Int) -> np.uint64:
    """Mark the blocks in which both cells of a diagonal are free: only these still matter."""
    c = np.uint64(columns)
    falling = free & (free << (c + ONE))
    rising = (free << ONE) & (free << c)
    return falling | rising


@inlined_kernel
def combine(
    closed: np.uint64, several: bool, sets: U64, start: Int, stop: Int, matter: np.uint64,
    pool: Pool,
) -> tuple[Int, np.uint64, bool]:  # fmt: skip
    """Add a piece's closed blocks; return (0, closed, several), -1 if it crosses, -2 if full.

    The piece's least sets are sets[start:stop]; the result only has blocks of `matter`.
    """
    if not several and stop - start == 1:
        if sets[start] & closed:
            return -1, closed, False
        return 0, (closed | sets[start]) & matter, False
    return _combine_sets(closed, several, sets, start, stop, matter, pool)


@inner_kernel
def _combine_sets(
    closed: np.uint64, several: bool, sets: U64, start: Int, stop: Int, matter: np.uint64,
    pool: Pool,
) -> tuple[Int, np.uint64, bool]:  # fmt: skip
    scratch = pool.scratch
    count: Int = np.int64(0)
    first, last = np.int64(0), np.int64(1)
    if several:
        first, last = pool.offsets[closed], pool.offsets[closed + ONE]
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


@inner_kernel
def crosses(closed: np.uint64, several: bool, sets: U64, start: Int, stop: Int, pool: Pool) -> bool:
    """Return whether every path of a piece crosses a closed block."""
    if not several and stop - start == 1:
        return (sets[start] & closed) != 0
    first, last = np.int64(0), np.int64(1)
    if several:
        first, last = pool.offsets[closed], pool.offsets[closed + ONE]
    for i in range(first, last):
        one = pool.sets[i] if several else closed
        for j in range(start, stop):
            if not (sets[j] & one):
                return False
    return True


@inner_kernel
def _least(masks: U64, count: Int) -> Int:
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

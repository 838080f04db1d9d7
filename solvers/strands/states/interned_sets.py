"""Sets of 64-bit values, numbered so that equal sets have one number; set 0 is empty.

Kept in them are alternatives of closed blocks (nightgrid.solvers.strands.states.blocks), and words
that must not come again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.hash_table import (
    EMPTY,
    Index,
    enter,
    first_slot,
    hash_span,
    next_slot,
    seek,
)

SET_MAX = 256
"""Values that one set may hold; more are refused, never cut."""
POOL_SETS = 1 << 16
_INDEX_BITS = 17
"""The index has twice as many slots as the pool has sets."""


class Pool(NamedTuple):
    """Numbered sets, one after the other."""

    sets: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64]
    """int64[POOL_SETS + 1]: set s is sets[offsets[s]:offsets[s + 1]], ascending."""
    slots: Index
    """uint32[2^_INDEX_BITS]: finds sets by their values."""
    held: npt.NDArray[np.int64]
    """int64[1]: how many sets there are."""
    scratch: npt.NDArray[np.uint64]
    """uint64[SET_MAX + 1]: a set that is being made."""


def new_pool() -> Pool:
    """Make an empty pool, in which only the empty set is known, as number 0."""
    pool = Pool(
        sets=np.empty(16 * POOL_SETS, np.uint64),
        offsets=np.zeros(POOL_SETS + 1, np.int64),
        slots=np.empty(1 << _INDEX_BITS, np.uint32),
        held=np.empty(1, np.int64),
        # One more: a set of banned words and another, before those that fit no more are dropped.
        scratch=np.empty(SET_MAX + 1, np.uint64),
    )
    clear_pool(pool)
    return pool


def clear_pool(pool: Pool) -> None:
    """Forget every set but the empty one."""
    pool.held[0] = 1
    pool.slots[:] = EMPTY


@inlined_kernel
def _is_set(number: Int, count: Int, pool: Pool) -> bool:
    """Tell whether a set has just the first `count` values of the scratch."""
    start = pool.offsets[number]
    if pool.offsets[number + 1] - start != count:
        return False
    for i in range(count):
        if pool.sets[start + i] != pool.scratch[i]:
            return False
    return True


@search_kernel
def intern(count: Int, pool: Pool) -> Int:
    """Number the set of the first `count` values of the scratch, ascending; -1 when it is full."""
    mixed = hash_span(np.uint64(count), pool.scratch, 0, count)
    slot = first_slot(mixed, _INDEX_BITS)
    while True:
        slot, number = seek(pool.slots, _INDEX_BITS, mixed, slot)
        if number < 0:
            break
        if _is_set(number, count, pool):
            return number
        slot = next_slot(slot, _INDEX_BITS)
    number = pool.held[0]
    start = pool.offsets[number]
    if number + 2 > len(pool.offsets) or start + count > len(pool.sets):
        return -1
    for i in range(count):
        pool.sets[start + i] = pool.scratch[i]
    pool.offsets[number + 1] = start + count
    enter(pool.slots, slot, mixed, number)
    pool.held[0] = number + 1
    return number


@inlined_kernel
def is_banned(word: Int, ban: Int, pool: Pool) -> bool:
    """Tell whether a word stands in a set."""
    for i in range(pool.offsets[ban], pool.offsets[ban + 1]):
        if pool.sets[i] == np.uint64(word):
            return True
    return False


@search_kernel
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


@search_kernel
def intern_bans(count: Int, pool: Pool) -> Int:
    """Number the set that the pool's scratch begins with; -1 when there is no room for it."""
    if count == 0:
        return 0
    return -1 if count > SET_MAX else intern(count, pool)

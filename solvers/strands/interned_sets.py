"""Words that must not come again: sets of their numbers, interned; set 0 is empty."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.compiling import inlined_kernel, search_kernel
from solvers.strands.blocks import ALTERNATIVES_MAX, intern


@inlined_kernel
def is_banned(word: int, ban: int, pool: Any) -> bool:
    """Tell whether a word stands in a set."""
    for i in range(pool.offsets[ban], pool.offsets[ban + 1]):
        if pool.sets[i] == np.uint64(word):
            return True
    return False


@search_kernel
def list_bans(ban: int, word: Any, pool: Any) -> int:
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
def intern_bans(count: int, pool: Any) -> int:
    """Number the set that the pool's scratch begins with; -1 when there is no room for it."""
    if count == 0:
        return 0
    return -1 if count > ALTERNATIVES_MAX else intern(pool.scratch, count, pool)

"""Prices of cells: a bound on how few words can cover what is left.

Every cell gets a price so that no word's cells cost more than UNIT together. Then n words cover
at most cells of price n UNIT: the dual of the linear relaxation of "cover all cells with as few
words as possible". What a word falls short of UNIT is its reduced cost, and the reduced costs of
the words of a cover add up to exactly what is left over, so a word whose reduced cost is more
than what is left over stands in no cover. Prices are whole numbers, found by raising all and
lowering those of words that are too dear, so that they are the same on every machine.
"""

from __future__ import annotations

import numpy as np

from nightgrid.solvers.kernel.bits import popcount, trailing_zeros
from nightgrid.solvers.kernel.compiling import Int, kernel

UNIT = 1 << 20
ROUNDS = 120

_ONE = np.uint64(1)


@kernel
def price_cells(cells: np.ndarray, count: Int, prices: np.ndarray) -> None:
    """Write int64 prices of `count` cells, given the words' masks (uint64[words]).

    A cell that no word holds gets a price beyond any number of words.
    """
    longest = np.zeros(count, np.int64)
    for p in range(len(cells)):
        size = popcount(cells[p])
        left = cells[p]
        while left:
            c = trailing_zeros(left)
            left &= left - _ONE
            longest[c] = max(longest[c], size)
    current = np.zeros(count, np.int64)
    total = 0
    for c in range(count):
        current[c] = UNIT // longest[c] if longest[c] else 0
        total += current[c]
        prices[c] = current[c]
    most = total
    for turn in range(ROUNDS):
        # Ever smaller steps: 1/16, then 1/32, then 1/64 of a price.
        shift = 4 + (3 * turn) // ROUNDS
        for c in range(count):
            current[c] += current[c] >> shift
        for p in range(len(cells)):
            cost = 0
            left = cells[p]
            while left:
                cost += current[trailing_zeros(left)]
                left &= left - _ONE
            if cost > UNIT:
                left = cells[p]
                while left:
                    c = trailing_zeros(left)
                    left &= left - _ONE
                    current[c] = current[c] * UNIT // cost
        total = 0
        for c in range(count):
            total += current[c]
        if total > most:
            most = total
            prices[:count] = current
    for c in range(count):
        if not longest[c]:
            prices[c] = UNIT * 128

"""Put the paths of compounds into the order of pieces, and keep what their blocks come to."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.compiling import kernel
from solvers.strands.component_paths import CELLS, CODE_HI, CODE_LO
from solvers.strands.compound_scores import hash_slot
from solvers.strands.compounds import BLOCKS

DIGIT_BITS = 11
"""Of a key that rows are sorted by at a time."""
_ZERO = np.uint64(0)


@kernel
def _sort_by(keys: np.ndarray, order: np.ndarray, n: int) -> Any:
    """Sort an order by its keys (uint64), stably, digit by digit; return both."""
    other_keys, other = np.empty_like(keys), np.empty_like(order)
    digit = np.uint64((1 << DIGIT_BITS) - 1)
    varies = _ZERO
    for i in range(1, n):
        varies |= keys[i] ^ keys[0]
    starts = np.empty((1 << DIGIT_BITS) + 1, np.int64)
    for shift in range(0, 64, DIGIT_BITS):
        by = np.uint64(shift)
        if not (varies >> by) & digit:
            continue
        starts[:] = 0
        for i in range(n):
            starts[np.int64((keys[i] >> by) & digit) + 1] += 1
        for d in range(len(starts) - 1):
            starts[d + 1] += starts[d]
        for i in range(n):
            place = np.int64((keys[i] >> by) & digit)
            other_keys[starts[place]] = keys[i]
            other[starts[place]] = order[i]
            starts[place] += 1
        keys, other_keys = other_keys, keys
        order, other = other, order
    return keys, order


@kernel
def _stands_before(masks: np.ndarray, a: int, b: int) -> bool:
    """Compare rows of the same cells: by letters, then blocks."""
    if masks[a, CODE_HI] != masks[b, CODE_HI]:
        return masks[a, CODE_HI] < masks[b, CODE_HI]
    if masks[a, CODE_LO] != masks[b, CODE_LO]:
        return masks[a, CODE_LO] < masks[b, CODE_LO]
    return masks[a, BLOCKS] < masks[b, BLOCKS]


@kernel
def _sort_within(order: np.ndarray, start: int, stop: int, masks: np.ndarray) -> None:
    """Sort the rows of one set of cells: a Shell sort, mostly of a handful."""
    gap = 1
    while 3 * gap + 1 < stop - start:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(start + gap, stop):
            row = order[i]
            j = i
            while j - gap >= start and _stands_before(masks, row, order[j - gap]):
                order[j] = order[j - gap]
                j -= gap
            order[j] = row
        gap //= 3


@kernel
def merge_rows(masks: np.ndarray, numbers: np.ndarray, n: int) -> Any:
    """Merge the rows of solvers.strands.compounds.join_components into pieces in canonical order.

    Returns (lowest cells int32, cells, codes uint64[., 2], scores, block offsets int32, blocks):
    blocks[offsets[p]:offsets[p + 1]] are piece p's least sets of blocks, ascending.
    """
    order = np.arange(n).astype(np.int32)
    keys = np.empty(n, np.uint64)
    for i in range(n):
        keys[i] = masks[i, CELLS]
    keys, order = _sort_by(keys, order, n)
    for i in range(n):
        keys[i] = np.uint64(numbers[order[i], 0])
    keys, order = _sort_by(keys, order, n)
    low, cells = np.empty(n, np.int32), np.empty(n, np.uint64)
    codes, scores = np.empty((n, 2), np.uint64), np.empty(n, np.int64)
    offsets, blocks = np.empty(n + 1, np.int32), np.empty(n, np.uint64)
    offsets[0] = 0
    pieces, kept = 0, 0
    start = 0
    while start < n:
        head = order[start]
        stop = start + 1
        while (
            stop < n
            and masks[order[stop], CELLS] == masks[head, CELLS]
            and keys[stop] == keys[start]
        ):
            stop += 1
        _sort_within(order, start, stop, masks)
        for i in range(start, stop):
            row = order[i]
            if (
                i == start
                or masks[row, CODE_LO] != codes[pieces - 1, 1]
                or masks[row, CODE_HI] != codes[pieces - 1, 0]
            ):
                low[pieces] = numbers[row, 0]
                cells[pieces] = masks[row, CELLS]
                codes[pieces, 0] = masks[row, CODE_HI]
                codes[pieces, 1] = masks[row, CODE_LO]
                scores[pieces] = numbers[row, 1]
                pieces += 1
                offsets[pieces] = kept
            scores[pieces - 1] = max(scores[pieces - 1], numbers[row, 1])
            least = True
            for k in range(offsets[pieces - 1], kept):
                # Ascending: a set stands after every set that it contains.
                if blocks[k] & masks[row, BLOCKS] == blocks[k]:
                    least = False
                    break
            if least:
                blocks[kept] = masks[row, BLOCKS]
                kept += 1
            offsets[pieces] = kept
        start = stop
    return (
        low[:pieces].copy(), cells[:pieces].copy(), codes[:pieces].copy(), scores[:pieces].copy(),
        offsets[: pieces + 1].copy(), blocks[:kept].copy(),
    )  # fmt: skip


@kernel
def number_codes(codes: np.ndarray) -> np.ndarray:
    """Number equal codes (uint64[n, 2]) alike, in the order of their first rows: int64[n]."""
    size = 64
    while size < 2 * len(codes):
        size *= 2
    index = np.full(size, -1, np.int32)
    numbers = np.empty(len(codes), np.int64)
    count = 0
    for i in range(len(codes)):
        slot = hash_slot(_ZERO, 0, codes[i, 0], codes[i, 1], size)
        while index[slot] >= 0:
            first = index[slot]
            if codes[first, 0] == codes[i, 0] and codes[first, 1] == codes[i, 1]:
                numbers[i] = numbers[first]
                break
            slot = (slot + 1) & (size - 1)
        else:
            index[slot] = i
            numbers[i] = count
            count += 1
    return numbers

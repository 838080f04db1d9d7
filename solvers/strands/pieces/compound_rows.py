"""The rows in which compounds are written: each once, then in the order of pieces."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import Int, inlined_kernel, kernel
from nightgrid.solvers.kernel.hash_table import (
    EMPTY,
    Index,
    enter,
    enter_new,
    first_slot,
    mix_first,
    mix_last,
    mix_next,
    next_slot,
    seek,
)
from nightgrid.solvers.strands.pieces.component_paths import CELLS, CODE_HI, CODE_LO, FALLING

BLOCKS = FALLING
"""Column of the blocks in rows of compounds; the others are those of components."""
DIGIT_BITS = 11
"""Of a key that rows are sorted by at a time."""
_ZERO = np.uint64(0)


class Rows(NamedTuple):
    """Compounds that were written, and an index that finds equal ones."""

    masks: npt.NDArray[np.uint64]
    """uint64[rows, 5]: cells, blocks, nothing, and the letters' code in two halves."""
    numbers: npt.NDArray[np.int64]
    """int64[rows, 2]: lowest cell and score."""
    slots: Index
    bits: Int


@kernel
def new_rows(rows: Int) -> Rows:
    """Make room for so many rows."""
    bits = np.int64(0)
    while 1 << bits < 4 * rows:
        bits += 1
    return Rows(
        np.empty((rows, 5), np.uint64),
        np.empty((rows, 2), np.int64),
        np.full(1 << bits, EMPTY, np.uint32),
        bits,
    )


@inlined_kernel
def _mixed_row(rows: Rows, row: Int) -> np.uint64:
    masks = rows.masks
    h = mix_next(mix_first(masks[row, CELLS]), masks[row, BLOCKS])
    h = mix_next(mix_next(h, masks[row, CODE_HI]), masks[row, CODE_LO])
    return mix_last(mix_next(h, np.uint64(rows.numbers[row, 0])))


@inlined_kernel
def _is_equal(rows: Rows, one: Int, other: Int) -> bool:
    masks = rows.masks
    return bool(
        masks[one, CELLS] == masks[other, CELLS]
        and masks[one, CODE_LO] == masks[other, CODE_LO]
        and masks[one, CODE_HI] == masks[other, CODE_HI]
        and masks[one, BLOCKS] == masks[other, BLOCKS]
        and rows.numbers[one, 0] == rows.numbers[other, 0]
    )


@inlined_kernel
def keep_row(rows: Rows, new: Int) -> bool:
    """Enter row `new`; if there is an equal one, give that the higher score; tell if it is new."""
    mixed = _mixed_row(rows, new)
    slot = first_slot(mixed, rows.bits)
    while True:
        slot, row = seek(rows.slots, rows.bits, mixed, slot)
        if row < 0:
            enter(rows.slots, slot, mixed, new)
            return True
        if _is_equal(rows, row, new):
            rows.numbers[row, 1] = max(rows.numbers[row, 1], rows.numbers[new, 1])
            return False
        slot = next_slot(slot, rows.bits)


@kernel
def longer_rows(rows: Rows) -> Rows:
    """Copy rows that are all in use into room for twice as many."""
    found = len(rows.masks)
    more = new_rows(2 * found)
    more.masks[:found], more.numbers[:found] = rows.masks, rows.numbers
    for row in range(found):
        enter_new(more.slots, more.bits, _mixed_row(more, row), row)
    return more


@kernel
def _sort_by(keys: np.ndarray, order: np.ndarray, n: Int) -> Any:
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
def _stands_before(masks: np.ndarray, a: Int, b: Int) -> bool:
    """Compare rows of the same cells: by letters, then blocks."""
    if masks[a, CODE_HI] != masks[b, CODE_HI]:
        return masks[a, CODE_HI] < masks[b, CODE_HI]
    if masks[a, CODE_LO] != masks[b, CODE_LO]:
        return masks[a, CODE_LO] < masks[b, CODE_LO]
    return masks[a, BLOCKS] < masks[b, BLOCKS]


@kernel
def _sort_within(order: np.ndarray, start: Int, stop: Int, masks: np.ndarray) -> None:
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
def merge_rows(masks: np.ndarray, numbers: np.ndarray, n: Int) -> Any:
    """Merge the rows of nightgrid.solvers.strands.pieces.compounds.join_components into pieces in
    canonical
    order.

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

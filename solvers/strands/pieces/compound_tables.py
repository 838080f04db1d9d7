"""The tables of compounds: the rows written, codes of letters, and phrases of the board."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nightgrid.solvers.kernel import hash_table
from nightgrid.solvers.kernel.compiling import (
    I32,
    I64,
    U64,
    Int,
    inlined_kernel,
    kernel,
    search_kernel,
)
from nightgrid.solvers.kernel.hash_table import Index
from nightgrid.solvers.strands.pieces import component_paths as col
from nightgrid.solvers.strands.pieces.component_paths import Components

BLOCKS = col.FALLING
"""Column of the blocks in rows of compounds; the others are those of components."""
DIGIT_BITS = 11
"""Bits of the key that rows are sorted by at a time."""
_ZERO = np.uint64(0)


class Rows(NamedTuple):
    """Compounds that were written, and an index that finds equal ones."""

    masks: U64
    """uint64[rows, 5]: cells, blocks, nothing, and the letters' code in two halves."""
    numbers: I64
    """int64[rows, 2]: lowest cell and score."""
    slots: Index
    bits: Int


@kernel
def new_rows(rows: Int) -> Rows:
    """Make room for so many rows."""
    bits = _bits_for(rows)
    return Rows(
        np.empty((rows, 5), np.uint64),
        np.empty((rows, 2), np.int64),
        np.full(1 << bits, hash_table.EMPTY, np.uint32),
        bits,
    )


@inlined_kernel
def _mixed_row(rows: Rows, row: Int) -> np.uint64:
    masks = rows.masks
    h = hash_table.mix_next(hash_table.mix_first(masks[row, col.CELLS]), masks[row, BLOCKS])
    h = hash_table.mix_next(
        hash_table.mix_next(h, masks[row, col.CODE_HI]), masks[row, col.CODE_LO]
    )
    return hash_table.mix_last(hash_table.mix_next(h, np.uint64(rows.numbers[row, 0])))


@inlined_kernel
def _is_equal(rows: Rows, one: Int, other: Int) -> bool:
    masks = rows.masks
    return bool(
        masks[one, col.CELLS] == masks[other, col.CELLS]
        and masks[one, col.CODE_LO] == masks[other, col.CODE_LO]
        and masks[one, col.CODE_HI] == masks[other, col.CODE_HI]
        and masks[one, BLOCKS] == masks[other, BLOCKS]
        and rows.numbers[one, 0] == rows.numbers[other, 0]
    )


@inlined_kernel
def keep_row(rows: Rows, new: Int) -> bool:
    """Enter row `new`; if there is an equal one, give that the higher score; tell if it is new."""
    mixed = _mixed_row(rows, new)
    slot = hash_table.first_slot(mixed, rows.bits)
    while True:
        slot, row = hash_table.seek(rows.slots, rows.bits, mixed, slot)
        if row < 0:
            hash_table.enter(rows.slots, slot, mixed, new)
            return True
        if _is_equal(rows, row, new):
            rows.numbers[row, 1] = max(rows.numbers[row, 1], rows.numbers[new, 1])
            return False
        slot = hash_table.next_slot(slot, rows.bits)


@kernel
def longer_rows(rows: Rows) -> Rows:
    """Copy rows that are all in use into room for twice as many."""
    found = len(rows.masks)
    more = new_rows(2 * found)
    more.masks[:found], more.numbers[:found] = rows.masks, rows.numbers
    for row in range(found):
        hash_table.enter_new(more.slots, more.bits, _mixed_row(more, row), row)
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
    if masks[a, col.CODE_HI] != masks[b, col.CODE_HI]:
        return masks[a, col.CODE_HI] < masks[b, col.CODE_HI]
    if masks[a, col.CODE_LO] != masks[b, col.CODE_LO]:
        return masks[a, col.CODE_LO] < masks[b, col.CODE_LO]
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
    """Merge the rows that join_components writes into pieces in canonical order.

    Returns (lowest cells int32, cells, codes uint64[., 2], scores, block offsets int32, blocks):
    blocks[offsets[p]:offsets[p + 1]] are piece p's least sets of blocks, ascending.
    """
    order = np.arange(n).astype(np.int32)
    keys = np.empty(n, np.uint64)
    for i in range(n):
        keys[i] = masks[i, col.CELLS]
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
            and masks[order[stop], col.CELLS] == masks[head, col.CELLS]
            and keys[stop] == keys[start]
        ):
            stop += 1
        _sort_within(order, start, stop, masks)
        for i in range(start, stop):
            row = order[i]
            if (
                i == start
                or masks[row, col.CODE_LO] != codes[pieces - 1, 1]
                or masks[row, col.CODE_HI] != codes[pieces - 1, 0]
            ):
                low[pieces] = numbers[row, 0]
                cells[pieces] = masks[row, col.CELLS]
                codes[pieces, 0] = masks[row, col.CODE_HI]
                codes[pieces, 1] = masks[row, col.CODE_LO]
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


_LEAST_BITS = 6
"""The least index has 2^6 slots."""


class ScoreWeights(NamedTuple):
    """What a compound scores: its components, the phrases they make, and how many they are."""

    components: I64
    """int64[words]."""
    phrase_offsets: I32
    """int32[words + 1], as in the lexicon."""
    phrase_second: I32
    """int32[phrases], as in the lexicon."""
    phrases: I64
    """int64[phrases]: added for two components in a row that are a phrase."""
    counts: I64
    """int64: entry n is added to a compound of n components."""


class Codes(NamedTuple):
    """Distinct codes of letters, or pairs of words, found by their hash."""

    codes: U64
    """uint64[n, 2]."""
    slots: Index
    bits: Int


class Phrases(NamedTuple):
    """The pairs of words on a board that are phrases."""

    pairs: Codes
    scores: I64
    """int64[pairs]."""


def phrase_of(first: int, second: int, weights: ScoreWeights) -> int:
    """Look up in the lexicon what two words in a row score as a phrase; 0 when they are none."""
    start, stop = weights.phrase_offsets[first], weights.phrase_offsets[first + 1]
    at = start + np.searchsorted(weights.phrase_second[start:stop], second)
    if at < stop and weights.phrase_second[at] == second:
        return int(weights.phrases[at])
    return 0


@kernel
def _bits_for(keys: Int) -> Int:
    """Return how many bits number the slots of which so many keys take at most a quarter."""
    bits = np.int64(_LEAST_BITS)
    while 1 << bits < 4 * keys:
        bits += 1
    return bits


@kernel
def hash_phrases(components: Components, weights: ScoreWeights) -> Phrases:
    """Index the pairs of words on the board that are phrases."""
    words = len(weights.components)
    fields, offsets, seconds = components.fields, weights.phrase_offsets, weights.phrase_second
    here = np.zeros(words, np.uint8)
    for i in range(len(fields)):
        here[fields[i, col.WORD]] = 1
    count = 0
    for word in range(words):
        if here[word]:
            for p in range(offsets[word], offsets[word + 1]):
                count += here[seconds[p]]
    pairs, scores = np.empty((count, 2), np.uint64), np.empty(count, np.int64)
    number = 0
    for word in range(words):
        if not here[word]:
            continue
        for p in range(offsets[word], offsets[word + 1]):
            if here[seconds[p]]:
                pairs[number, 0], pairs[number, 1] = word, seconds[p]
                scores[number] = weights.phrases[p]
                number += 1
    return Phrases(hash_codes(pairs), scores)


@inlined_kernel
def _find_code(hi: np.uint64, lo: np.uint64, mixed: np.uint64, known: Codes) -> tuple[Int, Int]:
    """Look a code up; return its slot and number, or the slot that is free for it and -1."""
    slot = hash_table.first_slot(mixed, known.bits)
    while True:
        slot, number = hash_table.seek(known.slots, known.bits, mixed, slot)
        if number < 0 or (known.codes[number, 0] == hi and known.codes[number, 1] == lo):
            return slot, number
        slot = hash_table.next_slot(slot, known.bits)


@inlined_kernel
def _mixed_code(hi: np.uint64, lo: np.uint64) -> np.uint64:
    return hash_table.mix_last(hash_table.mix_next(hash_table.mix_first(hi), lo))


@kernel
def hash_codes(codes: U64) -> Codes:
    """Index distinct codes (uint64[n, 2])."""
    bits = _bits_for(len(codes))
    slots = np.full(1 << bits, hash_table.EMPTY, np.uint32)
    for i in range(len(codes)):
        hash_table.enter_new(slots, bits, _mixed_code(codes[i, 0], codes[i, 1]), i)
    return Codes(codes, slots, bits)


@search_kernel
def is_known(hi: np.uint64, lo: np.uint64, known: Codes) -> bool:
    """Return whether a code is among those of `hash_codes`."""
    return bool(_find_code(hi, lo, _mixed_code(hi, lo), known)[1] >= 0)


@search_kernel
def phrase_score(first: Int, second: Int, phrases: Phrases) -> Int:
    """Look up what two words in a row score as a phrase; 0 when they are none."""
    hi, lo = np.uint64(first), np.uint64(second)
    number = _find_code(hi, lo, _mixed_code(hi, lo), phrases.pairs)[1]
    return phrases.scores[number] if number >= 0 else np.int64(0)


@kernel
def number_codes(codes: U64) -> I64:
    """Number equal codes (uint64[n, 2]) alike, in the order of their first rows: int64[n]."""
    bits = _bits_for(len(codes))
    known = Codes(codes, np.full(1 << bits, hash_table.EMPTY, np.uint32), bits)
    numbers = np.empty(len(codes), np.int64)
    count = 0
    for i in range(len(codes)):
        mixed = _mixed_code(codes[i, 0], codes[i, 1])
        slot, first = _find_code(codes[i, 0], codes[i, 1], mixed, known)
        if first >= 0:
            numbers[i] = numbers[first]
        else:
            hash_table.enter(known.slots, slot, mixed, i)
            numbers[i] = count
            count += 1
    return numbers

"""Ways of playing as rows of 64-bit words, with a field for every letter of every side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import I32, I64, U64, Int, inlined_kernel
from nightgrid.solvers.kernel.machine import ONE, ZERO
from nightgrid.solvers.letterboxed.model import Model

SIDE_BITS = 8
"""The first word of a way of playing: letters left above, the side in these bits."""
NO_FIELD = -1
PAIRS_MAX = 192
"""Up to this many ways are compared in pairs; among more, only duplicates are dropped."""

_SIDE = np.uint64((1 << SIDE_BITS) - 1)
_SIDE_BITS = np.uint64(SIDE_BITS)


class Fields(NamedTuple):
    """The field of each letter of each side. Every field has a spare bit above it.

    With the spare bits set, one subtraction compares all fields of a word: none is larger if every
    spare bit stays.
    """

    word: I32
    """int32[sides, letters]: word of the field, counted from 1; NO_FIELD if there is none."""
    shift: U64
    mask: U64
    """uint64[sides, letters]: lowest bit of the field, and its bits when shifted down."""
    spare: U64
    """uint64[words + 1]: the spare bits of each word; word 0 is the side and the letters left."""
    full: U64
    """uint64[words + 1]: everything left, on side 0."""
    stands: I32
    """int32[sides of all letters]: the sides of each letter, letter by letter."""
    stands_at: I32
    """int32[letters + 1]: where each letter's sides begin."""


def fields_of(model: Model) -> Fields:
    """Lay out the fields of a board."""
    sides, letters = model.sides.shape
    word = np.full((sides, letters), NO_FIELD, np.int32)
    shift = np.zeros((sides, letters), np.uint64)
    mask = np.zeros((sides, letters), np.uint64)
    spare: list[int] = [0]
    full: list[int] = [int(model.sides.sum()) << SIDE_BITS]
    used = 64
    for side in range(sides):
        for letter in range(letters):
            times = int(model.sides[side, letter])
            if not times:
                continue
            width = times.bit_length()
            if used + width + 1 > 64:
                spare.append(0)
                full.append(0)
                used = 0
            word[side, letter] = len(spare) - 1
            shift[side, letter] = used
            mask[side, letter] = (1 << width) - 1
            full[-1] |= times << used
            spare[-1] |= 1 << (used + width)
            used += width + 1
    stands = [np.flatnonzero(model.sides[:, letter]) for letter in range(letters)]
    return Fields(
        word=word,
        shift=shift,
        mask=mask,
        spare=np.array(spare, np.uint64),
        full=np.array(full, np.uint64),
        stands=np.concatenate(stands).astype(np.int32),
        stands_at=np.concatenate([[0], np.cumsum([len(s) for s in stands])]).astype(np.int32),
    )


class Plays(NamedTuple):
    """Scratch of the walk along words."""

    rows: U64
    """uint64[rows, words]: ways of playing, those of one depth together."""
    begins: I64
    """int64[letters of a word + 2]: the first row of each depth."""
    slots: I32
    stamps: I64
    """int32, int64[power of two]: hash table of the rows of one depth, and when they were set.
    Not nightgrid.solvers.kernel.hash_table: stamps spare emptying it for every letter of every
    word."""
    state: I64
    """int64[1]: the last stamp."""
    to_come: I32
    """int32[letters]: how often each letter occurs later in the word."""


@inlined_kernel
def covers(rows: U64, a: Int, b: Int, spare: U64) -> bool:
    """Return whether row a is on the same side as row b and has no letters left that b lacks."""
    if (rows[a, 0] ^ rows[b, 0]) & _SIDE != ZERO:
        return False
    for i in range(1, len(spare)):
        if ((rows[b, i] | spare[i]) - rows[a, i]) & spare[i] != spare[i]:
            return False
    return True


@inlined_kernel
def keep(rows: U64, first: Int, new: Int, fields: Fields, plays: Plays) -> Int:
    """Keep row `new` among the rows from `first` if none there is as good; return their end.

    Drops rows that the new one is better than.
    """
    spare = fields.spare
    if new - first < PAIRS_MAX:
        for other in range(first, new):
            if covers(rows, other, new, spare):
                return new
        end = first
        for other in range(first, new):
            if not covers(rows, new, other, spare):
                if end != other:
                    for i in range(len(spare)):
                        rows[end, i] = rows[other, i]
                end += 1
        if end != new:
            for i in range(len(spare)):
                rows[end, i] = rows[new, i]
        return end + 1
    if new - first == PAIRS_MAX:
        plays.state[0] += 1
        for other in range(first, new):
            find_row(rows, other, len(spare), plays)
    return new + 1 if find_row(rows, new, len(spare), plays) else new


@inlined_kernel
def find_row(rows: U64, new: Int, size: Int, plays: Plays) -> bool:
    """Enter a row into the hash table; return whether it is new there."""
    stamp = plays.state[0]
    mixed = ZERO
    for i in range(size):
        mixed = (mixed ^ rows[new, i]) * np.uint64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> np.uint64(32)
    mask = np.uint64(len(plays.slots) - 1)
    slot = mixed & mask
    while plays.stamps[slot] == stamp:
        other = plays.slots[slot]
        same = True
        for i in range(size):
            if rows[other, i] != rows[new, i]:
                same = False
                break
        if same:
            return False
        slot = (slot + ONE) & mask
    plays.stamps[slot] = stamp
    plays.slots[slot] = new
    return True


@inlined_kernel
def enter(rows: U64, source: Int, new: Int, side: Int, letter: Int, fields: Fields) -> None:
    """Write row `new`: row `source` after playing a letter on a side."""
    for i in range(len(fields.spare)):
        rows[new, i] = rows[source, i]
    head = rows[source, 0] & ~_SIDE
    word, shift = fields.word[side, letter], fields.shift[side, letter]
    if (rows[new, word] >> shift) & fields.mask[side, letter] != ZERO:
        rows[new, word] -= ONE << shift
        head -= ONE << _SIDE_BITS
    rows[new, 0] = head | np.uint64(side)


@inlined_kernel
def lacks_letter(rows: U64, row: Int, letter: Int, to_come: Int, fields: Fields) -> bool:
    """Return whether more of a letter is left than the word still has."""
    left = ZERO
    for at in range(fields.stands_at[letter], fields.stands_at[letter + 1]):
        side = fields.stands[at]
        word = fields.word[side, letter]
        left += (rows[row, word] >> fields.shift[side, letter]) & fields.mask[side, letter]
    return bool(left > np.uint64(to_come))


@inlined_kernel
def some_can_complete(
    rows: U64, first: Int, end: Int, kinds: Int, plays: Plays, fields: Fields
) -> bool:
    """Return whether the rest of the word suffices for some row."""
    for row in range(first, end):
        complete = True
        for kind in range(kinds):
            if lacks_letter(rows, row, kind, plays.to_come[kind], fields):
                complete = False
                break
        if complete:
            return True
    return False


@inlined_kernel
def write_key(rows: U64, first: Int, end: Int, size: Int, pool: U64, at: Int) -> None:
    """Write rows into the pool in ascending order."""
    count = end - first
    for row in range(count):
        for i in range(size):
            pool[at + row * size + i] = rows[first + row, i]
    gap = count // 2
    while gap > 0:
        for row in range(gap, count):
            here: Int = row
            while here >= gap:
                one, other = at + (here - gap) * size, at + here * size
                swap = False
                for i in range(size):
                    if pool[one + i] != pool[other + i]:
                        swap = pool[one + i] > pool[other + i]
                        break
                if not swap:
                    break
                for i in range(size):
                    pool[one + i], pool[other + i] = pool[other + i], pool[one + i]
                here -= gap
        gap //= 2

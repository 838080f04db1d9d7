"""One open-addressing hash table for all kernels: an index that finds numbered keys by their hash.

The caller stores the keys, in any form, and numbers them from 0. The index is a uint32 array of
which the first 2^bits entries are in use, so that a small search stays in the cache. An entry is
the number of a key and, above it, four bits of its hash, which avoid most comparisons with other
keys. Collisions go to the next slot (linear probing), and at most half of the slots should be
taken: see `is_crowded`.

Every function is inlined, as fast as a hand-written table. A caller with its own form of keys
writes this loop with its own comparison:

    mixed = mix(...)
    slot = first_slot(mixed, bits)
    while True:
        slot, number = seek(index, bits, mixed, slot)
        if number < 0 or same_key(number):
            break
        slot = next_slot(slot, bits)

It ends with the number of the key, or -1 and the slot to `enter` it in.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import U64, Int, inlined_kernel

Index = npt.NDArray[np.uint32]

NUMBER_BITS = 28
NUMBER_MASK = (1 << NUMBER_BITS) - 1
MOST_NUMBERS = NUMBER_MASK
"""Most keys of a table: the next number is part of EMPTY."""
EMPTY = np.uint32(0xFFFFFFFF)

_TAG_AT = np.uint64(20)
_TAG_MASK = 15
_WORD_BITS = 64
_29 = np.uint64(29)
_32 = np.uint64(32)
_MIX_FIRST = np.uint64(0x9E3779B97F4A7C15)
_MIX_NEXT = np.uint64(0xD6E8FEB86659FD93)
_MIX_LAST = np.uint64(0xBF58476D1CE4E5B9)


@inlined_kernel
def mix_first(word: np.uint64) -> np.uint64:
    """Start a hash with the first word of a key, or with its length."""
    return word * _MIX_FIRST


@inlined_kernel
def mix_next(h: np.uint64, word: np.uint64) -> np.uint64:
    """Add another word of the key to a hash."""
    return (h ^ (h >> _32) ^ word) * _MIX_NEXT


@inlined_kernel
def mix_last(h: np.uint64) -> np.uint64:
    """Finish a hash, so that its high bits depend on every word."""
    return (h ^ (h >> _29)) * _MIX_LAST


@inlined_kernel
def hash_row(width: tuple[int, ...], keys: U64, at: Int) -> np.uint64:
    """Hash the key in the first len(width) words of row `at` of uint64[rows, words]."""
    h = mix_first(keys[at, 0])
    for i in range(1, len(width)):
        h = mix_next(h, keys[at, i])
    return mix_last(h)


@inlined_kernel
def hash_span(seed: np.uint64, words: U64, begin: Int, length: Int) -> np.uint64:
    """Hash the key words[begin : begin + length] of uint64[words], and a seed with it."""
    h = mix_first(seed)
    for i in range(begin, begin + length):
        h = mix_next(h, words[i])
    return mix_last(h)


@inlined_kernel
def clear(index: Index, bits: Int) -> None:
    """Empty the first 2^bits slots."""
    index[: 1 << bits] = EMPTY


@inlined_kernel
def is_crowded(held: Int, bits: Int) -> bool:
    """Return whether this many keys take more than half of 2^bits slots, which is too many."""
    return bool(2 * held > 1 << bits)


@inlined_kernel
def first_slot(mixed: np.uint64, bits: Int) -> Int:
    """Return the slot at which the search for a key with this hash starts."""
    return np.int64(mixed >> np.uint64(_WORD_BITS - bits))


@inlined_kernel
def next_slot(slot: Int, bits: Int) -> Int:
    """Return the slot after one that holds another key."""
    return (slot + 1) & ((1 << bits) - 1)


@inlined_kernel
def seek(index: Index, bits: Int, mixed: np.uint64, slot: Int) -> tuple[Int, Int]:
    """Search from `slot` for a key that may have this hash; return its slot and its number.

    Returns the first empty slot and -1 if there is none before it.
    """
    tag = np.int64(mixed >> _TAG_AT) & _TAG_MASK
    while index[slot] != EMPTY:
        entry = np.int64(index[slot])
        if entry >> NUMBER_BITS == tag:
            return slot, entry & NUMBER_MASK
        slot = next_slot(slot, bits)
    return slot, np.int64(-1)


@inlined_kernel
def peek(index: Index, mixed: np.uint64, slot: Int) -> Int:
    """Return the number in this slot; -1 if it is empty or its key has another hash."""
    entry = np.int64(index[slot])
    if index[slot] == EMPTY or entry >> NUMBER_BITS != np.int64(mixed >> _TAG_AT) & _TAG_MASK:
        return np.int64(-1)
    return entry & NUMBER_MASK


@inlined_kernel
def enter(index: Index, slot: Int, mixed: np.uint64, number: Int) -> None:
    """Enter a key's number into the empty slot where its look-up ended."""
    tag = np.int64(mixed >> _TAG_AT) & _TAG_MASK
    index[slot] = np.uint32((tag << NUMBER_BITS) | number)


@inlined_kernel
def enter_new(index: Index, bits: Int, mixed: np.uint64, number: Int) -> None:
    """Enter the number of a key that is not in the index, without comparing it to any."""
    slot = first_slot(mixed, bits)
    while index[slot] != EMPTY:
        slot = next_slot(slot, bits)
    enter(index, slot, mixed, number)


@inlined_kernel
def is_same_row(width: tuple[int, ...], rows: U64, row: Int, keys: U64, at: Int) -> bool:
    """Return whether a row of one array equals a row of another."""
    for i in range(len(width)):
        if rows[row, i] != keys[at, i]:
            return False
    return True

"""A table of the states of one layer: rows at the start or the end of an arena, and their index.

Two layers of states are alive at a time, and grow towards each other from the two ends of one
arena. So the row of state number n is n, or counted backwards from the arena's end.
"""

from __future__ import annotations

import numpy as np

from nightgrid.solvers.kernel.bits import prefetch
from nightgrid.solvers.kernel.compiling import Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.hash_table import (
    Words,
    clear,
    enter_new,
    first_slot,
    hash_row,
    is_same_row,
    next_slot,
    peek,
    seek,
)
from nightgrid.solvers.pips.layers.space import Table

SMALLEST_BITS = 8
"""The index of the smallest layer has 2^8 slots."""
PREFETCH_BITS = 15
"""Size of an index, as a power of two, from which on its lines are asked for ahead: beyond the
nearer caches."""


@inlined_kernel
def bits_for(table: Table, states: Int) -> Int:
    """Choose 2^bits slots, of which about so many states take half, as far as the index goes."""
    bits = SMALLEST_BITS
    while 1 << bits < 2 * states and 1 << bits < len(table.slots):
        bits += 1
    return bits


@inlined_kernel
def row_of(table: Table, number: Int, backwards: bool) -> Int:
    """Return the row of state `number`."""
    return len(table.rows) - 1 - number if backwards else number


@inlined_kernel
def find_state(
    width: tuple[int, ...], table: Table, bits: Int, mixed: np.uint64, keys: Words, at: Int,
    backwards: bool,
) -> tuple[Int, Int]:  # fmt: skip
    """Look up the state whose key is in row `at` of `keys` and has the hash `mixed`.

    Returns its slot in the index and its row, or the slot that is free for it and -1.
    """
    slot = first_slot(mixed, bits)
    row: Int = np.int64(-1)
    while True:
        slot, number = seek(table.slots, bits, mixed, slot)
        if number < 0:
            break
        row = row_of(table, number, backwards)
        if is_same_row(width, table.rows, row, keys, at):
            break
        row = np.int64(-1)
        slot = next_slot(slot, bits)
    return slot, row


@search_kernel
def ask_ahead(
    width: tuple[int, ...], table: Table, bits: Int, keys: Words, start: Int, stop: Int,
    backwards: bool,
) -> None:  # fmt: skip
    """Ask for the memory in which keys `start` to `stop` - 1 will be looked up.

    A large index misses the cache nearly every time: with all lines asked for before the first is
    needed, the memory works on many at once.
    """
    for c in range(start, stop):
        prefetch(table.slots, first_slot(hash_row(width, keys, c), bits))
    row_words = table.rows.shape[1]
    for c in range(start, stop):
        mixed = hash_row(width, keys, c)
        number = peek(table.slots, mixed, first_slot(mixed, bits))
        if number >= 0:
            prefetch(table.rows, row_of(table, number, backwards) * row_words)


@search_kernel
def index_again(
    width: tuple[int, ...], table: Table, bits: Int, states: Int, backwards: bool
) -> None:
    """Make an index of 2^bits slots over so many states."""
    clear(table.slots, bits)
    for number in range(states):
        mixed = hash_row(width, table.rows, row_of(table, number, backwards))
        enter_new(table.slots, bits, mixed, number)

"""The table of a search: states with their counts and best scores.

A state is three words: cells, closed blocks, and the rest packed into one. Its value is a 128-bit
count and the highest score of a cover. States are stored in sequence, and found through an index
that grows with them, so that a small search stays in the cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.codes import DONE, OUT_OF_BYTES, OUT_OF_NODES, OUT_OF_SECONDS
from nightgrid.solvers.kernel.compiling import I64, U64, Int, inlined_kernel, inner_kernel
from nightgrid.solvers.kernel.hash_table import (
    EMPTY,
    Index,
    enter_new,
    first_slot,
    is_crowded,
    next_slot,
    seek,
)
from nightgrid.solvers.kernel.hash_table import clear as clear_index
from nightgrid.solvers.kernel.machine import CLOCK_WORDS, is_late

STATE_WORDS = 6
CELLS, CLOSED, REST, HI, LO, BEST = range(STATE_WORDS)
STATE_BYTES = 8 * STATE_WORDS + 8
"""A state and its two entries in the index."""
DEAD = -(2**62)
"""Best score if there is no cover."""

INDEX_BITS_FIRST = 12
CLOCK_STRIDE = 256

STATUS, STATES, NODES, NODES_MAX, DEADLINE_NS, INDEX_BITS, STATES_MAX, EXISTS, TICK = range(9)
CONTROL_WORDS = 16

_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_2 = np.uint64(0xBF58476D1CE4E5B9)


class Table(NamedTuple):
    """States, their index, and the counters and limits of the search."""

    states: U64
    slots: Index
    control: I64
    clock: I64


def new_table(states_max: int) -> Table:
    """Make an empty table. The operating system commits memory only as it is used."""
    bits = max(INDEX_BITS_FIRST, int(2 * states_max - 1).bit_length())
    table = Table(
        states=np.empty((states_max, STATE_WORDS), np.uint64),
        slots=np.empty(1 << bits, np.uint32),
        control=np.zeros(CONTROL_WORDS, np.int64),
        clock=np.zeros(CLOCK_WORDS, np.int64),
    )
    table.control[STATES_MAX] = states_max
    table.control[STATUS] = DONE
    table.control[INDEX_BITS] = INDEX_BITS_FIRST
    table.slots[: 1 << INDEX_BITS_FIRST] = EMPTY
    return table


@inlined_kernel
def _mixed(cells: np.uint64, closed: np.uint64, rest: np.uint64) -> np.uint64:
    # Two multiplications in a row instead of four: a state is hashed twice in about 100 ns.
    h = (cells ^ (closed * _MIX_2)) * _MIX
    h ^= h >> np.uint64(32)
    return (h ^ rest) * _MIX_2


@inlined_kernel
def find(cells: np.uint64, closed: np.uint64, rest: np.uint64, table: Table) -> Int:
    """Look a state up; return its row, or -1."""
    bits = table.control[INDEX_BITS]
    mixed = _mixed(cells, closed, rest)
    slot = first_slot(mixed, bits)
    states = table.states
    while True:
        slot, row = seek(table.slots, bits, mixed, slot)
        if row < 0 or (
            states[row, CELLS] == cells
            and states[row, CLOSED] == closed
            and states[row, REST] == rest
        ):
            return row
        slot = next_slot(slot, bits)


@inner_kernel
def keep(
    cells: np.uint64, closed: np.uint64, rest: np.uint64, hi: np.uint64, lo: np.uint64, best: Int,
    table: Table,
) -> None:  # fmt: skip
    """Store a state's value; if there is no room, the search ends."""
    control = table.control
    row = control[STATES]
    if row >= control[STATES_MAX]:
        control[STATUS] = OUT_OF_BYTES
        return
    if is_crowded(row + 1, control[INDEX_BITS]):
        _grow(table)
    states = table.states
    states[row, CELLS] = cells
    states[row, CLOSED] = closed
    states[row, REST] = rest
    states[row, HI] = hi
    states[row, LO] = lo
    states[row, BEST] = np.uint64(best)
    control[STATES] = row + 1
    enter_new(table.slots, control[INDEX_BITS], _mixed(cells, closed, rest), row)


@inner_kernel
def _grow(table: Table) -> None:
    """Enter every state into an index of twice as many slots."""
    control, states = table.control, table.states
    control[INDEX_BITS] += 1
    bits = control[INDEX_BITS]
    clear_index(table.slots, bits)
    for row in range(control[STATES]):
        mixed = _mixed(states[row, CELLS], states[row, CLOSED], states[row, REST])
        enter_new(table.slots, bits, mixed, row)


@inlined_kernel
def spend(control: I64, clock: I64) -> bool:
    """Count one node; return whether the budget is used up."""
    control[NODES] += 1
    if control[NODES] > control[NODES_MAX]:
        control[STATUS] = OUT_OF_NODES
        return True
    control[TICK] += 1
    if control[TICK] >= CLOCK_STRIDE:
        control[TICK] = 0
        if is_late(clock, control[DEADLINE_NS]):
            control[STATUS] = OUT_OF_SECONDS
            return True
    return bool(control[STATUS] != DONE)

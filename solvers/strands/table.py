"""What a search remembers: states with their counts and best scores, and interned sets.

A state is three words: cells, closed blocks, and the rest packed into one. Its value is a 128-bit
count and the highest score of a cover. States lie one after the other, found through an index
that grows with them, so that a small search stays in the cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.clock import monotonic_ns
from solvers.compiling import inlined_kernel, search_kernel
from solvers.kernel_codes import DONE, OUT_OF_BYTES, OUT_OF_NODES, OUT_OF_SECONDS
from solvers.strands.blocks import ALTERNATIVES_MAX

STATE_WORDS = 6
CELLS, CLOSED, REST, HI, LO, BEST = range(STATE_WORDS)
STATE_BYTES = 8 * STATE_WORDS + 8
"""A state and its two entries in the index."""
DEAD = -(2**62)
"""Best score where there is no cover."""

INDEX_BITS_FIRST = 12
CLOCK_STRIDE = 256

STATUS, STATES, NODES, NODES_MAX, DEADLINE_NS, INDEX_BITS, STATES_MAX, EXISTS, TICK = range(9)
CONTROL_WORDS = 16

_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX_2 = np.uint64(0xBF58476D1CE4E5B9)


class Pool(NamedTuple):
    """Interned sets of 64-bit values. Set 0 is empty."""

    sets: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int32]
    held: npt.NDArray[np.int64]
    scratch: npt.NDArray[np.uint64]


class Table(NamedTuple):
    """States, their index, and what the search counts and must not exceed."""

    states: npt.NDArray[np.uint64]
    slots: npt.NDArray[np.int32]
    control: npt.NDArray[np.int64]
    timespec: npt.NDArray[np.int64]


POOL_SETS = 1 << 16


def new_pool() -> Pool:
    """Make an empty pool, in which only the empty set is known, as number 0."""
    pool = Pool(
        sets=np.empty(16 * POOL_SETS, np.uint64),
        offsets=np.zeros(POOL_SETS + 1, np.int64),
        slots=np.empty(2 * POOL_SETS, np.int32),
        held=np.empty(1, np.int64),
        # One more: a set of banned words and another, before those that fit no more are dropped.
        scratch=np.empty(ALTERNATIVES_MAX + 1, np.uint64),
    )
    clear_pool(pool)
    return pool


def clear_pool(pool: Pool) -> None:
    """Forget every set but the empty one."""
    pool.held[0] = 1
    pool.slots[:] = -1


def new_table(states_max: int) -> Table:
    """Make an empty table. Memory is taken by the operating system's leave only as it is used."""
    bits = max(INDEX_BITS_FIRST, int(2 * states_max - 1).bit_length())
    table = Table(
        states=np.empty((states_max, STATE_WORDS), np.uint64),
        slots=np.empty(1 << bits, np.int32),
        control=np.zeros(CONTROL_WORDS, np.int64),
        timespec=np.zeros(2, np.int64),
    )
    table.control[STATES_MAX] = states_max
    clear(table)
    return table


def clear(table: Table) -> None:
    """Forget every state."""
    table.control[STATES] = 0
    table.control[STATUS] = DONE
    table.control[INDEX_BITS] = INDEX_BITS_FIRST
    table.slots[: 1 << INDEX_BITS_FIRST] = -1


@inlined_kernel
def slot_of(cells: np.uint64, closed: np.uint64, rest: np.uint64, bits: int) -> Any:
    """Hash a state to its first place in an index of 2^bits entries."""
    h = (cells ^ (closed * _MIX_2)) * _MIX
    h ^= h >> np.uint64(32)
    h = (h ^ rest) * _MIX_2
    return np.int64(h >> np.uint64(64 - bits))


@inlined_kernel
def find(cells: np.uint64, closed: np.uint64, rest: np.uint64, table: Any) -> int:
    """Look a state up; return its row, or -1."""
    bits = table.control[INDEX_BITS]
    last = (1 << bits) - 1
    slot = slot_of(cells, closed, rest, bits)
    states = table.states
    while True:
        row = table.slots[slot]
        if row < 0:
            return -1
        if (
            states[row, CELLS] == cells
            and states[row, CLOSED] == closed
            and states[row, REST] == rest
        ):
            return row
        slot = (slot + 1) & last


@search_kernel
def keep(
    cells: np.uint64, closed: np.uint64, rest: np.uint64, hi: np.uint64, lo: np.uint64, best: Any,
    table: Any,
) -> None:  # fmt: skip
    """Remember a state's value; without room left the search is over."""
    control = table.control
    row = control[STATES]
    if row >= control[STATES_MAX]:
        control[STATUS] = OUT_OF_BYTES
        return
    if 2 * (row + 1) > (1 << control[INDEX_BITS]):
        _grow(table)
    states = table.states
    states[row, CELLS] = cells
    states[row, CLOSED] = closed
    states[row, REST] = rest
    states[row, HI] = hi
    states[row, LO] = lo
    states[row, BEST] = np.uint64(best)
    control[STATES] = row + 1
    _place(row, table)


@search_kernel
def _place(row: int, table: Any) -> None:
    bits = table.control[INDEX_BITS]
    last = (1 << bits) - 1
    states = table.states
    slot = slot_of(states[row, CELLS], states[row, CLOSED], states[row, REST], bits)
    while table.slots[slot] >= 0:
        slot = (slot + 1) & last
    table.slots[slot] = row


@search_kernel
def _grow(table: Any) -> None:
    control = table.control
    control[INDEX_BITS] += 1
    table.slots[: 1 << control[INDEX_BITS]] = -1
    for row in range(control[STATES]):
        _place(row, table)


@inlined_kernel
def spend(table: Any) -> bool:
    """Count one node; tell whether the budget is used up."""
    control = table.control
    control[NODES] += 1
    if control[NODES] > control[NODES_MAX]:
        control[STATUS] = OUT_OF_NODES
        return True
    control[TICK] += 1
    if control[TICK] >= CLOCK_STRIDE:
        control[TICK] = 0
        if monotonic_ns(table.timespec) > control[DEADLINE_NS]:
            control[STATUS] = OUT_OF_SECONDS
            return True
    return control[STATUS] != DONE

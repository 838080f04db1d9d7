"""Data shared by kernels: the states of a board, their children, and a table of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel import hash_table
from nightgrid.solvers.kernel.compiling import I64, U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.hash_table import Index
from nightgrid.solvers.kernel.machine import prefetch
from nightgrid.solvers.pips.layers.board import MOST_CELLS, Board

(
    READY, BAD_ROW, BOARD_TOO_LARGE, UNTILEABLE, ORDER_TOO_WIDE, FOREST_TOO_LARGE, KEY_TOO_LONG,
    TIME_IS_UP,
) = range(8)  # fmt: skip
"""Result codes of preparing a board; nightgrid.solvers.pips.layers.endings translates them."""

# Columns of Forest.nodes, edges and opens.
POSITION, WINDOW, LIVE, EDGE, OPEN, KNOWN, FREE = range(7)
PARTNER, CHILD, REST_A, REST_B = range(4)
OPEN_REGION, OPEN_REST = range(2)
OPENS = 16
"""Entries of `opens` for each node; untouched regions beyond that many are left out."""


class Forest(NamedTuple):
    """The forest of tilings with equal subtrees shared, as tables."""

    nodes: I64
    """int64[nodes, 7], by layer: first free POSITION, WINDOW of covered positions after it, first
    EDGE, first entry in `opens`, first one there after the KNOWN regions, number of FREE
    constrained cells. Row i + 1 ends the ranges of row i."""
    edges: I64
    """int64[edges, 4], by node: PARTNER position, CHILD node, REST_A and REST_B free cells of the
    regions of the two cells, those included."""
    opens: I64
    """int64[opens, 2], by node: regions and their free cells. Regions first whose free cells are
    known from their progress, then other partly filled ones and a few untouched ones."""
    slots: Index
    """uint32[power of two]: finds the nodes of one layer (nightgrid.solvers.kernel.hash_table)."""


class Space(NamedTuple):
    """The states of one board: the meaning of keys, and their successors."""

    board: Board
    forest: Forest
    width: tuple[int, ...]
    """A number for each word of a key; kernels are compiled for each length."""


class Table(NamedTuple):
    """States and the index that finds them."""

    rows: U64
    """uint64[rows, words or more]: a key, and then the value of the state."""
    slots: Index
    """uint32[power of two]: see nightgrid.solvers.kernel.hash_table."""


class Children(NamedTuple):
    """Successors of states, and their steps."""

    keys: U64
    """uint64[rows, words]"""
    moves: I64
    """int64[rows, 3]: the position covered together with the first free one, and the indices of
    the pips on the two."""


class Work(NamedTuple):
    """The memory of one solve, as Python hands it to kernels.

    The board is in an array of one, which Numba recognises a hundred times faster than a record. A
    kernel makes a Space of it; no function can return a record.
    """

    boards: npt.NDArray[np.void]
    """BOARD[1]"""
    forest: Forest
    width: tuple[int, ...]
    """See Space."""
    table: Table
    """States with a count of 128 bits each: rows of `width` and two more words."""
    children: Children


class Limits(NamedTuple):
    """Limits of a kernel."""

    nodes: Int
    """Transitions between states."""
    deadline_ns: Int
    """Monotonic clock."""


def allocate_forest(nodes: int) -> Forest:
    """Allocate a forest of up to `nodes` nodes."""
    slots = 1
    while slots < 2 * nodes:
        slots *= 2
    return Forest(
        nodes=np.empty((nodes + 1, 7), np.int64),
        edges=np.empty((2 * nodes + 4, 4), np.int64),
        opens=np.empty((OPENS * nodes + MOST_CELLS, 2), np.int64),
        slots=np.empty(slots, np.uint32),
    )


SMALLEST_BITS = 8
"""The index of the smallest layer has 2^8 slots."""
PREFETCH_BITS = 15
"""Size of an index, as a power of two, from which its lines are prefetched: beyond the nearer
caches."""


@inlined_kernel
def bits_for(table: Table, states: Int) -> Int:
    """Choose 2^bits slots for about half as many states, as far as the index allows."""
    bits = SMALLEST_BITS
    while 1 << bits < 2 * states and 1 << bits < len(table.slots):
        bits += 1
    return bits


@inlined_kernel
def row_of(table: Table, number: Int, backwards: bool) -> Int:
    """Return the row of state `number`, from the start or the end of the table.

    Two layers of states are alive at a time, and grow towards each other from the two ends.
    """
    return len(table.rows) - 1 - number if backwards else number


@inlined_kernel
def find_state(
    width: tuple[int, ...], table: Table, bits: Int, mixed: np.uint64, keys: U64, at: Int,
    backwards: bool,
) -> tuple[Int, Int]:  # fmt: skip
    """Look up the state whose key is in row `at` of `keys` and has the hash `mixed`.

    Returns its slot in the index and its row, or the free slot for it and -1.
    """
    slot = hash_table.first_slot(mixed, bits)
    row: Int = np.int64(-1)
    while True:
        slot, number = hash_table.seek(table.slots, bits, mixed, slot)
        if number < 0:
            break
        row = row_of(table, number, backwards)
        if hash_table.is_same_row(width, table.rows, row, keys, at):
            break
        row = np.int64(-1)
        slot = hash_table.next_slot(slot, bits)
    return slot, row


@search_kernel
def ask_ahead(
    width: tuple[int, ...], table: Table, bits: Int, keys: U64, start: Int, stop: Int,
    backwards: bool,
) -> None:  # fmt: skip
    """Prefetch the slots of keys `start` to `stop` - 1.

    A large index nearly always misses the cache: prefetching all lines overlaps the misses.
    """
    for c in range(start, stop):
        prefetch(table.slots, hash_table.first_slot(hash_table.hash_row(width, keys, c), bits))
    row_words = table.rows.shape[1]
    for c in range(start, stop):
        mixed = hash_table.hash_row(width, keys, c)
        number = hash_table.peek(table.slots, mixed, hash_table.first_slot(mixed, bits))
        if number >= 0:
            prefetch(table.rows, row_of(table, number, backwards) * row_words)


@search_kernel
def index_again(
    width: tuple[int, ...], table: Table, bits: Int, states: Int, backwards: bool
) -> None:
    """Build an index of 2^bits slots over some states."""
    hash_table.clear(table.slots, bits)
    for number in range(states):
        mixed = hash_table.hash_row(width, table.rows, row_of(table, number, backwards))
        hash_table.enter_new(table.slots, bits, mixed, number)

"""What kernels pass to each other: the states of a board, a table of them, and their children."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import Int
from nightgrid.solvers.kernel.hash_table import Index
from nightgrid.solvers.pips.layers.board import I64, MOST_CELLS, U64, Board

# Columns of Forest.nodes, edges and opens.
POSITION, WINDOW, LIVE, EDGE, OPEN, FREE = range(6)
PARTNER, CHILD, REST_A, REST_B = range(4)
OPEN_REGION, OPEN_REST = range(2)


class Forest(NamedTuple):
    """The forest of tilings with equal subtrees shared, as tables."""

    nodes: I64
    """int64[nodes, 6], by layer: first free POSITION, WINDOW of covered positions after it, first
    EDGE, first entry in `opens`, number of FREE constrained cells. Row i + 1 ends what row i
    begins."""
    edges: I64
    """int64[edges, 4], by node: PARTNER position, CHILD node, REST_A and REST_B free cells of the
    regions of the two cells, those included."""
    opens: I64
    """int64[opens, 2], by node: partly filled regions and their free cells."""
    slots: Index
    """uint32[power of two]: finds the nodes of one layer (nightgrid.solvers.kernel.hash_table)."""


class Space(NamedTuple):
    """The states of one board: what a key means and what can follow it."""

    board: Board
    forest: Forest
    width: tuple[int, ...]
    """As many numbers as a key has words; kernels are compiled for each length."""


class Table(NamedTuple):
    """States and the index that finds them."""

    rows: U64
    """uint64[rows, words or more]: a key, and behind it what is known of the state."""
    slots: Index
    """uint32[power of two]: see nightgrid.solvers.kernel.hash_table."""


class Children(NamedTuple):
    """States that follow others, and how."""

    keys: U64
    """uint64[rows, words]"""
    moves: I64
    """int64[rows, 3]: the position covered together with the first free one, and the indices of
    the pips on the two."""


class Work(NamedTuple):
    """The memory of one solve, as Python hands it to kernels.

    The board lies in an array of one, which Numba recognises a hundred times faster than a record.
    A kernel takes it out of there and makes a Space of it; no function can return a record.
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
    """What a kernel may spend."""

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
        nodes=np.empty((nodes + 1, 6), np.int64),
        edges=np.empty((2 * nodes + 4, 4), np.int64),
        opens=np.empty((8 * nodes + MOST_CELLS, 2), np.int64),
        slots=np.empty(slots, np.uint32),
    )

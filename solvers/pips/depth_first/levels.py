"""The state of a search, level by level: sets of cells and of pips, one word of bits each."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from nightgrid.solvers.kernel.compiling import I64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.machine import CLOCK_WORDS, popcount, trailing_zeros
from nightgrid.solvers.pips.layers.board import Board, Scalar, record_of

CELLS_MAX = 62
"""Cells of a board, and distinct pips: bits of a signed word with one to spare."""

_LEVELS = CELLS_MAX // 2 + 1
ByBit = Annotated[I64, np.int64, (CELLS_MAX,)]
"""By region, index of the pips, domino type, or kind of step to a neighbour."""
BySize = Annotated[I64, np.int64, (CELLS_MAX + 1,)]
ByLevel = Annotated[I64, np.int64, (_LEVELS,)]
"""By number of dominoes laid."""


class Levels:
    """The state of a search. In kernels it is a record; sets of cells or pips are bits."""

    can: Annotated[I64, np.int64, (_LEVELS, CELLS_MAX)]
    """By level and pips: the cells that may hold these."""
    edges: Annotated[I64, np.int64, (_LEVELS, CELLS_MAX)]
    """By level and offset: the lower cell of each remaining tile."""
    free: ByLevel
    cell: ByLevel
    """The cell that this level covers,"""
    partners: ByLevel
    """cells that have not been tried as its partner,"""
    own: ByLevel
    """pips that have not been tried on it with this partner,"""
    others: ByLevel
    """and pips that have not been tried on the partner with these."""
    partner: ByLevel
    pips: ByLevel
    other: ByLevel
    """The placement being tried: its partner, and the indices of the pips on both."""

    offsets: Scalar
    offset: ByBit
    """Neighbours are cells whose numbers differ by one of these: 1 in a row, more in a column."""
    cells: ByBit
    """The cells of each region."""
    most: Scalar
    """Cells of the largest region."""
    type: Annotated[I64, np.int64, (CELLS_MAX, CELLS_MAX)]
    """The domino type of two pips."""
    low_pips: ByBit
    high_pips: ByBit
    left: ByBit
    """Copies left, and"""
    any_left: ByBit
    """all bits if any."""
    joined: ByBit
    """The pips on remaining dominoes with these."""
    supply: ByBit
    """Remaining halves with these pips."""
    low: BySize
    high: BySize
    """Sums of the r lowest and the r highest pips left, by r."""
    beside: ByBit
    """Scratch: cells that may hold the other half of a domino with these pips."""
    supported: ByBit
    """Scratch: cells next to one of those."""
    least: ByBit
    greatest: ByBit
    """Scratch: free cells of a region with these least or greatest pips."""
    clock: Annotated[I64, np.int64, (CLOCK_WORDS,)]
    """See nightgrid.solvers.kernel.machine."""


LEVELS = record_of(Levels)


@inlined_kernel
def size_of(bits: Int) -> Int:
    """Count the members of a set."""
    return popcount(np.uint64(bits))


@inlined_kernel
def lowest(bits: Int) -> Int:
    """Return the lowest member of a set; 64 for none."""
    return trailing_zeros(np.uint64(bits))


@search_kernel
def begin(board: Board, s: Levels) -> None:
    """Fill level 0 of a loaded board: every cell is free and may hold every pip."""
    n, values = board.cells, board.values
    s.offsets = 0
    s.most = 0
    for g in range(board.regions):
        s.cells[g] = 0
        s.most = max(s.most, board.size[g])
    for c in range(n):
        s.cells[board.cell_region[c]] |= 1 << c
        for j in range(2):
            far = board.neighbours[c, j] - c
            if far < 0:
                continue
            k = 0
            while k < s.offsets and s.offset[k] != far:
                k += 1
            if k == s.offsets:
                s.offset[k] = far
                s.edges[0, k] = 0
                s.offsets += 1
            s.edges[0, k] |= 1 << c
    for v in range(values):
        s.can[0, v] = (1 << n) - 1
        s.supply[v] = board.halves[v]
        s.joined[v] = 0
        for w in range(v, values):
            both = board.double[v, 0] if v == w else board.has[v, 0] & board.has[w, 0]
            if both:
                t = trailing_zeros(both)
                s.type[v, w] = s.type[w, v] = t
                s.low_pips[t], s.high_pips[t] = v, w
                s.left[t] = board.copies[t]
                s.any_left[t] = -1
                s.joined[v] |= 1 << w
    for t in range(board.types):
        s.joined[s.high_pips[t]] |= 1 << s.low_pips[t]
    s.free[0] = (1 << n) - 1
    s.partners[0] = s.own[0] = s.others[0] = 0


@search_kernel
def lay(board: Board, s: Levels, d: Int) -> None:
    """Fill the next level: this one with its placement."""
    a, b = s.pips[d], s.other[d]
    t = s.type[a, b]
    s.supply[a] -= 1
    s.supply[b] -= 1
    s.left[t] -= 1
    if s.left[t] == 0:
        s.any_left[t] = 0
        s.joined[a] &= ~(1 << b)
        s.joined[b] &= ~(1 << a)
    both = 1 << s.cell[d] | 1 << s.partner[d]
    s.free[d + 1] = s.free[d] & ~both
    for v in range(board.values):
        s.can[d + 1, v] = s.can[d, v] & ~both
    s.can[d + 1, a] |= 1 << s.cell[d]
    s.can[d + 1, b] |= 1 << s.partner[d]
    for k in range(s.offsets):
        s.edges[d + 1, k] = s.edges[d, k] & ~(both | both >> s.offset[k])
    s.partners[d + 1] = s.own[d + 1] = s.others[d + 1] = 0


@search_kernel
def put_back(s: Levels, d: Int) -> None:
    """Undo the placement of a level."""
    a, b = s.pips[d], s.other[d]
    t = s.type[a, b]
    s.supply[a] += 1
    s.supply[b] += 1
    s.left[t] += 1
    s.any_left[t] = -1
    s.joined[a] |= 1 << b
    s.joined[b] |= 1 << a

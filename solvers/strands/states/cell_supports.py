"""The pieces that could still cover a cell: a state in which some cell has none is a dead end.

All pieces on the same cells support them alike. The last support of a cell is tried first, like
residues in arc consistency (AC-3rm): mostly one check of a cell is enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import I32, I64, U64, Int, inlined_kernel, kernel
from nightgrid.solvers.kernel.machine import ONE, trailing_zeros

WINDOW = 64
"""Cells, from the first free one on, that a state's masks hold."""


class Supports(NamedTuple):
    """Sets of cells with a piece, sorted by lowest cell, and indexed by cell."""

    cells: U64
    """Masks relative to the lowest cell, like the blocks."""
    blocks: U64
    """Blocks that every path of every piece on these cells closes."""
    low: I64
    at: I64
    """Supports at[f]:at[f + 1] have cell f as their lowest."""
    offsets: I64
    of_cell: I32
    """of_cell[offsets[c]:offsets[c + 1]]: the supports of cell c, the latest first."""
    latest: I32
    """The last support of each cell. Kernels write here; any value is valid."""


def supports_of(low: I64, cells: U64, blocks: U64, cell_count: int) -> Supports:
    """Index pieces, given by lowest cell, cells and certainly closed blocks, by their cells."""
    order = np.lexsort((cells, low))
    low, cells, blocks = low[order], cells[order], blocks[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (low[1:] != low[:-1]) | (cells[1:] != cells[:-1])
    starts = np.flatnonzero(new)
    if len(starts):
        blocks = np.bitwise_and.reduceat(blocks, starts)
    low, cells = low[starts], cells[starts]
    offsets = np.zeros(cell_count + 1, np.int64)
    of_cell = np.empty(int(np.bitwise_count(cells).sum()), np.int32)
    _file(low, cells, offsets, of_cell)
    return Supports(
        cells=cells,
        blocks=blocks,
        low=low,
        at=np.searchsorted(low, np.arange(cell_count + 1)).astype(np.int64),
        offsets=offsets,
        of_cell=of_cell,
        latest=np.full(cell_count, -1, np.int32),
    )


@kernel
def _file(low: I64, cells: U64, offsets: I64, of_cell: I32) -> None:
    for s in range(len(low)):
        left = cells[s]
        while left:
            offsets[low[s] + trailing_zeros(left) + 1] += 1
            left &= left - ONE
    for c in range(1, len(offsets)):
        offsets[c] += offsets[c - 1]
    # Where the next support of each cell goes.
    ends = offsets[:-1].copy()
    for s in range(len(low) - 1, -1, -1):
        left = cells[s]
        while left:
            c = low[s] + trailing_zeros(left)
            of_cell[ends[c]] = s
            ends[c] += 1
            left &= left - ONE


@inlined_kernel
def has_lost_cell(first: Int, covered: np.uint64, closed: np.uint64, supports: Supports) -> bool:
    """Return whether nothing fits on some free cell of the window that begins at cell `first`.

    `closed` are certainly closed blocks.
    """
    left = ~covered
    ahead = len(supports.latest) - first
    if ahead < WINDOW:
        left &= (ONE << np.uint64(ahead)) - ONE
    start = supports.at[first]
    while left:
        cell = first + trailing_zeros(left)
        s = np.int64(supports.latest[cell])
        if s < start or not _fits(s, first, covered, closed, supports):
            found = False
            for i in range(supports.offsets[cell], supports.offsets[cell + 1]):
                s = np.int64(supports.of_cell[i])
                if s < start:
                    # This one and all later ones begin on a covered cell.
                    break
                if _fits(s, first, covered, closed, supports):
                    found = True
                    break
            if not found:
                return True
            supports.latest[cell] = s
        left &= ~(supports.cells[s] << np.uint64(supports.low[s] - first))
    return False


@inlined_kernel
def _fits(s: Int, first: Int, covered: np.uint64, closed: np.uint64, supports: Supports) -> bool:
    up = np.uint64(supports.low[s] - first)
    return not ((supports.cells[s] << up) & covered) and not ((supports.blocks[s] << up) & closed)

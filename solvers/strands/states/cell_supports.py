"""The pieces that could still cover a cell: a state in which some cell has none is a dead end.

The last support of a cell is tried first, like residues in arc consistency (AC-3rm): mostly one
check of a cell is enough. When a cell is lost, the reason is cached: the few covered cells and
closed blocks that leave it without a support do so in most of the next states, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import I64, U64, Bools, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.machine import ONE, ZERO, trailing_zeros

WINDOW = 64
"""Cells, from the first free one on, in the masks of a state: cell c is bit c % 64. Those beyond
the board count as covered."""
REASONS = 4
"""Cached reasons of each cell."""
PLAIN, SPANNING, COMPOUND = range(3)
"""Kinds of pieces: a word, a word that touches two opposite sides, a compound."""
CELLS, BLOCKS, LOW, KIND, SUPPORT_FIELDS = range(5)

_63 = np.uint64(63)
_NEVER = np.uint64(2**63)


class Supports(NamedTuple):
    """Sets of cells with a piece, indexed by cell."""

    rows: U64
    """uint64[., SUPPORT_FIELDS]: masks of the cells and of the blocks that every path of every
    piece on them closes, the lowest cell, and the kind of the piece."""
    offsets: I64
    """rows[offsets[c]:offsets[c + 1]]: the supports of cell c, the lowest cells last."""
    latest: U64
    """uint64[cells, SUPPORT_FIELDS]: the last support of each cell. Kernels write here."""
    reasons: U64
    """uint64[cells, REASONS, SUPPORT_FIELDS]: the covered cells and closed blocks that leave a cell
    without a support if the first free cell is at least LOW and no kind beyond KIND is allowed.
    Kernels write here."""
    turns: I64
    """How many reasons each cell had so far: the next one replaces the oldest."""
    beyond: np.uint64
    """The cells beyond the board in the window of the empty board."""


@inlined_kernel
def rotate_right(mask: np.uint64, by: Int) -> np.uint64:
    """Turn the bit of cell `by` into the lowest one."""
    down = np.uint64(by) & _63
    return (mask >> down) | (mask << (-down & _63))


@inlined_kernel
def rotate_left(mask: np.uint64, by: Int) -> np.uint64:
    """Turn the lowest bit into that of cell `by`."""
    up = np.uint64(by) & _63
    return (mask << up) | (mask >> (-up & _63))


def supports_of(
    cells: U64, blocks: U64, low: I64, kinds: I64, cell_count: int
) -> tuple[Supports, Bools]:
    """Index pieces, sorted by lowest cell, by their cells; also return which may be in a cover.

    Left out, on a board of up to WINDOW cells, are pieces that leave some cell without a support,
    until there are no more of them.
    """
    pieces = np.stack([cells, blocks, low.astype(np.uint64), kinds.astype(np.uint64)], axis=1)
    new = np.ones(len(pieces), np.bool_)
    new[1:] = ((pieces[1:] != pieces[:-1]) & [True, False, True, True]).any(axis=1)
    starts = np.flatnonzero(new)
    pieces = pieces[starts]
    if len(starts):
        pieces[:, BLOCKS] = np.bitwise_and.reduceat(blocks, starts)
    supports = Supports(
        rows=np.empty((int(np.bitwise_count(pieces[:, CELLS]).sum()), SUPPORT_FIELDS), np.uint64),
        offsets=np.zeros(cell_count + 1, np.int64),
        latest=np.empty((cell_count, SUPPORT_FIELDS), np.uint64),
        reasons=np.full((cell_count, REASONS, SUPPORT_FIELDS), _NEVER, np.uint64),
        turns=np.zeros(cell_count, np.int64),
        beyond=np.uint64(-1 << min(cell_count, WINDOW) & (1 << WINDOW) - 1),
    )
    alive = np.ones(len(pieces), np.bool_)
    _file(pieces, alive, supports)
    return supports, alive[np.cumsum(new) - 1]


@search_kernel
def _file(pieces: U64, alive: Bools, supports: Supports) -> None:
    """Fill in the supports, without pieces that leave a cell of a small board without any."""
    rows, offsets, ends = supports.rows, supports.offsets, supports.turns
    cell_count, changed = len(ends), True
    while changed:
        for c in range(cell_count):
            offsets[c + 1], supports.latest[c, KIND] = 0, _NEVER
        for i in range(len(pieces)):
            left = rotate_right(pieces[i, CELLS], pieces[i, LOW]) if alive[i] else ZERO
            while left:
                offsets[np.int64(pieces[i, LOW]) + trailing_zeros(left) + 1] += 1
                left &= left - ONE
        for c in range(cell_count):
            ends[c] = offsets[c]
            offsets[c + 1] += offsets[c]
        for i in range(len(pieces) - 1, -1, -1):
            left = rotate_right(pieces[i, CELLS], pieces[i, LOW]) if alive[i] else ZERO
            while left:
                c = np.int64(pieces[i, LOW]) + trailing_zeros(left)
                left &= left - ONE
                for f in range(SUPPORT_FIELDS):
                    rows[ends[c], f] = pieces[i, f]
                ends[c] += 1
        changed = False
        if cell_count > WINDOW:
            return
        for i in range(len(pieces)):
            covered = supports.beyond | pieces[i, CELLS]
            kinds = SPANNING if pieces[i, KIND] == COMPOUND else COMPOUND
            if alive[i] and has_lost_cell(0, covered, pieces[i, BLOCKS], kinds, supports):
                alive[i], changed = False, True


@inlined_kernel
def within(low: Int, first: Int) -> np.uint64:
    """Mark the cells from `low` on in the window of `first`, which is no higher."""
    return rotate_left(~ZERO << np.uint64(low - first), first)


@inlined_kernel
def has_lost_cell(
    first: Int, covered: np.uint64, closed: np.uint64, kinds: Int, supports: Supports
) -> bool:
    """Return whether no piece of a kind up to `kinds` fits on some free cell of the window.

    `closed` are certainly closed blocks.
    """
    rows, latest = supports.rows, supports.latest
    start, allowed = np.uint64(first), np.uint64(kinds)
    left = rotate_right(~covered, first)
    while left:
        c = first + trailing_zeros(left)
        if (
            latest[c, CELLS] & covered
            or latest[c, BLOCKS] & closed
            or latest[c, LOW] < start
            or latest[c, KIND] > allowed
        ):
            if _is_known(c, start, covered, closed, allowed, supports):
                return True
            found, in_way, crossed = False, ZERO, ZERO
            for i in range(supports.offsets[c], supports.offsets[c + 1]):
                if rows[i, LOW] < start:
                    # This one and all later ones begin on a covered cell.
                    break
                if rows[i, KIND] > allowed:
                    continue
                own = within(np.int64(rows[i, LOW]), first)
                hit, crossing = rows[i, CELLS] & covered & own, rows[i, BLOCKS] & closed & own
                if not (hit | crossing):
                    found = True
                    for f in range(SUPPORT_FIELDS):
                        latest[c, f] = rows[i, f]
                    break
                if hit:
                    if not hit & in_way:
                        in_way |= hit & (~hit + ONE)
                elif not crossing & crossed:
                    crossed |= crossing & (~crossing + ONE)
            if not found:
                turn = supports.turns[c]
                supports.turns[c] = turn + 1
                reason = supports.reasons[c, turn % REASONS]
                reason[CELLS], reason[BLOCKS], reason[LOW], reason[KIND] = (
                    in_way, crossed, start, allowed,
                )  # fmt: skip
                return True
        own = within(np.int64(latest[c, LOW]), first)
        left &= ~rotate_right(latest[c, CELLS] & own, first)
    return False


@inlined_kernel
def _is_known(
    cell: Int, start: np.uint64, covered: np.uint64, closed: np.uint64, allowed: np.uint64,
    supports: Supports,
) -> bool:  # fmt: skip
    """Return whether a cached reason of a lost cell still applies."""
    known = False
    for i in range(REASONS):
        reason = supports.reasons[cell, i]
        known |= (
            not (reason[CELLS] & ~covered)
            and not (reason[BLOCKS] & ~closed)
            and reason[LOW] <= start
            and allowed <= reason[KIND]
        )
    return known

"""The board as the zone search sees it: theme words as bitsets, prices, arrays to work in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.bits import popcount, trailing_zeros
from nightgrid.solvers.kernel.compiling import Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.hash_table import Index, enter, first_slot, mix_first, next_slot, seek
from nightgrid.solvers.strands.states.interned_sets import Pool
from nightgrid.solvers.strands.states.table import Table
from nightgrid.solvers.strands.zones.cell_prices import UNIT

ZONES_MAX = 64
COLUMNS, MIN_LETTERS, REPEATS, DIAGONAL = range(4)
GEOMETRY_FIELDS = 4
(
    F_KIND, F_LEFT, F_CLOSED, F_SEVERAL, F_N, F_BAN, F_HI, F_LO, F_BEST, F_PIECE,
    F_AT, F_SIZE, F_ZONE, F_ZONES, F_OWN, F_FEWEST_AFTER, F_MOST_AFTER, F_SIDE, F_SOME, F_FIELDS,
) = range(20)  # fmt: skip
"""Fields of a frame. F_AT: word of the bitset that is being tried; F_ZONE: zones that were begun;
F_OWN: words that the zone at hand gets; F_SIDE: the half of `shares` that the zones before it
have filled; F_SOME: whether it could be covered."""

Masks = npt.NDArray[np.uint64]

_ONE = np.uint64(1)


class Words(NamedTuple):
    """Theme words on a board, sorted by reduced cost (dearest cells first), with absolute masks.

    Places in the lists by cell are unsigned: Numba asks of every signed index whether it counts
    from the end, and these lists are read most.
    """

    cells: npt.NDArray[np.uint64]
    reduced: npt.NDArray[np.int64]
    """What a word's cells fall short of UNIT (nightgrid.solvers.strands.zones.cell_prices)."""
    score: npt.NDArray[np.int64]
    word: npt.NDArray[np.int64]
    """Number of the word."""
    twin: npt.NDArray[np.bool_]
    """Whether the word has other cells to stand on beside these."""
    rank: npt.NDArray[np.int64]
    """Rank among the spangrams; -1: touches no two opposite sides."""
    block_offsets: npt.NDArray[np.int64]
    blocks: npt.NDArray[np.uint64]
    word_offsets: npt.NDArray[np.int64]
    word_pieces: npt.NDArray[np.int64]
    """word_pieces[word_offsets[w]:word_offsets[w + 1]]: the pieces of word w."""
    on_cell: npt.NDArray[np.uint64]
    """uint64[64, bitset words]: bit p of row c says that piece p covers cell c."""
    on_block: npt.NDArray[np.uint64]
    """uint64[64, bitset words]: bit p of row b says that every path of piece p uses block b."""
    twins: npt.NDArray[np.uint64]
    """uint64[bitset words]: the pieces with a twin."""
    every_path: npt.NDArray[np.uint64]
    """The blocks that all of a piece's sets of blocks hold."""
    spanning: npt.NDArray[np.int64]
    """The pieces with a rank."""
    cell_offsets: npt.NDArray[np.uint64]
    cell_pieces: npt.NDArray[np.uint32]
    """cell_pieces[cell_offsets[c]:cell_offsets[c + 1]]: the pieces on cell c, in order."""
    cell_masks: npt.NDArray[np.uint64]
    """Their cells."""
    cell_reduced: npt.NDArray[np.int64]
    """Their reduced costs."""
    slots: Index
    """Finds the first piece on given cells (nightgrid.solvers.kernel.hash_table); 2^slot_bits
    slots."""
    slot_bits: Int
    same_cells: npt.NDArray[np.int32]
    """The next piece on the same cells, -1: none."""


class ZoneBoard(NamedTuple):
    """The board, and arrays to work in whose first index is the depth of a frame."""

    geometry: npt.NDArray[np.int64]
    """int64[GEOMETRY_FIELDS]."""
    edges: npt.NDArray[np.uint64]
    """uint64[2]: masks of the leftmost and the rightmost column."""
    prices: npt.NDArray[np.int64]
    """int64[64]: see nightgrid.solvers.strands.zones.cell_prices."""
    support: npt.NDArray[np.uint64]
    """uint64[64]: what covered each cell last: a place in its list
    (nightgrid.solvers.strands.zones.candidates)."""
    frames: npt.NDArray[np.uint64]
    """uint64[depth, F_FIELDS]: see nightgrid.solvers.strands.zones.zones. Frame 0 is the empty
    board."""
    fitting: npt.NDArray[np.uint64]
    """uint64[depth, bitset words]: the pieces that fit on what is left in a frame."""
    chosen: npt.NDArray[np.uint64]
    """uint64[depth, bitset words]: those of them that are still to be tried."""
    zones: npt.NDArray[np.uint64]
    """uint64[depth, ZONES_MAX]"""
    shares: npt.NDArray[np.uint64]
    """uint64[depth, 2, words + 1, 3]: counts and best scores by number of words."""
    stamps: npt.NDArray[np.int64]
    """int64[words]: in which zone a word was last seen to fit."""
    stamp: npt.NDArray[np.int64]
    """int64[1]: the last of them."""


class ZoneSearch(NamedTuple):
    """What the kernels of a zone search work on."""

    words: Words
    board: ZoneBoard
    table: Table
    pool: Pool


class ZoneState(NamedTuple):
    """What is asked for: the ways to cover some cells with n words."""

    left: np.uint64
    """Mask of the cells to cover."""
    closed: np.uint64
    """Blocks that are closed: a mask, or the number of a set of masks."""
    several: bool
    """Whether `closed` is the number of a set."""
    n: Int
    ban: Int
    """Number of the set of words that must not come again."""
    rank: Int
    """Pieces that are spangrams of a lower rank are left out."""


@inlined_kernel
def price_of(cells: np.uint64, prices: npt.NDArray[np.int64]) -> Int:
    """Add up the prices of cells."""
    total: Any = np.int64(0)
    while cells:
        total += prices[trailing_zeros(cells)]
        cells &= cells - _ONE
    return total


@inlined_kernel
def zone_of(
    cell: np.uint64, left: np.uint64, geometry: npt.NDArray[np.int64], edges: Masks
) -> np.uint64:
    """Grow a cell to all cells of `left` that king's moves (or a rook's) reach from it."""
    columns = np.uint64(min(geometry[COLUMNS], 63))
    not_left, not_right = ~edges[0], ~edges[1]
    diagonal = geometry[DIAGONAL] != 0
    zone = cell
    while True:
        wide = zone | ((zone & not_right) << _ONE) | ((zone & not_left) >> _ONE)
        high = wide if diagonal else zone
        grown = (wide | (high << columns) | (high >> columns)) & left
        if grown == zone:
            return zone
        zone = grown


@inlined_kernel
def fewest_words(zone: np.uint64, prices: npt.NDArray[np.int64]) -> Int:
    """Bound from below how many words cover a zone."""
    return max(1, (price_of(zone, prices) + UNIT - 1) // UNIT)


@search_kernel
def split_into_zones(left: np.uint64, n: Int, board: ZoneBoard, depth: Int) -> Int:
    """Write the zones of `left`, smallest first; return how many, 0 if n words cannot do."""
    geometry, zones = board.geometry, board.zones
    least = geometry[MIN_LETTERS]
    count, low, high = np.int64(0), np.int64(0), np.int64(0)
    rest = left
    while rest:
        zone = zone_of(rest & (~rest + _ONE), rest, geometry, board.edges)
        rest &= ~zone
        size = popcount(zone)
        fewest = fewest_words(zone, board.prices)
        low += fewest
        high += size // least
        if size < least * fewest or low > n or count == ZONES_MAX:
            return 0
        at = count
        while at > 0 and popcount(zones[depth, at - 1]) > size:
            zones[depth, at] = zones[depth, at - 1]
            at -= 1
        zones[depth, at] = zone
        count += 1
    return count if high >= n else 0


@search_kernel
def index_cells(
    cells: Masks, slots: Index, slot_bits: Int, same_cells: npt.NDArray[np.int32]
) -> None:
    """Fill the index from masks to pieces; pieces on the same cells form a chain, in order."""
    for p in range(len(cells) - 1, -1, -1):
        mixed = mix_first(cells[p])
        slot = first_slot(mixed, slot_bits)
        while True:
            slot, other = seek(slots, slot_bits, mixed, slot)
            if other < 0 or cells[other] == cells[p]:
                break
            slot = next_slot(slot, slot_bits)
        same_cells[p] = other
        enter(slots, slot, mixed, p)


@inlined_kernel
def first_on(left: np.uint64, words: Words) -> Int:
    """Look up the first piece whose cells are just `left`, -1 if there is none."""
    mixed = mix_first(left)
    slot = first_slot(mixed, words.slot_bits)
    while True:
        slot, p = seek(words.slots, words.slot_bits, mixed, slot)
        if p < 0 or words.cells[p] == left:
            return p
        slot = next_slot(slot, words.slot_bits)


@search_kernel
def largest_zones(
    cells: Masks, full: np.uint64, geometry: npt.NDArray[np.int64], edges: Masks,
    out: npt.NDArray[np.int64],
) -> None:  # fmt: skip
    """Write how many cells the largest zone has that each piece leaves of the board `full`."""
    for p in range(len(cells)):
        rest = full & ~cells[p]
        out[p] = 0
        while rest:
            zone = zone_of(rest & (~rest + _ONE), rest, geometry, edges)
            out[p] = max(out[p], popcount(zone))
            rest &= ~zone


@search_kernel
def mark_twins(
    cells: Masks, word_pieces: npt.NDArray[np.int64], word_offsets: npt.NDArray[np.int64],
    twin: npt.NDArray[np.bool_],
) -> None:  # fmt: skip
    """Mark each piece whose word also fits on cells that it leaves free."""
    for w in range(len(word_offsets) - 1):
        for i in range(word_offsets[w], word_offsets[w + 1]):
            p = word_pieces[i]
            for j in range(i + 1, word_offsets[w + 1]):
                q = word_pieces[j]
                if not (cells[p] & cells[q]):
                    twin[p] = True
                    twin[q] = True

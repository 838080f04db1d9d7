"""The board as the zone search sees it: theme words as bitsets, prices, arrays to work in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import (
    I32,
    I64,
    U64,
    Int,
    inlined_kernel,
    kernel,
    search_kernel,
)
from nightgrid.solvers.kernel.hash_table import Index, enter, first_slot, mix_first, next_slot, seek
from nightgrid.solvers.kernel.machine import ONE, popcount, trailing_zeros
from nightgrid.solvers.strands.states.blocks import Pool
from nightgrid.solvers.strands.states.table import Table

UNIT = 1 << 20
ROUNDS = 120
WORD_CELLS = 64
"""Cells that one word of a mask holds."""


@kernel
def price_cells(cells: U64, count: Int) -> I64:
    """Price the first `count` of 64 cells (int64[64]), given the masks of the words.

    No word's cells cost more than UNIT together. So n words cover at most cells of price n UNIT: a
    bound on how few words can cover what is left, the dual of the linear relaxation of "cover all
    cells with as few words as possible". What a word falls short of UNIT is its reduced cost. The
    reduced costs of a cover's words add up to what is left over, so a word whose reduced cost is
    more than that stands in no cover. Prices are whole numbers, found by raising all and lowering
    those of words that are too dear, so that they are the same on every machine. A cell that no
    word holds gets a price beyond any number of words.
    """
    prices = np.zeros(WORD_CELLS, np.int64)
    longest = np.zeros(count, np.int64)
    for p in range(len(cells)):
        size = popcount(cells[p])
        left = cells[p]
        while left:
            c = trailing_zeros(left)
            left &= left - ONE
            longest[c] = max(longest[c], size)
    current = np.zeros(count, np.int64)
    total = 0
    for c in range(count):
        current[c] = UNIT // longest[c] if longest[c] else 0
        total += current[c]
        prices[c] = current[c]
    most = total
    for turn in range(ROUNDS):
        # Ever smaller steps: 1/16, then 1/32, then 1/64 of a price.
        shift = 4 + (3 * turn) // ROUNDS
        for c in range(count):
            current[c] += current[c] >> shift
        for p in range(len(cells)):
            cost = 0
            left = cells[p]
            while left:
                cost += current[trailing_zeros(left)]
                left &= left - ONE
            if cost > UNIT:
                left = cells[p]
                while left:
                    c = trailing_zeros(left)
                    left &= left - ONE
                    current[c] = current[c] * UNIT // cost
        total = 0
        for c in range(count):
            total += current[c]
        if total > most:
            most = total
            prices[:count] = current
    for c in range(count):
        if not longest[c]:
            prices[c] = UNIT * 128
    return prices


ZONES_MAX = 64
COLUMNS, MIN_LETTERS, REPEATS, DIAGONAL = range(4)
(
    F_KIND, F_LEFT, F_CLOSED, F_SEVERAL, F_N, F_BAN, F_HI, F_LO, F_BEST, F_PIECE,
    F_AT, F_SIZE, F_ZONE, F_ZONES, F_OWN, F_FEWEST_AFTER, F_MOST_AFTER, F_SIDE, F_SOME, F_FIELDS,
) = range(20)  # fmt: skip
"""Fields of a frame. F_AT: word of the bitset that is being tried; F_ZONE: zones that were begun;
F_OWN: words that the zone at hand gets; F_SIDE: the half of `shares` that the zones before it
have filled; F_SOME: whether it could be covered."""


class Words(NamedTuple):
    """Theme words on a board, sorted by reduced cost (dearest cells first), with absolute masks.

    Places in the lists by cell are unsigned: Numba asks of every signed index whether it counts
    from the end, and these lists are read most.
    """

    cells: U64
    reduced: I64
    """What a word's cells fall short of UNIT (nightgrid.solvers.strands.zones.board)."""
    score: I64
    word: I64
    """Number of the word."""
    twin: npt.NDArray[np.bool_]
    """Whether the word has other cells to stand on beside these."""
    rank: I64
    """Rank among the spangrams; -1: touches no two opposite sides."""
    block_offsets: I64
    blocks: U64
    word_offsets: I64
    word_pieces: I64
    """word_pieces[word_offsets[w]:word_offsets[w + 1]]: the pieces of word w."""
    on_cell: U64
    """uint64[64, bitset words]: bit p of row c says that piece p covers cell c."""
    on_block: U64
    """uint64[64, bitset words]: bit p of row b says that every path of piece p uses block b."""
    twins: U64
    """uint64[bitset words]: the pieces with a twin."""
    every_path: U64
    """The blocks that all of a piece's sets of blocks hold."""
    spanning: I64
    """The pieces with a rank."""
    cell_offsets: U64
    cell_pieces: npt.NDArray[np.uint32]
    """cell_pieces[cell_offsets[c]:cell_offsets[c + 1]]: the pieces on cell c, in order."""
    cell_masks: U64
    """Their cells."""
    cell_reduced: I64
    """Their reduced costs."""
    slots: Index
    """Finds the first piece on given cells (nightgrid.solvers.kernel.hash_table); 2^slot_bits
    slots."""
    slot_bits: Int
    same_cells: I32
    """The next piece on the same cells, -1: none."""


class Spangrams(NamedTuple):
    """Spangrams in the order in which they are tried, those on the same cells and blocks once."""

    cells: U64
    fields: I64
    """int64[spangrams, 2]: number of the word it is (-1: none that may come again), and its rank
    if theme words that are spangrams of lower rank fit beside it, else 0."""
    block_offsets: I64
    blocks: U64


class ZoneBoard(NamedTuple):
    """The board, and arrays to work in whose first index is the depth of a frame."""

    geometry: I64
    """int64[4]: COLUMNS, MIN_LETTERS, REPEATS, DIAGONAL."""
    edges: U64
    """uint64[2]: masks of the leftmost and the rightmost column."""
    prices: I64
    """int64[64]: see nightgrid.solvers.strands.zones.board."""
    support: U64
    """uint64[64]: what covered each cell last: a place in its list
    (nightgrid.solvers.strands.zones.candidates)."""
    frames: U64
    """uint64[depth, F_FIELDS]: see nightgrid.solvers.strands.zones.zones. Frame 0 is the empty
    board."""
    fitting: U64
    """uint64[depth, bitset words]: the pieces that fit on what is left in a frame."""
    chosen: U64
    """uint64[depth, bitset words]: those of them that are still to be tried."""
    zones: U64
    """uint64[depth, ZONES_MAX]"""
    shares: U64
    """uint64[depth, 2, words + 1, 3]: counts and best scores by number of words."""
    stamps: I64
    """int64[words]: in which zone a word was last seen to fit."""
    stamp: I64
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
def price_of(cells: np.uint64, prices: I64) -> Int:
    """Add up the prices of cells."""
    total: Any = np.int64(0)
    while cells:
        total += prices[trailing_zeros(cells)]
        cells &= cells - ONE
    return total


@inlined_kernel
def zone_of(cell: np.uint64, left: np.uint64, geometry: I64, edges: U64) -> np.uint64:
    """Grow a cell to all cells of `left` that king's moves (or a rook's) reach from it."""
    columns = np.uint64(min(geometry[COLUMNS], 63))
    not_left, not_right = ~edges[0], ~edges[1]
    diagonal = geometry[DIAGONAL] != 0
    zone = cell
    while True:
        wide = zone | ((zone & not_right) << ONE) | ((zone & not_left) >> ONE)
        high = wide if diagonal else zone
        grown = (wide | (high << columns) | (high >> columns)) & left
        if grown == zone:
            return zone
        zone = grown


@inlined_kernel
def fewest_words(zone: np.uint64, prices: I64) -> Int:
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
        zone = zone_of(rest & (~rest + ONE), rest, geometry, board.edges)
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
def index_cells(cells: U64, slots: Index, slot_bits: Int, same_cells: I32) -> None:
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


@kernel
def largest_zones(cells: U64, full: np.uint64, geometry: I64, edges: U64) -> I64:
    """Return how many cells the largest zone has that each piece leaves of the board `full`."""
    out = np.zeros(len(cells), np.int64)
    for p in range(len(cells)):
        rest = full & ~cells[p]
        while rest:
            zone = zone_of(rest & (~rest + ONE), rest, geometry, edges)
            out[p] = max(out[p], popcount(zone))
            rest &= ~zone
    return out


@kernel
def twins_among(cells: U64, word_pieces: I64, word_offsets: I64) -> npt.NDArray[np.bool_]:
    """Mark each piece whose word also fits on cells that it leaves free."""
    twin = np.zeros(len(cells), np.bool_)
    for w in range(len(word_offsets) - 1):
        for i in range(word_offsets[w], word_offsets[w + 1]):
            p = word_pieces[i]
            for j in range(i + 1, word_offsets[w + 1]):
                q = word_pieces[j]
                if not (cells[p] & cells[q]):
                    twin[p] = True
                    twin[q] = True
    return twin

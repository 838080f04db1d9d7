"""The board of the zone search: theme words as bitsets, prices, and scratch arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import (
    I64,
    U64,
    Bools,
    Int,
    inlined_kernel,
    inner_kernel,
    search_kernel,
)
from nightgrid.solvers.kernel.hash_table import Index, enter, first_slot, mix_first, next_slot, seek
from nightgrid.solvers.kernel.machine import ONE, ZERO, popcount, trailing_zeros
from nightgrid.solvers.strands.states.blocks import Pool
from nightgrid.solvers.strands.states.table import Table

UNIT = 1 << 20
ROUNDS = 120
ZONES_MAX = 64
WORD_CELLS = 64
"""Cells that one word of a mask holds."""


def price_cells(bits: Bools, cells: U64, count: int) -> I64:
    """Price the first `count` of 64 cells (int64[64]), given the masks of the words.

    `bits`: the same masks as bool[words, 64].

    No word's cells cost more than UNIT together. So n words cover at most cells of price n UNIT: a
    lower bound on the words needed for the remaining cells, the dual of the linear relaxation of
    "cover all cells with as few words as possible". A word's reduced cost is UNIT minus its price.
    The reduced costs of a cover's words add up to the slack, so a word with a larger reduced cost
    is in no cover. Prices are whole numbers, found by raising all and lowering those of too
    expensive words, so that they are the same on every machine. A cell without a word gets a price
    beyond any number of words.
    """
    longest = np.max(bits * np.bitwise_count(cells)[:, None], axis=0, initial=0).astype(np.int64)
    prices = np.where(longest, UNIT // np.maximum(1, longest), 0)
    _raise_prices(cells, prices.copy(), prices)
    prices[:count][longest[:count] == 0] = UNIT * 128
    return prices


@search_kernel
def _raise_prices(cells: U64, current: I64, prices: I64) -> None:
    """Improve the feasible `prices`, starting from `current`, a copy of them."""
    most = np.int64(0)
    for c in range(WORD_CELLS):
        most += prices[c]
    for turn in range(ROUNDS):
        # Ever smaller steps: 1/16, then 1/32, then 1/64 of a price.
        shift = 4 + (3 * turn) // ROUNDS
        for c in range(WORD_CELLS):
            current[c] += current[c] >> shift
        for p in range(len(cells)):
            cost = np.int64(0)
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
        total = np.int64(0)
        for c in range(WORD_CELLS):
            total += current[c]
        if total > most:
            most = total
            for c in range(WORD_CELLS):
                prices[c] = current[c]


(
    F_KIND, F_LEFT, F_CLOSED, F_SEVERAL, F_N, F_BAN, F_HI, F_LO, F_BEST, F_PIECE,
    F_AT, F_SIZE, F_ZONE, F_ZONES, F_OWN, F_FEWEST_AFTER, F_MOST_AFTER, F_SIDE, F_SOME,
    F_SLACK, F_FIRST_ZONE,
) = range(21)  # fmt: skip
"""Fields of a frame. F_AT: word of the bitset that is being tried; F_ZONE: zones that were started;
F_OWN: words of the current zone; F_SIDE: the half of `shares` that earlier zones have filled;
F_SOME: whether it could be covered; F_FIRST_ZONE: the first of the zones' masks."""
F_FIELDS = F_FIRST_ZONE + ZONES_MAX

REDUCED, SCORE, WORD, TWIN, RANK, NEXT_OF_WORD, NEXT_ON_CELLS, BLOCKS, WORD_FIELDS = range(9)
SLACK_SHIFT, SLACKS = 16, 64
"""Slacks are distinguished by sixteenths of UNIT, up to four times UNIT."""
LANES = 8
"""Masks that are checked together."""
ON_BLOCK, TWINS, SETS = WORD_CELLS, 2 * WORD_CELLS, 2 * WORD_CELLS + 1
LIST_REDUCED, LIST_PIECE, LIST_EVERY_PATH, LIST_FIELDS = range(4)
SUPPORT_CELLS, SUPPORT_REDUCED, SUPPORT_EVERY_PATH, SUPPORT_FIELDS = range(4)
FITTING, CHOSEN = range(2)


class Geometry(NamedTuple):
    """Size and rules of a board."""

    columns: Int
    min_letters: Int
    repeats: bool
    diagonal: bool
    left: np.uint64
    """Mask of the leftmost column."""
    right: np.uint64
    """Mask of the rightmost column."""


class Words(NamedTuple):
    """Theme words on a board, sorted by reduced cost (dearest cells first), with absolute masks.

    Every array argument makes kernels compile longer, so there are few of them.
    """

    cells: U64
    fields: I64
    """int64[pieces + 1, WORD_FIELDS], and a last row that ends the blocks of the last piece.

    REDUCED: UNIT minus the price of its cells. WORD: the first piece of the same word, which names
    the word; NEXT_OF_WORD: the next one, -1 for none. TWIN: whether the word also has other cells.
    RANK: among the spangrams, -1 if it does not touch two opposite sides. NEXT_ON_CELLS: the next
    piece on the same cells, -1 for none. BLOCKS: its first set of blocks.
    """
    blocks: U64
    """The least sets of blocks of one piece after the other."""
    sets: U64
    """uint64[SETS, bitset words]: bit p of row c says that piece p covers cell c, of row
    ON_BLOCK + b that every path of it uses block b, of row TWINS that it has a twin."""
    spanning: I64
    """The pieces with a rank."""
    offsets: U64
    """uint64[64, SLACKS + 1]: the lists of cell c begin in row offsets[c, 0] of the next two; for
    the words that a slack allows, and a few others, see `end_of_list`.

    Places in them are unsigned: Numba checks whether signed indexes count from the end, and these
    lists are read most."""
    masks: U64
    """The cells of the pieces on each cell, in order, and LANES more that fit nowhere."""
    lists: U64
    """uint64[., LIST_FIELDS]: their reduced costs, the pieces, and the blocks that all of a piece's
    sets of blocks hold."""
    slots: Index
    """Finds the first piece on given cells (nightgrid.solvers.kernel.hash_table); 2^slot_bits
    slots."""
    slot_bits: Int


class Spangrams(NamedTuple):
    """Spangrams in the order of trial, those on the same cells and blocks once."""

    cells: U64
    fields: I64
    """int64[spangrams, 2]: the word it is, as in Words (-1: none that may come again), and its rank
    if theme words that are spangrams of lower rank fit beside it, else 0."""
    block_offsets: I64
    blocks: U64


class ZoneBoard(NamedTuple):
    """The board, and scratch arrays whose first index is the depth of a frame."""

    geometry: Geometry
    prices: I64
    """int64[64]: see `price_cells`."""
    support: U64
    """uint64[64, SUPPORT_FIELDS]: the cells of what covered each cell last, its reduced cost, and
    the blocks that every path of it uses (nightgrid.solvers.strands.zones.candidates)."""
    frames: U64
    """uint64[depth, F_FIELDS]: see nightgrid.solvers.strands.zones.zones. Frame 0 is the empty
    board."""
    bitsets: U64
    """uint64[depth, 2, bitset words]: the pieces that fit on the remaining cells of a frame
    (FITTING), and those still to be tried (CHOSEN)."""
    shares: U64
    """uint64[depth, 2, words + 1, 3]: counts and best scores by number of words."""
    stamps: I64
    """int64[words + 1]: the zone in which a word last fitted, and the last stamp."""


class ZoneSearch(NamedTuple):
    """The data of the kernels of a zone search."""

    words: Words
    board: ZoneBoard
    table: Table
    pool: Pool


class ZoneState(NamedTuple):
    """The key of a state: the ways to cover some cells with n words."""

    left: np.uint64
    """Mask of the cells to cover."""
    closed: np.uint64
    """Closed blocks: a mask, or the number of a set of masks."""
    several: bool
    """Whether `closed` is the number of a set."""
    n: Int
    ban: Int
    """Number of the set of words that must not recur."""
    rank: Int
    """Pieces that are spangrams of a lower rank are left out."""
    slack: Int
    """n UNIT minus the prices of the cells; each word takes its reduced cost of it."""


S_PIECE, S_LEFT, S_CLOSED, S_SEVERAL, S_N, S_BAN, S_RANK, S_SLACK, STATE_FIELDS = range(9)
"""Columns of rows of states: the piece that leads to a state, and the fields of the state."""


@inner_kernel
def read_state(row: Int, rows: U64) -> ZoneState:
    """Read a state from a row of STATE_FIELDS."""
    return ZoneState(
        rows[row, S_LEFT],
        rows[row, S_CLOSED],
        rows[row, S_SEVERAL] != ZERO,
        np.int64(rows[row, S_N]),
        np.int64(rows[row, S_BAN]),
        np.int64(rows[row, S_RANK]),
        np.int64(rows[row, S_SLACK]),
    )


@inner_kernel
def write_state(row: Int, piece: Int, state: ZoneState, rows: U64) -> None:
    """Write a piece, and the state after it, as a row of STATE_FIELDS."""
    rows[row, S_PIECE], rows[row, S_LEFT] = np.uint64(piece), state.left
    rows[row, S_CLOSED], rows[row, S_SEVERAL] = state.closed, np.uint64(state.several)
    rows[row, S_N], rows[row, S_BAN] = np.uint64(state.n), np.uint64(state.ban)
    rows[row, S_RANK], rows[row, S_SLACK] = np.uint64(state.rank), np.uint64(state.slack)


@inlined_kernel
def price_of(cells: np.uint64, prices: I64) -> Int:
    """Add up the prices of cells."""
    total: Any = np.int64(0)
    while cells:
        total += prices[trailing_zeros(cells)]
        cells &= cells - ONE
    return total


@inlined_kernel
def end_of_list(cell: Int, slack: Int, offsets: U64) -> np.uint64:
    """Return where the list of a cell ends for words whose reduced cost is at most `slack`."""
    return offsets[cell, 1 + min(slack >> SLACK_SHIFT, SLACKS - 1)]


@inlined_kernel
def zone_of(cell: np.uint64, left: np.uint64, geometry: Geometry) -> np.uint64:
    """Grow a cell to all cells of `left` that king's moves (or a rook's) reach from it."""
    columns = np.uint64(min(geometry.columns, 63))
    not_left, not_right = ~geometry.left, ~geometry.right
    zone = cell
    while True:
        wide = zone | ((zone & not_right) << ONE) | ((zone & not_left) >> ONE)
        high = wide if geometry.diagonal else zone
        grown = (wide | (high << columns) | (high >> columns)) & left
        if grown == zone:
            return zone
        zone = grown


@inlined_kernel
def fewest_words(zone: np.uint64, prices: I64) -> Int:
    """Return a lower bound on the words that cover a zone."""
    return max(1, (price_of(zone, prices) + UNIT - 1) // UNIT)


@inner_kernel
def split_into_zones(left: np.uint64, n: Int, board: ZoneBoard, depth: Int) -> Int:
    """Write the zones of `left`, smallest first; return their number, 0 if n words are too few."""
    frames, least = board.frames, board.geometry.min_letters
    count, low, high = np.int64(0), np.int64(0), np.int64(0)
    rest = left
    while rest:
        zone = zone_of(rest & (~rest + ONE), rest, board.geometry)
        rest &= ~zone
        size = popcount(zone)
        fewest = fewest_words(zone, board.prices)
        low += fewest
        high += size // least
        if size < least * fewest or low > n or count == ZONES_MAX:
            return 0
        at = F_FIRST_ZONE + count
        while at > F_FIRST_ZONE and popcount(frames[depth, at - 1]) > size:
            frames[depth, at] = frames[depth, at - 1]
            at -= 1
        frames[depth, at] = zone
        count += 1
    return count if high >= n else 0


@inlined_kernel
def first_on(left: np.uint64, words: Words) -> Int:
    """Look up the first piece with exactly the cells `left`; -1 if there is none."""
    mixed = mix_first(left)
    slot = first_slot(mixed, words.slot_bits)
    while True:
        slot, p = seek(words.slots, words.slot_bits, mixed, slot)
        if p < 0 or words.cells[p] == left:
            return p
        slot = next_slot(slot, words.slot_bits)


@search_kernel
def link_pieces(words: Words, last: I64, *, twins: bool) -> None:
    """Fill in the index from masks to pieces, and the links between pieces.

    `last`: scratch, int64[pieces], of -1. `twins`: whether a word must not recur.
    """
    cells, fields, slots, bits = words.cells, words.fields, words.slots, words.slot_bits
    for p in range(len(cells) - 1, -1, -1):
        mixed = mix_first(cells[p])
        slot = first_slot(mixed, bits)
        while True:
            slot, other = seek(slots, bits, mixed, slot)
            if other < 0 or cells[other] == cells[p]:
                break
            slot = next_slot(slot, bits)
        fields[p, NEXT_ON_CELLS] = other
        enter(slots, slot, mixed, p)
        word = fields[p, WORD]
        other = last[word]
        fields[p, NEXT_OF_WORD] = other
        last[word] = p
        while twins and other >= 0:
            if not (cells[p] & cells[other]):
                fields[p, TWIN], fields[other, TWIN] = 1, 1
            other = fields[other, NEXT_OF_WORD]


@search_kernel
def measure_zones(cells: U64, full: np.uint64, geometry: Geometry, out: I64) -> None:
    """Write the size of the largest zone that each piece leaves of the board `full`."""
    for p in range(len(cells)):
        rest = full & ~cells[p]
        most = np.int64(0)
        while rest:
            zone = zone_of(rest & (~rest + ONE), rest, geometry)
            most = max(most, popcount(zone))
            rest &= ~zone
        out[p] = most

"""The board as the zone search sees it: theme words as bitsets, prices, arrays to work in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.bits import popcount, trailing_zeros
from solvers.compiling import inlined_kernel, search_kernel
from solvers.strands.cell_prices import UNIT

ZONES_MAX = 64
COLUMNS, MIN_LETTERS, REPEATS, DIAGONAL = range(4)
GEOMETRY_FIELDS = 4

_ONE = np.uint64(1)


class Words(NamedTuple):
    """Theme words on a board, sorted by reduced cost (dearest cells first), with absolute masks.

    Places in the lists by cell are unsigned: Numba asks of every signed index whether it counts
    from the end, and these lists are read most.
    """

    cells: npt.NDArray[np.uint64]
    reduced: npt.NDArray[np.int64]
    """What a word's cells fall short of UNIT (solvers.strands.cell_prices)."""
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
    slots: npt.NDArray[np.int32]
    """Index from masks to pieces: the first piece on those cells, -1: none."""
    same_cells: npt.NDArray[np.int32]
    """The next piece on the same cells, -1: none."""


class ZoneBoard(NamedTuple):
    """The board, and arrays to work in whose first index is the depth of a frame."""

    geometry: npt.NDArray[np.int64]
    edges: npt.NDArray[np.uint64]
    """The leftmost and the rightmost column."""
    prices: npt.NDArray[np.int64]
    support: npt.NDArray[np.uint64]
    """uint64[64]: what covered each cell last: a place in its list (solvers.strands.candidates)."""
    frames: npt.NDArray[np.uint64]
    """uint64[depth, frame fields]: see solvers.strands.zones. Frame 0 is the empty board."""
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


@inlined_kernel
def price_of(cells: np.uint64, prices: np.ndarray) -> int:
    """Add up the prices of cells."""
    total: Any = np.int64(0)
    while cells:
        total += prices[trailing_zeros(cells)]
        cells &= cells - _ONE
    return total


@inlined_kernel
def zone_of(cell: np.uint64, left: np.uint64, geometry: np.ndarray, edges: np.ndarray) -> np.uint64:
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
def fewest_words(zone: np.uint64, prices: np.ndarray) -> int:
    """Bound from below how many words cover a zone."""
    return max(1, (price_of(zone, prices) + UNIT - 1) // UNIT)


@search_kernel
def split_into_zones(
    left: np.uint64, n: int, geometry: np.ndarray, edges: np.ndarray, prices: np.ndarray,
    zones: np.ndarray, depth: int,
) -> int:  # fmt: skip
    """Write the zones of `left`, smallest first; return how many, 0 if n words cannot do."""
    least = geometry[MIN_LETTERS]
    count, low, high = 0, 0, 0
    rest = left
    while rest:
        zone = zone_of(rest & (~rest + _ONE), rest, geometry, edges)
        rest &= ~zone
        size = popcount(zone)
        fewest = fewest_words(zone, prices)
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


@inlined_kernel
def slot_of_cells(cells: np.uint64, size: int) -> Any:
    """Hash a mask to its first place in an index of `size` entries, a power of two."""
    h = cells * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(h >> np.uint64(64 - trailing_zeros(np.uint64(size))))


@search_kernel
def index_cells(cells: np.ndarray, slots: np.ndarray, same_cells: np.ndarray) -> None:
    """Fill the index from masks to pieces; pieces on the same cells form a chain, in order."""
    size = len(slots)
    slots[:] = -1
    for p in range(len(cells) - 1, -1, -1):
        slot = slot_of_cells(cells[p], size)
        while slots[slot] >= 0 and cells[slots[slot]] != cells[p]:
            slot = (slot + 1) & (size - 1)
        same_cells[p] = slots[slot]
        slots[slot] = p


@inlined_kernel
def first_on(left: np.uint64, cells: np.ndarray, slots: np.ndarray) -> int:
    """Look up the first piece whose cells are just `left`, -1 if there is none."""
    size = len(slots)
    slot = slot_of_cells(left, size)
    while True:
        p: Any = np.int64(slots[slot])
        if p < 0 or cells[p] == left:
            return p
        slot = (slot + 1) & (size - 1)


@search_kernel
def largest_zones(
    cells: np.ndarray, full: np.uint64, geometry: np.ndarray, edges: np.ndarray, out: np.ndarray
) -> None:
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
    cells: np.ndarray, word_pieces: np.ndarray, word_offsets: np.ndarray, twin: np.ndarray
) -> None:
    """Mark each piece whose word also fits on cells that it leaves free."""
    for w in range(len(word_offsets) - 1):
        for i in range(word_offsets[w], word_offsets[w + 1]):
            p = word_pieces[i]
            for j in range(i + 1, word_offsets[w + 1]):
                q = word_pieces[j]
                if not (cells[p] & cells[q]):
                    twin[p] = True
                    twin[q] = True

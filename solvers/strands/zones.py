"""Cover what a spangram leaves with a given number of words: exact counts and best scores.

The search always covers the cell that the fewest words still fit on. A state is (cells left,
blocks closed, words left, words that must not come again), and its value is kept. Cells that fall
apart into zones (article 001, 2-3) are solved zone by zone and multiplied, each way of sharing
the words out, unless a word fits in two zones and must not be used twice: then they stay one
state. Zones are states like any other, so that those which several spangrams leave are solved
once. Prices (solvers.strands.prices) say when too few words are left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.bits import popcount, trailing_zeros
from solvers.compiling import kernel, recursive_kernel
from solvers.strands.blocks import combine, crosses, intern, narrow, open_blocks
from solvers.strands.prices import UNIT
from solvers.strands.table import (
    BEST,
    DEAD,
    EXISTS,
    HI,
    LO,
    OK,
    STATUS,
    TOO_MANY_SETS,
    find,
    keep,
    spend,
)
from solvers.wide import add, times

ZONES_MAX = 64
WORD, REDUCED, SCORE, TWIN, RANK = range(5)
PIECE_FIELDS = 5
ROWS, COLUMNS, MIN_LETTERS, REPEATS, DIAGONAL = range(5)
GEOMETRY_FIELDS = 5
N_BITS, SEVERAL_BIT, BAN_BITS = 8, 8, 24

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


class Words(NamedTuple):
    """Theme words on a board, sorted by reduced cost (dearest cells first), with absolute masks."""

    cells: npt.NDArray[np.uint64]
    fields: npt.NDArray[np.int64]
    """int64[pieces, PIECE_FIELDS]: number of the word, reduced cost, score, whether the word has
    other cells to stand on, rank among spangrams (-1: touches no two opposite sides)."""
    block_offsets: npt.NDArray[np.int64]
    blocks: npt.NDArray[np.uint64]
    word_offsets: npt.NDArray[np.int64]
    word_pieces: npt.NDArray[np.int64]
    """word_pieces[word_offsets[w]:word_offsets[w + 1]]: the pieces of word w."""


class Ground(NamedTuple):
    """The board, and room to work in."""

    geometry: npt.NDArray[np.int64]
    edges: npt.NDArray[np.uint64]
    """The leftmost and the rightmost column."""
    prices: npt.NDArray[np.int64]
    listed: npt.NDArray[np.int32]
    """Lists of pieces that still fit, one after the other; at first all of them."""
    counts: npt.NDArray[np.int64]
    zones: npt.NDArray[np.uint64]
    """uint64[depth, ZONES_MAX]"""
    shares: npt.NDArray[np.uint64]
    """uint64[depth, 2, words + 1, 3]: counts and best scores by number of words."""
    stamps: npt.NDArray[np.int64]
    """int64[words]: in which zone a word was last seen to fit."""
    stamp: npt.NDArray[np.int64]


@kernel
def pack(n: int, several: bool, ban: int, rank: int) -> np.uint64:
    """Pack the rest of a state into one word."""
    low = np.uint64(n) | (np.uint64(several) << np.uint64(SEVERAL_BIT))
    return (
        low
        | (np.uint64(ban) << np.uint64(SEVERAL_BIT + 1))
        | (np.uint64(rank) << np.uint64(SEVERAL_BIT + 1 + BAN_BITS))
    )


@kernel
def price_of(cells: np.uint64, prices: np.ndarray) -> int:
    """Add up the prices of cells."""
    total = 0
    while cells:
        total += prices[trailing_zeros(cells)]
        cells &= cells - _ONE
    return total


@kernel
def zone_of(cell: np.uint64, left: np.uint64, ground: Any) -> np.uint64:
    """Grow a cell to all cells of `left` that king's moves (or a rook's) reach from it."""
    columns = np.uint64(min(ground.geometry[COLUMNS], 63))
    not_left, not_right = ~ground.edges[0], ~ground.edges[1]
    diagonal = ground.geometry[DIAGONAL] != 0
    zone = cell
    while True:
        wide = zone | ((zone & not_right) << _ONE) | ((zone & not_left) >> _ONE)
        high = wide if diagonal else zone
        grown = (wide | (high << columns) | (high >> columns)) & left
        if grown == zone:
            return zone
        zone = grown


@kernel
def is_banned(word: int, ban: int, pool: Any) -> bool:
    """Tell whether a word stands in an interned set of words."""
    for i in range(pool.offsets[ban], pool.offsets[ban + 1]):
        if pool.sets[i] == np.uint64(word):
            return True
    return False


@kernel
def still_banned(ban: int, word: Any, left: np.uint64, words: Any, pool: Any) -> int:
    """Intern the banned words, and `word` (-1: none), that still fit in `left`; -1 if full."""
    scratch = pool.scratch
    count = 0
    placed = word < 0
    first, last = pool.offsets[ban], pool.offsets[ban + 1]
    i = first
    while i < last or not placed:
        if placed or (i < last and pool.sets[i] < np.uint64(word)):
            candidate = np.int64(pool.sets[i])
            i += 1
        else:
            candidate = word
            placed = True
        for j in range(words.word_offsets[candidate], words.word_offsets[candidate + 1]):
            if not (words.cells[words.word_pieces[j]] & ~left):
                if count == len(scratch):
                    return -1
                scratch[count] = np.uint64(candidate)
                count += 1
                break
    if count == 0:
        return 0
    return intern(scratch, count, pool)


@kernel
def split_into_zones(left: np.uint64, n: int, depth: int, ground: Any) -> int:
    """Write the zones of `left`, smallest first; return how many, 0 if n words cannot do."""
    zones = ground.zones
    least = ground.geometry[MIN_LETTERS]
    prices = ground.prices
    count, low, high = 0, 0, 0
    rest = left
    while rest:
        zone = zone_of(rest & (~rest + _ONE), rest, ground)
        rest &= ~zone
        size = popcount(zone)
        fewest = max(1, (price_of(zone, prices) + UNIT - 1) // UNIT)
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


@kernel
def zones_share_words(
    left: np.uint64, count: int, slack: int, low: int, high: int, depth: int, words: Any,
    ground: Any,
) -> bool:  # fmt: skip
    """Tell whether a word fits in two of the zones."""
    zones, stamps = ground.zones, ground.stamps
    base = ground.stamp[0]
    ground.stamp[0] = base + count
    for i in range(low, high):
        p = ground.listed[i]
        if words.fields[p, REDUCED] > slack:
            break
        cells = words.cells[p]
        if words.fields[p, TWIN] == 0 or cells & ~left:
            continue
        word = words.fields[p, WORD]
        for z in range(count):
            if cells & zones[depth, z]:
                if stamps[word] > base and stamps[word] != base + 1 + z:
                    return True
                stamps[word] = base + 1 + z
                break
    return False


@kernel
def list_fitting(
    left: np.uint64, closed: np.uint64, several: bool, n: int, ban: int, rank: int, slack: int,
    low: int, high: int, words: Any, ground: Any, pool: Any,
) -> tuple[int, int]:  # fmt: skip
    """List the pieces that fit, behind `high`; return the list's end and the cell to cover.

    The cell is that which the fewest of them cover, -1 if some cell is covered by none.
    """
    listed, counts, fields = ground.listed, ground.counts, words.fields
    roomy = popcount(left) - (n - 1) * ground.geometry[MIN_LETTERS]
    counts[:] = 0
    top = high
    for i in range(low, high):
        p = listed[i]
        if fields[p, REDUCED] > slack:
            break
        cells = words.cells[p]
        if cells & ~left or popcount(cells) > roomy:
            continue
        if closed != _ZERO and crosses(
            closed, several, words.blocks, words.block_offsets[p], words.block_offsets[p + 1], pool
        ):
            continue
        if ban and is_banned(fields[p, WORD], ban, pool):
            continue
        if rank and 0 <= fields[p, RANK] < rank:
            continue
        listed[top] = p
        top += 1
        while cells:
            counts[trailing_zeros(cells)] += 1
            cells &= cells - _ONE
    cell, fewest = -1, np.int64(2**62)
    rest = left
    while rest:
        c = trailing_zeros(rest)
        rest &= rest - _ONE
        if counts[c] < fewest:
            cell, fewest = c, counts[c]
            if fewest == 0:
                return top, -1
    return top, cell


@kernel
def cover_last(
    left: np.uint64, closed: np.uint64, several: bool, ban: int, rank: int, low: int, high: int,
    words: Any, ground: Any, pool: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Cover what is left with one word."""
    count, best = _ZERO, np.int64(DEAD)
    for i in range(low, high):
        p = ground.listed[i]
        if words.cells[p] != left:
            continue
        if closed != _ZERO and crosses(
            closed, several, words.blocks, words.block_offsets[p], words.block_offsets[p + 1], pool
        ):
            continue
        if ban and is_banned(words.fields[p, WORD], ban, pool):
            continue
        if rank and 0 <= words.fields[p, RANK] < rank:
            continue
        count += _ONE
        best = max(best, words.fields[p, SCORE])
    return _ZERO, count, best


@recursive_kernel
def cover(
    left: np.uint64, closed: np.uint64, several: bool, n: int, ban: int, rank: int, low: int,
    high: int, depth: int, words: Any, ground: Any, table: Any, pool: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Count the ways to cover `left` with n >= 1 words; return (count, count, best score).

    Candidates are the pieces listed from `low` to `high`. `rank`: pieces that are spangrams of a
    lower rank are left out. A budget that runs out shows in the table's status, and then the
    answer means nothing.
    """
    dead = (_ZERO, _ZERO, np.int64(DEAD))
    least = ground.geometry[MIN_LETTERS]
    if popcount(left) < n * least:
        return dead
    slack = n * UNIT - price_of(left, ground.prices)
    if slack < 0:
        return dead
    if n == 1:
        return cover_last(left, closed, several, ban, rank, low, high, words, ground, pool)
    control = table.control
    if zone_of(left & (~left + _ONE), left, ground) != left:
        count = split_into_zones(left, n, depth, ground)
        if count == 0:
            return dead
        apart = ground.geometry[REPEATS] != 0 or not zones_share_words(
            left, count, slack, low, high, depth, words, ground
        )
        # Alternatives that close blocks of two zones belong together. The product stands here
        # because Numba cannot load two functions that call each other from its cache.
        if apart and not several:
            shares, zones, prices = ground.shares, ground.zones, ground.prices
            fewest_after = 0
            for z in range(count):
                fewest_after += max(1, (price_of(zones[depth, z], prices) + UNIT - 1) // UNIT)
            side = 0
            for k in range(n + 1):
                shares[depth, side, k, 0] = 0
                shares[depth, side, k, 1] = 0
            shares[depth, side, 0, 1] = 1
            shares[depth, side, 0, 2] = 0
            for z in range(count):
                zone = zones[depth, z]
                fewest = max(1, (price_of(zone, prices) + UNIT - 1) // UNIT)
                most = popcount(zone) // least
                fewest_after -= fewest
                for k in range(n + 1):
                    shares[depth, 1 - side, k, 0] = 0
                    shares[depth, 1 - side, k, 1] = 0
                some = False
                _, zone_closed, zone_several = narrow(
                    closed, False, open_blocks(zone, ground.geometry[COLUMNS]), pool
                )
                banned: Any = 0
                if ban:
                    banned = still_banned(ban, np.int64(-1), zone, words, pool)
                    if banned < 0:
                        table.control[STATUS] = TOO_MANY_SETS
                        return dead
                for own in range(fewest, min(most, n - fewest_after) + 1):
                    known = False
                    hi, lo, best = dead
                    for k in range(n - fewest_after - own + 1):
                        before_hi, before_lo = shares[depth, side, k, 0], shares[depth, side, k, 1]
                        if not (before_hi | before_lo):
                            continue
                        if not known:
                            known = True
                            hi, lo, best = cover(
                                zone, zone_closed, zone_several, own, banned, rank, low, high,
                                depth + 1,
                                words, ground, table, pool,
                            )  # fmt: skip
                            if table.control[STATUS] != OK:
                                return dead
                            if not (hi | lo):
                                break
                        more_hi, more_lo = times(before_hi, before_lo, hi, lo)
                        score = np.int64(shares[depth, side, k, 2]) + best
                        at_hi, at_lo = (
                            shares[depth, 1 - side, k + own, 0],
                            shares[depth, 1 - side, k + own, 1],
                        )
                        if not (at_hi | at_lo) or score > np.int64(
                            shares[depth, 1 - side, k + own, 2]
                        ):
                            shares[depth, 1 - side, k + own, 2] = np.uint64(score)
                        at_hi, at_lo = add(at_hi, at_lo, more_hi, more_lo)
                        shares[depth, 1 - side, k + own, 0] = at_hi
                        shares[depth, 1 - side, k + own, 1] = at_lo
                        some = True
                if not some:
                    return dead
                side = 1 - side
            hi, lo = shares[depth, side, n, 0], shares[depth, side, n, 1]
            if not (hi | lo):
                return dead
            return hi, lo, np.int64(shares[depth, side, n, 2])
    rest = pack(n, several, ban, rank)
    row = find(left, closed, rest, table)
    if row >= 0:
        states = table.states
        return states[row, HI], states[row, LO], np.int64(states[row, BEST])
    if spend(table):
        return dead
    top, cell = list_fitting(
        left, closed, several, n, ban, rank, slack, low, high, words, ground, pool
    )
    hi, lo, best = dead
    if cell >= 0:
        bit = _ONE << np.uint64(cell)
        for i in range(high, top):
            p = ground.listed[i]
            if not words.cells[p] & bit:
                continue
            after = left ^ words.cells[p]
            code, now_closed, now_several = combine(
                closed, several, words.blocks, words.block_offsets[p], words.block_offsets[p + 1],
                _ZERO, _ZERO, open_blocks(after, ground.geometry[COLUMNS]), pool,
            )  # fmt: skip
            banned = 0
            if code == 0 and (ban or words.fields[p, TWIN]):
                word = words.fields[p, WORD] if words.fields[p, TWIN] else np.int64(-1)
                banned = still_banned(ban, word, after, words, pool)
            if code == -2 or banned < 0:
                control[STATUS] = TOO_MANY_SETS
                return dead
            more_hi, more_lo, more_best = cover(
                after, now_closed, now_several, n - 1, banned, rank, high, top, depth + 1, words,
                ground, table, pool,
            )  # fmt: skip
            if control[STATUS] != OK:
                return dead
            if more_hi | more_lo:
                hi, lo = add(hi, lo, more_hi, more_lo)
                best = max(best, more_best + words.fields[p, SCORE])
                if control[EXISTS]:
                    break
    keep(left, closed, rest, hi, lo, best, table)
    return hi, lo, best

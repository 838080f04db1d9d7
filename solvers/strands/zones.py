"""Cover what a spangram leaves with a given number of words: exact counts and best scores.

The search always covers the cell that the fewest words still fit on. A state is (cells left,
blocks closed, words left, words that must not come again), and its value is kept. Cells that fall
apart into zones (article 001, 2-3) are solved zone by zone and multiplied, each way of sharing
the words out, unless a word fits in two zones and must not be used twice: then they stay one
state. Zones are states like any other, so that those which several spangrams leave are solved
once. Prices (solvers.strands.cell_prices) say when too few words are left; the last two words are
looked up (solvers.strands.last_words).

The search is a machine with a stack of its own: a frame asks for the value of a state, `_enter`
answers it or puts a new frame on top. Numba calls itself slowly, and cannot load what calls
itself from its cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.bits import popcount, trailing_zeros
from solvers.compiling import inlined_kernel, search_kernel
from solvers.kernel_codes import DONE, FIXED_TABLE_FULL
from solvers.strands.blocks import open_blocks
from solvers.strands.candidates import (
    has_lost_cell,
    list_fitting,
    place_word,
    rarest_cell,
    still_banned,
    zones_share_words,
)
from solvers.strands.cell_prices import UNIT
from solvers.strands.last_words import cover_with_one, cover_with_two
from solvers.strands.table import BEST, DEAD, EXISTS, HI, LO, STATUS, find, keep, spend
from solvers.strands.zone_board import (
    COLUMNS,
    MIN_LETTERS,
    REPEATS,
    fewest_words,
    price_of,
    split_into_zones,
    zone_of,
)
from solvers.wide import add, times

SEVERAL_BIT, BAN_BITS = 8, 24
BRANCH, PRODUCT = range(2)
"""What a frame adds up: the words on one cell; the ways to share words out among zones."""
(
    F_KIND, F_LEFT, F_CLOSED, F_SEVERAL, F_N, F_BAN, F_HI, F_LO, F_BEST, F_PIECE,
    F_AT, F_SIZE, F_ZONE, F_ZONES, F_OWN, F_FEWEST_AFTER, F_MOST_AFTER, F_SIDE, F_SOME, F_FIELDS,
) = range(20)  # fmt: skip
"""Fields of a frame. F_AT: word of the bitset that is being tried; F_ZONE: zones that were begun;
F_OWN: words that the zone at hand gets; F_SIDE: the half of `shares` that the zones before it
have filled; F_SOME: whether it could be covered."""

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_DEAD = np.int64(DEAD)


@inlined_kernel
def pack(n: int, several: bool, ban: int, rank: int) -> np.uint64:
    """Pack the rest of a state into one word."""
    low = np.uint64(n) | (np.uint64(several) << np.uint64(SEVERAL_BIT))
    return (
        low
        | (np.uint64(ban) << np.uint64(SEVERAL_BIT + 1))
        | (np.uint64(rank) << np.uint64(SEVERAL_BIT + 1 + BAN_BITS))
    )


@search_kernel
def cover(
    left: np.uint64, closed: np.uint64, several: bool, n: int, ban: int, rank: int, words: Any,
    board: Any, table: Any, pool: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Count the ways to cover `left` with n words; return (count, count, best score).

    `rank`: pieces that are spangrams of a lower rank are left out. A budget that runs out shows
    in the table's status, and then the answer means nothing.
    """
    if n == 0 or left == _ZERO:
        whole = n == 0 and left == _ZERO
        return _ZERO, np.uint64(whole), np.int64(0) if whole else _DEAD
    frames = board.frames
    depth: Any = np.int64(0)
    fitting: Any = np.int64(0)
    while True:
        answered, hi, lo, best = _enter(
            left, closed, several, n, ban, rank, fitting, depth + 1, words, board, table, pool
        )
        if table.control[STATUS] != DONE:
            return _ZERO, _ZERO, _DEAD
        if not answered:
            depth += 1
        # Give answers down until a frame has another question.
        while True:
            if answered:
                if depth == 0:
                    return hi, lo, best
                if frames[depth, F_KIND] == BRANCH:
                    _add_word(hi, lo, best, depth, words, frames, table.control)
                else:
                    _add_zone(hi, lo, best, depth, frames, board.shares)
            if frames[depth, F_KIND] == BRANCH:
                asks, left, closed, several, n, ban = _next_word(
                    depth, words, board, table.control, pool
                )
            else:
                asks, left, closed, several, n, ban = _next_zone(
                    depth, words, board, table.control, pool
                )
            fitting = depth
            if table.control[STATUS] != DONE:
                return _ZERO, _ZERO, _DEAD
            if asks:
                break
            hi, lo, best = frames[depth, F_HI], frames[depth, F_LO], np.int64(frames[depth, F_BEST])
            if frames[depth, F_KIND] == BRANCH:
                rest = pack(
                    int(frames[depth, F_N]), frames[depth, F_SEVERAL] != _ZERO,
                    int(frames[depth, F_BAN]), rank,
                )  # fmt: skip
                keep(frames[depth, F_LEFT], frames[depth, F_CLOSED], rest, hi, lo, best, table)
            depth -= 1
            answered = True


@inlined_kernel
def _enter(
    left: np.uint64, closed: np.uint64, several: bool, n: int, ban: int, rank: int, fitting: int,
    depth: int, words: Any, board: Any, table: Any, pool: Any,
) -> tuple[bool, Any, Any, Any]:  # fmt: skip
    """Answer (True, count, count, best) at once, or lay out a frame at `depth`."""
    dead = (True, _ZERO, _ZERO, _DEAD)
    geometry, edges, prices = board.geometry, board.edges, board.prices
    frames = board.frames
    if popcount(left) < n * geometry[MIN_LETTERS]:
        return dead
    slack = n * UNIT - price_of(left, prices)
    if slack < 0:
        return dead
    if n == 1:
        count, best = cover_with_one(left, closed, several, ban, rank, -1, words, pool)
        return True, _ZERO, count, best
    if n == 2:
        code, count, best = cover_with_two(
            left, closed, several, ban, rank, slack, words, board, pool
        )
        if code:
            table.control[STATUS] = FIXED_TABLE_FULL
        return True, _ZERO, count, best
    if has_lost_cell(left, closed, several, slack, words, board.support):
        return dead
    zones = 0
    if zone_of(left & (~left + _ONE), left, geometry, edges) != left:
        zones = split_into_zones(left, n, geometry, edges, prices, board.zones, depth)
        if zones == 0:
            return dead
    rest = pack(n, several, ban, rank)
    row = find(left, closed, rest, table)
    if row >= 0:
        states = table.states
        return True, states[row, HI], states[row, LO], np.int64(states[row, BEST])
    frames[depth, F_LEFT] = left
    frames[depth, F_CLOSED] = closed
    frames[depth, F_SEVERAL] = np.uint64(several)
    frames[depth, F_N] = np.uint64(n)
    frames[depth, F_BAN] = np.uint64(ban)
    frames[depth, F_HI] = _ZERO
    frames[depth, F_LO] = _ZERO
    frames[depth, F_BEST] = np.uint64(_DEAD)
    if spend(table):
        return dead
    size = list_fitting(
        fitting, depth, frames[fitting, F_LEFT] & ~left, closed, several, ban, rank, slack, words,
        board, pool,
    )  # fmt: skip
    # Alternatives that close blocks of two zones belong together.
    if (
        zones > 0
        and not several
        and (
            geometry[REPEATS] != 0
            or not zones_share_words(
                board.fitting, depth, size, board.zones, zones, words, board.stamps,
                board.stamp,
            )
        )
    ):  # fmt: skip
        _lay_zones(zones, n, depth, board)
        return False, _ZERO, _ZERO, _DEAD
    cell = rarest_cell(left, board.fitting, depth, size, words.on_cell)
    if cell < 0:
        keep(left, closed, rest, _ZERO, _ZERO, _DEAD, table)
        return dead
    for i in range(size):
        board.chosen[depth, i] = board.fitting[depth, i] & words.on_cell[cell, i]
    frames[depth, F_KIND] = np.uint64(BRANCH)
    frames[depth, F_AT] = _ZERO
    frames[depth, F_SIZE] = np.uint64(size)
    return False, _ZERO, _ZERO, _DEAD


@inlined_kernel
def _next_word(
    depth: int, words: Any, board: Any, control: np.ndarray, pool: Any
) -> tuple[bool, np.uint64, np.uint64, bool, Any, Any]:
    """Place the next word of a frame; return whether there is one, and the state after it."""
    frames, chosen = board.frames, board.chosen
    left, closed = frames[depth, F_LEFT], frames[depth, F_CLOSED]
    several = frames[depth, F_SEVERAL] != _ZERO
    n: Any = np.int64(frames[depth, F_N])
    ban: Any = np.int64(frames[depth, F_BAN])
    at, size = np.int64(frames[depth, F_AT]), np.int64(frames[depth, F_SIZE])
    while at < size:
        bits = chosen[depth, at]
        if not bits:
            at += 1
            continue
        p = (at << 6) + trailing_zeros(bits)
        chosen[depth, at] = bits & (bits - _ONE)
        code, after, now_closed, now_several, banned = place_word(
            p, left, closed, several, ban, words, board, pool
        )
        if code == -1:
            continue
        if code == -2:
            control[STATUS] = FIXED_TABLE_FULL
        frames[depth, F_AT] = np.uint64(at)
        frames[depth, F_PIECE] = np.uint64(p)
        return True, after, now_closed, now_several, n - 1, banned
    return False, left, closed, several, n, ban


@inlined_kernel
def _add_word(
    hi: np.uint64, lo: np.uint64, best: int, depth: int, words: Any, frames: np.ndarray,
    control: np.ndarray,
) -> None:  # fmt: skip
    """Add what follows the word at hand to its frame."""
    if not (hi | lo):
        return
    frames[depth, F_HI], frames[depth, F_LO] = add(frames[depth, F_HI], frames[depth, F_LO], hi, lo)
    value = best + words.score[np.int64(frames[depth, F_PIECE])]
    if value > np.int64(frames[depth, F_BEST]):
        frames[depth, F_BEST] = np.uint64(value)
    if control[EXISTS]:
        frames[depth, F_AT] = frames[depth, F_SIZE]


@search_kernel
def _lay_zones(zones: int, n: int, depth: int, board: Any) -> None:
    """Lay out a frame for the zones of a state; before the first, no word is shared out."""
    frames, shares, prices = board.frames, board.shares, board.prices
    fewest, most = np.int64(0), np.int64(0)
    for z in range(zones):
        zone = board.zones[depth, z]
        fewest += fewest_words(zone, prices)
        most += popcount(zone) // board.geometry[MIN_LETTERS]
    frames[depth, F_KIND] = np.uint64(PRODUCT)
    frames[depth, F_ZONES] = np.uint64(zones)
    frames[depth, F_ZONE] = _ZERO
    frames[depth, F_OWN] = _ZERO
    frames[depth, F_FEWEST_AFTER] = np.uint64(fewest)
    frames[depth, F_MOST_AFTER] = np.uint64(most)
    frames[depth, F_SIDE] = _ZERO
    frames[depth, F_SOME] = _ONE
    for k in range(n + 1):
        shares[depth, 0, k, 0] = _ZERO
        shares[depth, 0, k, 1] = np.uint64(k == 0)
        shares[depth, 0, k, 2] = _ZERO


@inlined_kernel
def _next_zone(
    depth: int, words: Any, board: Any, control: np.ndarray, pool: Any
) -> tuple[bool, np.uint64, np.uint64, bool, Any, Any]:
    """Give the zone at hand, or the next one, another number of words; return as `_next_word`."""
    frames, shares = board.frames, board.shares
    closed = frames[depth, F_CLOSED]
    ban: Any = np.int64(frames[depth, F_BAN])
    n: Any = np.int64(frames[depth, F_N])
    zones = np.int64(frames[depth, F_ZONES])
    least = board.geometry[MIN_LETTERS]
    none = (False, _ZERO, closed, False, n, ban)
    while True:
        begun, own = np.int64(frames[depth, F_ZONE]), np.int64(frames[depth, F_OWN])
        side = np.int64(frames[depth, F_SIDE])
        if begun > 0:
            zone = board.zones[depth, begun - 1]
            fewest_after: Any = np.int64(frames[depth, F_FEWEST_AFTER])
            most_after: Any = np.int64(frames[depth, F_MOST_AFTER])
            most = min(popcount(zone) // least, n - fewest_after)
            while own < most:
                own += 1
                wanted = False
                for k in range(max(0, n - own - most_after), n - own - fewest_after + 1):
                    if shares[depth, side, k, 0] | shares[depth, side, k, 1]:
                        wanted = True
                        break
                if wanted:
                    frames[depth, F_OWN] = np.uint64(own)
                    banned: Any = np.int64(0)
                    if ban:
                        banned = still_banned(ban, np.int64(-1), zone, words, pool)
                        if banned < 0:
                            control[STATUS] = FIXED_TABLE_FULL
                    here = closed & open_blocks(zone, board.geometry[COLUMNS])
                    return True, zone, here, False, own, banned
            side = 1 - side
            frames[depth, F_SIDE] = np.uint64(side)
            if not frames[depth, F_SOME]:
                return none
        if begun == zones:
            hi, lo = shares[depth, side, n, 0], shares[depth, side, n, 1]
            if hi | lo:
                frames[depth, F_HI], frames[depth, F_LO] = hi, lo
                frames[depth, F_BEST] = shares[depth, side, n, 2]
            return none
        zone = board.zones[depth, begun]
        fewest = fewest_words(zone, board.prices)
        frames[depth, F_ZONE] = np.uint64(begun + 1)
        frames[depth, F_OWN] = np.uint64(fewest - 1)
        frames[depth, F_FEWEST_AFTER] -= np.uint64(fewest)
        frames[depth, F_MOST_AFTER] -= np.uint64(popcount(zone) // least)
        frames[depth, F_SOME] = _ZERO
        for k in range(n + 1):
            shares[depth, 1 - side, k, 0] = _ZERO
            shares[depth, 1 - side, k, 1] = _ZERO


@inlined_kernel
def _add_zone(
    hi: np.uint64, lo: np.uint64, best: int, depth: int, frames: np.ndarray, shares: np.ndarray
) -> None:
    """Multiply the zone at hand, with the words it got, by every way to share out the others."""
    if not (hi | lo):
        return
    side = np.int64(frames[depth, F_SIDE])
    own, n = np.int64(frames[depth, F_OWN]), np.int64(frames[depth, F_N])
    for k in range(n - own + 1):
        before_hi, before_lo = shares[depth, side, k, 0], shares[depth, side, k, 1]
        if not (before_hi | before_lo):
            continue
        at_hi, at_lo = shares[depth, 1 - side, k + own, 0], shares[depth, 1 - side, k + own, 1]
        score = np.int64(shares[depth, side, k, 2]) + best
        if not (at_hi | at_lo) or score > np.int64(shares[depth, 1 - side, k + own, 2]):
            shares[depth, 1 - side, k + own, 2] = np.uint64(score)
        more_hi, more_lo = times(before_hi, before_lo, hi, lo)
        at_hi, at_lo = add(at_hi, at_lo, more_hi, more_lo)
        shares[depth, 1 - side, k + own, 0] = at_hi
        shares[depth, 1 - side, k + own, 1] = at_lo
        frames[depth, F_SOME] = _ONE

"""Cover the rest of a board with a given number of words: exact counts and best scores.

The search always covers the cell that the fewest words still fit on. A state is (cells left, blocks
closed, words left, words that must not recur), and its value is cached. Cells that separate into
zones (article 001, 2-3) are solved zone by zone and multiplied, for each way of dividing the words,
unless a word fits in two zones and must not be used twice: then they stay one state. Zones are
states like any other, so those that several spangrams leave are solved once. Prices
(nightgrid.solvers.strands.zones.board) detect when too few words are left; the last two words are
looked up (nightgrid.solvers.strands.zones.candidates).

The search has its own stack: a frame requests the value of a state, `_enter` returns it or pushes a
new frame; a finished frame returns to the one below. Recursion is slow in Numba, and cannot be
cached.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nightgrid.solvers.kernel.codes import DONE, FIXED_TABLE_FULL
from nightgrid.solvers.kernel.compiling import (
    I64,
    U64,
    Int,
    inlined_kernel,
    inner_kernel,
    search_kernel,
)
from nightgrid.solvers.kernel.machine import ONE, ZERO, popcount, trailing_zeros
from nightgrid.solvers.kernel.wide import add, times
from nightgrid.solvers.strands.states import table as tables
from nightgrid.solvers.strands.states.blocks import open_blocks
from nightgrid.solvers.strands.zones import board as boards
from nightgrid.solvers.strands.zones import candidates
from nightgrid.solvers.strands.zones.board import (
    Words,
    ZoneBoard,
    ZoneSearch,
    ZoneState,
    read_state,
)

SEVERAL_BIT, BAN_BITS = 8, 24
BRANCH, PRODUCT = range(2)
"""Kinds of frames: sums over the words on a cell, or over divisions of words among zones."""

_DEAD = np.int64(tables.DEAD)


@inlined_kernel
def pack(state: ZoneState) -> np.uint64:
    """Pack the rest of a state, without its cells and blocks, into one word."""
    low = np.uint64(state.n) | (np.uint64(state.several) << np.uint64(SEVERAL_BIT))
    return (
        low
        | (np.uint64(state.ban) << np.uint64(SEVERAL_BIT + 1))
        | (np.uint64(state.rank) << np.uint64(SEVERAL_BIT + 1 + BAN_BITS))
    )


@inlined_kernel
def _state_of(depth: Int, rank: Int, frames: U64) -> ZoneState:
    """Read the state of a frame; all frames have one rank."""
    return ZoneState(
        frames[depth, boards.F_LEFT],
        frames[depth, boards.F_CLOSED],
        frames[depth, boards.F_SEVERAL] != ZERO,
        np.int64(frames[depth, boards.F_N]),
        np.int64(frames[depth, boards.F_BAN]),
        rank,
        np.int64(frames[depth, boards.F_SLACK]),
    )


@search_kernel
def cover(asked: U64, search: ZoneSearch, values: U64) -> None:
    """Count the ways to cover the cells of states, rows of STATE_FIELDS (uint64[states, 8]).

    Writes (count, count, best score) of each to `values` (uint64[states, 3]). If the table's status
    shows a spent budget, the results are meaningless.
    """
    frames, control = search.board.frames, search.table.control
    for row in range(len(asked)):
        state = read_state(row, asked)
        depth, fitting = np.int64(0), np.int64(0)
        hi, lo = ZERO, ZERO
        best: Int = _DEAD
        asks = state.n != 0 and state.left != ZERO
        if not asks and state.n == 0 and state.left == ZERO:
            lo, best = ONE, np.int64(0)
        while asks or depth > 0:
            if asks:
                answered, hi, lo, best = _enter(state, fitting, depth + 1, search)
                if not answered:
                    depth += 1
            else:
                hi, lo, best = (
                    frames[depth, boards.F_HI],
                    frames[depth, boards.F_LO],
                    np.int64(frames[depth, boards.F_BEST]),
                )
                if frames[depth, boards.F_KIND] == BRANCH:
                    own = _state_of(depth, state.rank, frames)
                    tables.keep(own.left, own.closed, pack(own), hi, lo, best, search.table)
                depth -= 1
                answered = True
            if answered and depth > 0:
                if frames[depth, boards.F_KIND] == BRANCH:
                    _add_word(hi, lo, best, depth, search.words, frames, control)
                else:
                    _add_zone(hi, lo, best, depth, frames, search.board.shares)
            asks = False
            if depth > 0:
                own = _state_of(depth, state.rank, frames)
                if frames[depth, boards.F_KIND] == BRANCH:
                    asks, state = _next_word(depth, own, search)
                else:
                    asks, state = _next_zone(depth, own, search)
                fitting = depth
            if control[tables.STATUS] != DONE:
                return
        values[row, 0] = hi
        values[row, 1] = lo
        values[row, 2] = np.uint64(best)


@inlined_kernel
def _enter(
    state: ZoneState, fitting: Int, depth: Int, search: ZoneSearch
) -> tuple[bool, np.uint64, np.uint64, Int]:
    """Return (True, count, count, best) at once, or set up a frame at `depth`."""
    dead = (True, ZERO, ZERO, _DEAD)
    words, board, table = search.words, search.board, search.table
    frames, bitsets = board.frames, board.bitsets
    left, closed, n = state.left, state.closed, state.n
    if state.slack < 0 or popcount(left) < n * board.geometry.min_letters:
        return dead
    if n == 1:
        count, best = candidates.cover_with_one(state, np.int64(-1), words, search.pool)
        return True, ZERO, count, best
    if n == 2:
        code, count, best = candidates.cover_with_two(state, words, board, search.pool)
        if code:
            table.control[tables.STATUS] = FIXED_TABLE_FULL
        return True, ZERO, count, best
    if candidates.has_lost_cell(state, words, board.support):
        return dead
    zones: Int = np.int64(0)
    if boards.zone_of(left & (~left + ONE), left, board.geometry) != left:
        zones = boards.split_into_zones(left, n, board, depth)
        if zones == 0:
            return dead
    rest = pack(state)
    row = tables.find(left, closed, rest, table)
    if row >= 0:
        states = table.states
        return (
            True,
            states[row, tables.HI],
            states[row, tables.LO],
            np.int64(states[row, tables.BEST]),
        )
    frames[depth, boards.F_LEFT] = left
    frames[depth, boards.F_CLOSED] = closed
    frames[depth, boards.F_SEVERAL] = np.uint64(state.several)
    frames[depth, boards.F_N] = np.uint64(n)
    frames[depth, boards.F_BAN] = np.uint64(state.ban)
    frames[depth, boards.F_SLACK] = np.uint64(state.slack)
    frames[depth, boards.F_HI] = ZERO
    frames[depth, boards.F_LO] = ZERO
    frames[depth, boards.F_BEST] = np.uint64(_DEAD)
    if tables.spend(table.control, table.clock):
        return dead
    size = candidates.list_fitting(fitting, depth, state, search)
    # Alternatives that close blocks of two zones stay together.
    if (
        zones > 0
        and not state.several
        and (
            board.geometry.repeats
            or not candidates.zones_share_words(depth, size, zones, words, board)
        )
    ):
        _lay_zones(zones, n, depth, board)
        return False, ZERO, ZERO, _DEAD
    cell = candidates.rarest_cell(left, depth, size, words.sets, bitsets)
    if cell < 0:
        tables.keep(left, closed, rest, ZERO, ZERO, _DEAD, table)
        return dead
    for i in range(size):
        bitsets[depth, boards.CHOSEN, i] = bitsets[depth, boards.FITTING, i] & words.sets[cell, i]
    frames[depth, boards.F_KIND] = np.uint64(BRANCH)
    frames[depth, boards.F_AT] = ZERO
    frames[depth, boards.F_SIZE] = np.uint64(size)
    return False, ZERO, ZERO, _DEAD


@inlined_kernel
def _next_word(depth: Int, own: ZoneState, search: ZoneSearch) -> tuple[bool, ZoneState]:
    """Place the next word of a frame; return whether there is one, and the state after it."""
    frames, bitsets = search.board.frames, search.board.bitsets
    at, size = np.int64(frames[depth, boards.F_AT]), np.int64(frames[depth, boards.F_SIZE])
    while at < size:
        bits = bitsets[depth, boards.CHOSEN, at]
        if not bits:
            at += 1
            continue
        p = (at << 6) + trailing_zeros(bits)
        bitsets[depth, boards.CHOSEN, at] = bits & (bits - ONE)
        code, after = candidates.place_word(p, own, search)
        if code == -1:
            continue
        if code == -2:
            search.table.control[tables.STATUS] = FIXED_TABLE_FULL
        frames[depth, boards.F_AT] = np.uint64(at)
        frames[depth, boards.F_PIECE] = np.uint64(p)
        return True, after
    return False, own


@inlined_kernel
def _add_word(
    hi: np.uint64, lo: np.uint64, best: Int, depth: Int, words: Words, frames: U64, control: I64
) -> None:
    """Add the value after the current word to its frame."""
    if not (hi | lo):
        return
    frames[depth, boards.F_HI], frames[depth, boards.F_LO] = add(
        frames[depth, boards.F_HI], frames[depth, boards.F_LO], hi, lo
    )
    value = best + words.fields[np.int64(frames[depth, boards.F_PIECE]), boards.SCORE]
    if value > np.int64(frames[depth, boards.F_BEST]):
        frames[depth, boards.F_BEST] = np.uint64(value)
    if control[tables.EXISTS]:
        frames[depth, boards.F_AT] = frames[depth, boards.F_SIZE]


@inner_kernel
def _lay_zones(zones: Int, n: Int, depth: Int, board: ZoneBoard) -> None:
    """Set up a frame for the zones of a state, with no word assigned yet."""
    frames, shares, prices = board.frames, board.shares, board.prices
    fewest, most = np.int64(0), np.int64(0)
    for z in range(zones):
        zone = frames[depth, boards.F_FIRST_ZONE + z]
        fewest += boards.fewest_words(zone, prices)
        most += popcount(zone) // board.geometry.min_letters
    frames[depth, boards.F_KIND] = np.uint64(PRODUCT)
    frames[depth, boards.F_ZONES] = np.uint64(zones)
    frames[depth, boards.F_ZONE] = ZERO
    frames[depth, boards.F_OWN] = ZERO
    frames[depth, boards.F_FEWEST_AFTER] = np.uint64(fewest)
    frames[depth, boards.F_MOST_AFTER] = np.uint64(most)
    frames[depth, boards.F_SIDE] = ZERO
    frames[depth, boards.F_SOME] = ONE
    for k in range(n + 1):
        shares[depth, 0, k, 0] = ZERO
        shares[depth, 0, k, 1] = np.uint64(k == 0)
        shares[depth, 0, k, 2] = ZERO


@inner_kernel
def _next_zone(depth: Int, whole: ZoneState, search: ZoneSearch) -> tuple[bool, ZoneState]:
    """Assign another word number to this zone, or the next one; return as `_next_word`."""
    board = search.board
    frames, shares = board.frames, board.shares
    n, ban = whole.n, whole.ban
    zones = np.int64(frames[depth, boards.F_ZONES])
    least = board.geometry.min_letters
    while True:
        begun, own = np.int64(frames[depth, boards.F_ZONE]), np.int64(frames[depth, boards.F_OWN])
        side = np.int64(frames[depth, boards.F_SIDE])
        if begun > 0:
            zone = frames[depth, boards.F_FIRST_ZONE + begun - 1]
            fewest_after: Any = np.int64(frames[depth, boards.F_FEWEST_AFTER])
            most_after: Any = np.int64(frames[depth, boards.F_MOST_AFTER])
            most = min(popcount(zone) // least, n - fewest_after)
            while own < most:
                own += 1
                wanted = False
                for k in range(max(0, n - own - most_after), n - own - fewest_after + 1):
                    if shares[depth, side, k, 0] | shares[depth, side, k, 1]:
                        wanted = True
                        break
                if wanted:
                    frames[depth, boards.F_OWN] = np.uint64(own)
                    banned: Int = np.int64(0)
                    if ban:
                        banned = candidates.still_banned(
                            ban, np.int64(-1), zone, search.words, search.pool
                        )
                        if banned < 0:
                            search.table.control[tables.STATUS] = FIXED_TABLE_FULL
                    here = whole.closed & open_blocks(zone, board.geometry.columns)
                    slack = own * boards.UNIT - boards.price_of(zone, board.prices)
                    return True, ZoneState(zone, here, False, own, banned, whole.rank, slack)
            side = 1 - side
            frames[depth, boards.F_SIDE] = np.uint64(side)
            if not frames[depth, boards.F_SOME]:
                return False, whole
        if begun == zones:
            hi, lo = shares[depth, side, n, 0], shares[depth, side, n, 1]
            if hi | lo:
                frames[depth, boards.F_HI], frames[depth, boards.F_LO] = hi, lo
                frames[depth, boards.F_BEST] = shares[depth, side, n, 2]
            return False, whole
        zone = frames[depth, boards.F_FIRST_ZONE + begun]
        fewest = boards.fewest_words(zone, board.prices)
        frames[depth, boards.F_ZONE] = np.uint64(begun + 1)
        frames[depth, boards.F_OWN] = np.uint64(fewest - 1)
        frames[depth, boards.F_FEWEST_AFTER] -= np.uint64(fewest)
        frames[depth, boards.F_MOST_AFTER] -= np.uint64(popcount(zone) // least)
        frames[depth, boards.F_SOME] = ZERO
        for k in range(n + 1):
            shares[depth, 1 - side, k, 0] = ZERO
            shares[depth, 1 - side, k, 1] = ZERO


@inner_kernel
def _add_zone(
    hi: np.uint64, lo: np.uint64, best: Int, depth: Int, frames: U64, shares: U64
) -> None:
    """Multiply the current zone, with its words, by every way to divide the others."""
    if not (hi | lo):
        return
    side = np.int64(frames[depth, boards.F_SIDE])
    own, n = np.int64(frames[depth, boards.F_OWN]), np.int64(frames[depth, boards.F_N])
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
        frames[depth, boards.F_SOME] = ONE

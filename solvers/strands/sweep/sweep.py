"""Cover a board cell by cell, row by row: any number of words, boards of any length.

The first free cell is always covered next, so all cells before it are covered, and a window of 64
cells from it on, cell c as bit c % 64, determines the rest; a state is that window, the closed
blocks, and what the rules require. Boards of any number of rows work, as long as no word reaches
beyond the window.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.codes import FIXED_TABLE_FULL
from nightgrid.solvers.kernel.compiling import (
    I64,
    U64,
    Int,
    inlined_kernel,
    inner_kernel,
    search_kernel,
)
from nightgrid.solvers.kernel.machine import ONE as BIT
from nightgrid.solvers.kernel.machine import ZERO, popcount, trailing_zeros
from nightgrid.solvers.kernel.wide import add
from nightgrid.solvers.strands.states import blocks
from nightgrid.solvers.strands.states import table as tables
from nightgrid.solvers.strands.states.blocks import Pool
from nightgrid.solvers.strands.states.cell_supports import (
    COMPOUND,
    PLAIN,
    SPANNING,
    WINDOW,
    Supports,
    has_lost_cell,
    rotate_left,
    rotate_right,
    within,
)
from nightgrid.solvers.strands.states.table import Table

ANY = 255
"""Number of words left if any number is allowed."""
REQUIRED, ONE, OFF = range(3)
RULES = {"required": REQUIRED, "one": ONE, "off": OFF}
SWEEP_WORD, SWEEP_SCORE, SWEEP_TWIN, SWEEP_KIND = range(4)
SWEEP_FIELDS = 4
CELLS_IN_ALL, WIDTH, LEAST, RULE = range(4)
FRAME_WORDS = 8
"""A frame of the search's stack: a state, the piece to try next, and the value so far."""
F_FIRST, F_COVERED, F_CLOSED, F_REST, F_NEXT, F_HI, F_LO, F_BEST = range(FRAME_WORDS)

_BAN = np.uint64(32)


class Sweep(NamedTuple):
    """All pieces sorted by lowest cell; their masks have cell c as bit c % 64."""

    cells: U64
    tried: U64
    """The cells of pieces that may be in a cover; all ones, which never fit, for the others."""
    fields: I64
    """int64[pieces, SWEEP_FIELDS]: number of the word, score, whether the word has other places,
    kind."""
    block_offsets: I64
    blocks: U64
    """blocks[block_offsets[p]:block_offsets[p + 1]]: the least sets of blocks of piece p."""
    at: I64
    """Pieces at[f]:at[f + 1] have cell f as their lowest."""
    low: I64
    word_offsets: I64
    word_pieces: I64
    """word_pieces[word_offsets[w]:word_offsets[w + 1]]: the pieces of word w."""
    geometry: I64
    """int64[4]: CELLS_IN_ALL, WIDTH, LEAST, RULE."""
    supports: Supports


class SweepState(NamedTuple):
    """The key of a state: the ways to cover everything from a cell on."""

    first: Int
    """The first free cell."""
    covered: np.uint64
    """The covered cells of the window of 64 cells from there on; those beyond the board are."""
    closed: np.uint64
    """Closed blocks: a mask, or the number of a set of masks."""
    several: bool
    """Whether `closed` is the number of a set."""
    n: Int
    """Pieces left, or ANY."""
    flag: Int
    """Kind of the spangram so far."""
    ban: Int
    """Number of the set of words that must not recur."""


@inlined_kernel
def pack_sweep(state: SweepState) -> np.uint64:
    """Pack the rest of a state, without its cells and blocks, into one word."""
    return (
        np.uint64(state.n)
        | (np.uint64(state.several) << np.uint64(8))
        | (np.uint64(state.flag) << np.uint64(9))
        | (np.uint64(state.first) << np.uint64(11))
        | (np.uint64(state.ban) << _BAN)
    )


@inlined_kernel
def _state_of(frame: U64) -> SweepState:
    rest = frame[F_REST]
    return SweepState(
        np.int64(frame[F_FIRST]),
        frame[F_COVERED],
        frame[F_CLOSED],
        ((rest >> np.uint64(8)) & BIT) != ZERO,
        np.int64(rest & np.uint64(0xFF)),
        np.int64((rest >> np.uint64(9)) & np.uint64(3)),
        np.int64(rest >> _BAN),
    )


@inlined_kernel
def _open_from(first: Int, covered: np.uint64, columns: Int) -> np.uint64:
    # Blocks with both cells of a diagonal free; cells beyond the window do not matter yet.
    c = np.uint64(columns)
    if columns >= WINDOW - 1:
        return ZERO
    free = rotate_right(~covered, first)
    return rotate_left((free & (free << (c + BIT))) | ((free << BIT) & (free << c)), first)


@inlined_kernel
def _fits_later(p: Int, first: Int, covered: np.uint64, sweep: Sweep) -> bool:
    ahead = sweep.low[p] - first
    if ahead < 0 or ahead >= WINDOW:
        return ahead > 0
    return not covered & sweep.cells[p] & within(sweep.low[p], first)


@inlined_kernel
def _advanced(first: Int, covered: np.uint64, cell_count: Int) -> tuple[Int, np.uint64]:
    """Move the window to the first free cell."""
    after = first + trailing_zeros(rotate_right(~covered, first))
    # Cells that enter the window are free, unless they are beyond the board.
    new = min(after, cell_count - WINDOW) - first
    if new > 0:
        covered &= ~rotate_left(~ZERO >> np.uint64(WINDOW - new), first)
    return after, covered


@inner_kernel
def _ban_after(
    ban: Int, word: Int, first: Int, covered: np.uint64, sweep: Sweep, pool: Pool
) -> Int:
    scratch = pool.scratch
    kept: Int = np.int64(0)
    for i in range(blocks.list_bans(ban, word, pool)):
        number = np.int64(scratch[i])
        for j in range(sweep.word_offsets[number], sweep.word_offsets[number + 1]):
            if _fits_later(sweep.word_pieces[j], first, covered, sweep):
                scratch[kept] = scratch[i]
                kept += 1
                break
    return blocks.intern_bans(kept, pool)


@inlined_kernel
def place(p: Int, state: SweepState, sweep: Sweep, pool: Pool) -> tuple[Int, SweepState]:
    """Put piece p on the first free cell; return (code, state after it).

    Code 0 if it fits, 1 if not, -2 if there is no room for another set.
    """
    covered, flag, ban = state.covered, state.flag, state.ban
    cells = sweep.cells[p]
    if cells & covered:
        return 1, state
    kind = sweep.fields[p, SWEEP_KIND]
    rule = sweep.geometry[RULE]
    if kind == COMPOUND and flag == COMPOUND:
        return 1, state
    if rule == ONE and kind != PLAIN and flag != PLAIN:  # noqa: PLR1714  plain for the compiler
        return 1, state
    if ban and blocks.is_banned(sweep.fields[p, SWEEP_WORD], ban, pool):
        return 1, state
    covered |= cells
    # In the window before it moves: blocks that it leaves are not open.
    matter = _open_from(state.first, covered, sweep.geometry[WIDTH])
    code, closed, several = blocks.combine(
        state.closed, state.several, sweep.blocks, sweep.block_offsets[p],
        sweep.block_offsets[p + 1], matter, pool,
    )  # fmt: skip
    if code:
        return (1 if code == -1 else code), state
    first, now = _advanced(state.first, covered, sweep.geometry[CELLS_IN_ALL])
    now_ban: Int = np.int64(0)
    if ban or sweep.fields[p, SWEEP_TWIN]:
        word = sweep.fields[p, SWEEP_WORD] if sweep.fields[p, SWEEP_TWIN] else np.int64(-1)
        now_ban = _ban_after(ban, word, first, now, sweep, pool)
        if now_ban < 0:
            code = -2
    n = state.n if state.n == ANY else state.n - 1
    return code, SweepState(first, now, closed, several, n, max(flag, kind), now_ban)


@inlined_kernel
def _settle(
    state: SweepState, rest: np.uint64, sweep: Sweep, table: Table
) -> tuple[bool, np.uint64, np.uint64, Int]:
    # (whether a state's value is known, count, count, best) without its children.
    first, covered, n, flag = state.first, state.covered, state.n, state.flag
    cells = sweep.geometry[CELLS_IN_ALL]
    if first >= cells:
        rule = sweep.geometry[RULE]
        if (n == ANY or n == 0) and (rule == OFF or flag != PLAIN):  # noqa: PLR1714
            return True, ZERO, BIT, np.int64(0)
        return True, ZERO, ZERO, np.int64(tables.DEAD)
    if n != ANY and (
        n == 0 or popcount(~covered) + max(0, cells - first - WINDOW) < n * sweep.geometry[LEAST]
    ):
        return True, ZERO, ZERO, np.int64(tables.DEAD)
    sure = ZERO if state.several else state.closed
    kinds = COMPOUND
    if flag != PLAIN and sweep.geometry[RULE] == ONE:
        kinds = PLAIN
    elif flag == COMPOUND:
        kinds = SPANNING
    if has_lost_cell(first, covered, sure, kinds, sweep.supports):
        return True, ZERO, ZERO, np.int64(tables.DEAD)
    row = tables.find(covered, state.closed, rest, table)
    if row < 0:
        return False, ZERO, ZERO, np.int64(tables.DEAD)
    states = table.states
    return True, states[row, tables.HI], states[row, tables.LO], np.int64(states[row, tables.BEST])


@inlined_kernel
def _enter(state: SweepState, rest: np.uint64, sweep: Sweep, frame: U64) -> None:
    frame[F_FIRST], frame[F_NEXT] = np.uint64(state.first), np.uint64(sweep.at[state.first])
    frame[F_COVERED], frame[F_CLOSED], frame[F_REST] = state.covered, state.closed, rest
    frame[F_HI], frame[F_LO], frame[F_BEST] = ZERO, ZERO, np.uint64(tables.DEAD)


@inlined_kernel
def _credit(
    hi: np.uint64, lo: np.uint64, best: Int, sweep: Sweep, table: Table, frame: U64
) -> None:
    # The last placed piece is the one before the next.
    if not hi | lo:
        return
    score = sweep.fields[np.int64(frame[F_NEXT]) - 1, SWEEP_SCORE]
    frame[F_HI], frame[F_LO] = add(frame[F_HI], frame[F_LO], hi, lo)
    frame[F_BEST] = np.uint64(max(np.int64(frame[F_BEST]), best + score))
    if table.control[tables.EXISTS]:
        frame[F_NEXT] = np.uint64(sweep.at[np.int64(frame[F_FIRST]) + 1])


@search_kernel
def sweep_cover(
    state: SweepState, sweep: Sweep, table: Table, pool: Pool, stack: U64
) -> tuple[np.uint64, np.uint64, Int]:
    """Count the ways to cover the free cells of a state; return (count, count, best).

    `stack`: scratch, uint64[cells + 1, FRAME_WORDS]. If the table's status shows a spent budget,
    the result is meaningless.
    """
    depth = -1
    while True:
        rest = pack_sweep(state)
        known, hi, lo, best = _settle(state, rest, sweep, table)
        if not known:
            if tables.spend(table.control, table.clock):
                return hi, lo, best
            depth += 1
            _enter(state, rest, sweep, stack[depth])
        elif depth >= 0:
            _credit(hi, lo, best, sweep, table, stack[depth])
        code: Int = np.int64(1)
        while code:
            if depth < 0:
                return hi, lo, best
            frame = stack[depth]
            covered = frame[F_COVERED]
            p = np.int64(frame[F_NEXT])
            stop = sweep.at[np.int64(frame[F_FIRST]) + 1]
            while p < stop and sweep.tried[p] & covered:
                p += 1
            frame[F_NEXT] = np.uint64(p + 1)
            if p < stop:
                code, state = place(p, _state_of(frame), sweep, pool)
                if code == -2:
                    table.control[tables.STATUS] = FIXED_TABLE_FULL
                    return hi, lo, best
                continue
            hi, lo, best = frame[F_HI], frame[F_LO], np.int64(frame[F_BEST])
            tables.keep(covered, frame[F_CLOSED], frame[F_REST], hi, lo, best, table)
            depth -= 1
            if depth >= 0:
                _credit(hi, lo, best, sweep, table, stack[depth])


@search_kernel
def sweep_children(state: SweepState, sweep: Sweep, table: Table, pool: Pool, out: U64) -> Int:
    """List the states after each piece that fits on the first free cell, in canonical order.

    Rows of `out` (uint64[pieces, 8]): piece, first, covered, closed, several, n, flag, ban.
    """
    count = 0
    for p in range(sweep.at[state.first], sweep.at[state.first + 1]):
        code, after = place(p, state, sweep, pool)
        if code == 1:
            continue
        if code:
            table.control[tables.STATUS] = FIXED_TABLE_FULL
            return 0
        out[count, 0] = np.uint64(p)
        out[count, 1] = np.uint64(after.first)
        out[count, 2] = after.covered
        out[count, 3] = after.closed
        out[count, 4] = np.uint64(after.several)
        out[count, 5] = np.uint64(after.n)
        out[count, 6] = np.uint64(after.flag)
        out[count, 7] = np.uint64(after.ban)
        count += 1
    return count

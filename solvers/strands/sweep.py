"""Cover a board cell by cell, row by row: any number of words, boards of any length.

The first free cell is always covered next, so what is covered is all before it and a window of
64 cells from it on; a state is that window, the blocks closed, and what the rules ask to
remember. Boards of any number of rows work, as long as no word reaches beyond the window.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.bits import popcount, trailing_zeros
from solvers.compiling import kernel
from solvers.strands.blocks import combine, intern
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
from solvers.wide import add

ANY = 255
"""Number of words left where any will do."""
WINDOW = 64
PLAIN, SPANNING, COMPOUND = range(3)
"""Kinds of pieces: a word, a word that touches two opposite sides, a compound."""
REQUIRED, ONE, OFF = range(3)
SWEEP_WORD, SWEEP_SCORE, SWEEP_TWIN, SWEEP_KIND = range(4)
SWEEP_FIELDS = 4
CELLS_IN_ALL, WIDTH, LEAST, AGAIN, RULE, SLANTED = range(6)
SWEEP_GEOMETRY = 6

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Sweep(NamedTuple):
    """All pieces sorted by lowest cell, with masks relative to it."""

    cells: npt.NDArray[np.uint64]
    fields: npt.NDArray[np.int64]
    """int64[pieces, SWEEP_FIELDS]: number of the word, score, whether the word has other cells to
    stand on, kind."""
    block_offsets: npt.NDArray[np.int64]
    blocks: npt.NDArray[np.uint64]
    at: npt.NDArray[np.int64]
    """Pieces at[f]:at[f + 1] have cell f as their lowest."""
    low: npt.NDArray[np.int64]
    word_offsets: npt.NDArray[np.int64]
    word_pieces: npt.NDArray[np.int64]
    geometry: npt.NDArray[np.int64]
    edges: npt.NDArray[np.uint64]
    """The left and the right column of a board of at most 64 cells."""


@kernel
def pack_sweep(first: int, n: int, flag: int, several: bool, ban: int) -> np.uint64:
    """Pack the rest of a state into one word."""
    return (
        np.uint64(n)
        | (np.uint64(several) << np.uint64(8))
        | (np.uint64(flag) << np.uint64(9))
        | (np.uint64(first) << np.uint64(11))
        | (np.uint64(ban) << np.uint64(32))
    )


@kernel
def _open_from(covered: np.uint64, columns: int) -> np.uint64:
    # Blocks with both cells of a diagonal free; cells beyond the window are free.
    c = np.uint64(columns)
    if columns >= WINDOW - 1:
        return _ZERO
    free = ~covered
    return (free & (free << (c + _ONE))) | ((free << _ONE) & (free << c))


@kernel
def _fits_later(p: int, first: int, covered: np.uint64, sweep: Any) -> bool:
    ahead = sweep.low[p] - first
    if ahead < 0:
        return False
    if ahead >= WINDOW:
        return True
    return not (covered & (sweep.cells[p] << np.uint64(ahead)))


@kernel
def _ban_after(ban: int, word: Any, first: int, covered: np.uint64, sweep: Any, pool: Any) -> int:
    scratch = pool.scratch
    count = 0
    placed = word < 0
    i, last = pool.offsets[ban], pool.offsets[ban + 1]
    while i < last or not placed:
        if placed or (i < last and pool.sets[i] < np.uint64(word)):
            candidate = np.int64(pool.sets[i])
            i += 1
        else:
            candidate = word
            placed = True
        for j in range(sweep.word_offsets[candidate], sweep.word_offsets[candidate + 1]):
            if _fits_later(sweep.word_pieces[j], first, covered, sweep):
                if count == len(scratch):
                    return -1
                scratch[count] = np.uint64(candidate)
                count += 1
                break
    if count == 0:
        return 0
    return intern(scratch, count, pool)


@kernel
def _has_small_pocket(first: int, covered: np.uint64, sweep: Any) -> bool:
    # Only boards that one mask holds are looked at: it saves time, nothing else.
    cells, least = sweep.geometry[CELLS_IN_ALL], sweep.geometry[LEAST]
    if cells > WINDOW or least == 1:
        return False
    left = ~covered << np.uint64(first)
    if cells < WINDOW:
        left &= (_ONE << np.uint64(cells)) - _ONE
    columns = np.uint64(min(sweep.geometry[WIDTH], 63))
    not_left, not_right = ~sweep.edges[0], ~sweep.edges[1]
    slanted = sweep.geometry[SLANTED] != 0
    while left:
        zone = left & (~left + _ONE)
        while True:
            wide = zone | ((zone & not_right) << _ONE) | ((zone & not_left) >> _ONE)
            high = wide if slanted else zone
            grown = (wide | (high << columns) | (high >> columns)) & left
            if grown == zone:
                break
            zone = grown
        if popcount(zone) < least:
            return True
        left &= ~zone
    return False


@kernel
def place(
    p: int, first: int, covered: np.uint64, closed: np.uint64, several: bool, flag: int, ban: int,
    sweep: Any, pool: Any,
) -> tuple[int, int, np.uint64, np.uint64, bool, int, int]:  # fmt: skip
    """Put piece p on the first free cell.

    Returns (code, first, covered, closed, several, flag, ban) of the state after it; code 0 if it
    fits, 1 if not, -2 without room for another set.
    """
    none = (1, first, covered, closed, several, flag, ban)
    cells = sweep.cells[p]
    if cells & covered:
        return none
    kind = sweep.fields[p, SWEEP_KIND]
    rule = sweep.geometry[RULE]
    if kind == COMPOUND and flag == COMPOUND:
        return none
    if rule == ONE and kind != PLAIN and flag != PLAIN:  # noqa: PLR1714  plain for the compiler
        return none
    if ban:
        word = np.uint64(sweep.fields[p, SWEEP_WORD])
        for i in range(pool.offsets[ban], pool.offsets[ban + 1]):
            if pool.sets[i] == word:
                return none
    code, now_closed, now_several = combine(
        closed, several, sweep.blocks, sweep.block_offsets[p], sweep.block_offsets[p + 1], _ZERO,
        _ZERO, _open_from(covered | cells, sweep.geometry[WIDTH]), pool,
    )  # fmt: skip
    if code:
        return (1 if code == -1 else code), first, covered, closed, several, flag, ban
    now = covered | cells
    step = trailing_zeros(~now)
    now_first = first + step
    if step >= WINDOW:
        now = _ZERO
    else:
        now >>= np.uint64(step)
    if now_several:
        # The alternatives move along with the window.
        if step:
            now_closed, now_several, code = _shift_sets(now_closed, step, pool)
    elif step >= WINDOW:
        now_closed = _ZERO
    else:
        now_closed >>= np.uint64(step)
    now_ban: Any = 0
    if code == 0 and (ban or sweep.fields[p, SWEEP_TWIN]):
        word_no = sweep.fields[p, SWEEP_WORD] if sweep.fields[p, SWEEP_TWIN] else np.int64(-1)
        now_ban = _ban_after(ban, word_no, now_first, now, sweep, pool)
        if now_ban < 0:
            code = -2
    return code, now_first, now, now_closed, now_several, max(flag, kind), now_ban


@kernel
def _shift_sets(closed: np.uint64, step: int, pool: Any) -> tuple[np.uint64, bool, int]:
    start, stop = pool.offsets[closed], pool.offsets[closed + _ONE]
    scratch = pool.scratch
    count = stop - start
    for i in range(count):
        scratch[i] = _ZERO if step >= WINDOW else pool.sets[start + i] >> np.uint64(step)
    # Blocks behind the window were dropped before, so distinct sets stay distinct.
    number = intern(scratch, count, pool)
    if number < 0:
        return closed, True, -2
    return np.uint64(number), True, 0


@kernel
def sweep_cover(
    first: int, covered: np.uint64, closed: np.uint64, several: bool, n: int, flag: int, ban: int,
    sweep: Any, table: Any, pool: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Count the ways to cover everything from cell `first` on; return (count, count, best).

    n: pieces left, or ANY. A budget that runs out shows in the table's status, and then the answer
    means nothing.
    """
    dead = (_ZERO, _ZERO, np.int64(DEAD))
    cells = sweep.geometry[CELLS_IN_ALL]
    rule = sweep.geometry[RULE]
    if first >= cells:
        if (n == ANY or n == 0) and (rule == OFF or flag != PLAIN):  # noqa: PLR1714
            return _ZERO, _ONE, np.int64(0)
        return dead
    if n != ANY and (n == 0 or cells - first - popcount(covered) < n * sweep.geometry[LEAST]):
        return dead
    if _has_small_pocket(first, covered, sweep):
        return dead
    rest = pack_sweep(first, n, flag, several, ban)
    row = find(covered, closed, rest, table)
    if row >= 0:
        states = table.states
        return states[row, HI], states[row, LO], np.int64(states[row, BEST])
    if spend(table):
        return dead
    hi, lo, best = dead
    for p in range(sweep.at[first], sweep.at[first + 1]):
        if sweep.cells[p] & covered:
            continue
        code, now_first, now, now_closed, now_several, now_flag, now_ban = place(
            p, first, covered, closed, several, flag, ban, sweep, pool
        )
        if code == 1:
            continue
        if code:
            table.control[STATUS] = TOO_MANY_SETS
            return dead
        after = n if n == ANY else n - 1
        more_hi, more_lo, more_best = sweep_cover(
            now_first, now, now_closed, now_several, after, now_flag, now_ban, sweep, table, pool
        )
        if table.control[STATUS] != OK:
            return dead
        if more_hi | more_lo:
            hi, lo = add(hi, lo, more_hi, more_lo)
            best = max(best, more_best + sweep.fields[p, SWEEP_SCORE])
            if table.control[EXISTS]:
                break
    keep(covered, closed, rest, hi, lo, best, table)
    return hi, lo, best


@kernel
def sweep_children(
    first: int, covered: np.uint64, closed: np.uint64, several: bool, n: int, flag: int, ban: int,
    sweep: Any, table: Any, pool: Any, out: np.ndarray,
) -> int:  # fmt: skip
    """List the states after each piece that fits on the first free cell, in canonical order.

    Rows of `out` (uint64[pieces, 8]): piece, first, covered, closed, several, n, flag, ban.
    """
    count = 0
    for p in range(sweep.at[first], sweep.at[first + 1]):
        code, now_first, now, now_closed, now_several, now_flag, now_ban = place(
            p, first, covered, closed, several, flag, ban, sweep, pool
        )
        if code == 1:
            continue
        if code:
            table.control[STATUS] = TOO_MANY_SETS
            return 0
        out[count, 0] = np.uint64(p)
        out[count, 1] = np.uint64(now_first)
        out[count, 2] = now
        out[count, 3] = now_closed
        out[count, 4] = np.uint64(now_several)
        out[count, 5] = np.uint64(n if n == ANY else n - 1)
        out[count, 6] = np.uint64(now_flag)
        out[count, 7] = np.uint64(now_ban)
        count += 1
    return count

"""Cover a group of cells in the order of its plan: keys as long as the border is wide.

The same search as nightgrid.solvers.strands.sweep.sweep, without its window
(nightgrid.solvers.strands.general.state_keys says what a state remembers).
"""

from __future__ import annotations

import numpy as np

from nightgrid.solvers.kernel.codes import FIXED_TABLE_FULL
from nightgrid.solvers.kernel.compiling import I64, U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.machine import trailing_zeros
from nightgrid.solvers.kernel.wide import add
from nightgrid.solvers.strands.general import plan as plans
from nightgrid.solvers.strands.general import table as record_table
from nightgrid.solvers.strands.general.plan import Plan
from nightgrid.solvers.strands.general.state_keys import (
    F_BANNED,
    F_BANS,
    F_BEST,
    F_CLOSED,
    F_FIRST,
    F_FLAG,
    F_HI,
    F_LAST,
    F_LEFT,
    F_LO,
    F_N,
    F_NEXT,
    F_PIECE,
    F_SETS,
    F_VALUE,
    Frame,
    Scratch,
    ban_words,
    close_blocks,
    fits,
    write_key,
)  # fmt: skip
from nightgrid.solvers.strands.general.table import Records
from nightgrid.solvers.strands.states.table import DEAD, EXISTS, STATUS, spend
from nightgrid.solvers.strands.sweep.sweep import COMPOUND, OFF, ONE, PLAIN

ANY = (1 << 24) - 1
"""Number of words left where any will do."""

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_FULL = ~_ZERO


@inlined_kernel
def first_free(covered: U64, at: Int) -> Int:
    """Find the first free cell from `at` on; cells behind the last are free."""
    w = at >> 6
    free = ~covered[w] & (_FULL << np.uint64(at & 63))
    while not free:
        w += 1
        if w == len(covered):
            return w << 6
        free = ~covered[w]
    return (w << 6) + trailing_zeros(free)


@inlined_kernel
def _flip(p: Int, plan: Plan, covered: U64) -> None:
    for i in range(plan.mask_offsets[p], plan.mask_offsets[p + 1]):
        covered[plan.mask_words[i]] ^= plan.masks[i]


@search_kernel
def _has_lost_cell(p: Int, plan: Plan, covered: U64) -> bool:
    """Return whether nothing fits any more on some cell that shares a piece with piece p."""
    for i in range(plan.near_offsets[p], plan.near_offsets[p + 1]):
        w = plan.near_words[i]
        left = plan.nears[i] & ~covered[w]
        while left:
            cell = (np.int64(w) << 6) + trailing_zeros(left)
            s = np.int64(plan.latest[cell])
            if s < 0 or not fits(s, plan, covered):
                j, stop = plan.on_offsets[cell], plan.on_offsets[cell + 1]
                while j < stop and not fits(np.int64(plan.on[j]), plan, covered):
                    j += 1
                if j == stop:
                    return True
                s = np.int64(plan.on[j])
                plan.latest[cell] = s
            for j in range(plan.mask_offsets[s], plan.mask_offsets[s + 1]):
                if plan.mask_words[j] == w:
                    left &= ~plan.masks[j]
    return False


@inlined_kernel
def _is_allowed(p: Int, frame: Frame, plan: Plan, bans: I64) -> bool:
    kind, rule = plan.fields[p, plans.P_KIND], plan.geometry[plans.RULE]
    if kind == COMPOUND and frame[F_FLAG] == COMPOUND:
        return False
    if rule == ONE and kind != PLAIN and frame[F_FLAG] != PLAIN:
        return False
    for i in range(frame[F_BANS], frame[F_BANS] + frame[F_BANNED]):
        if bans[i] == plan.fields[p, plans.P_WORD]:
            return False
    return True


@search_kernel
def _settle(
    frame: Frame, plan: Plan, scratch: Scratch, records: Records
) -> tuple[bool, np.uint64, np.uint64, Int]:
    """Return whether a state's value is known, and the value; else make a record for it."""
    n, left = frame[F_N], frame[F_LEFT]
    if left == 0:
        rule = plan.geometry[plans.RULE]
        if (n == ANY or n == 0) and (rule == OFF or frame[F_FLAG] != PLAIN):  # noqa: PLR1714
            return True, _ZERO, _ONE, np.int64(0)
        return True, _ZERO, _ZERO, np.int64(DEAD)
    if n != ANY and (left < n * plan.geometry[plans.LEAST] or left > n * plan.geometry[plans.MOST]):
        return True, _ZERO, _ZERO, np.int64(DEAD)
    length = write_key(frame, plan, scratch)
    h = record_table.hash_key(scratch.key, length)
    at = record_table.find_record(scratch.key, length, h, records)
    if at >= 0 and np.int64(records.words[at + 2]) != record_table.PENDING:
        words = records.words
        return True, words[at], words[at + 1], np.int64(words[at + 2])
    if at < 0:
        at = record_table.add_record(scratch.key, length, h, records)
    frame[F_VALUE] = at
    return False, _ZERO, _ZERO, np.int64(DEAD)


@inlined_kernel
def _open(frame: Frame, plan: Plan) -> None:
    frame[F_NEXT] = plan.at[frame[F_FIRST]]
    frame[F_HI], frame[F_LO], frame[F_BEST] = 0, 0, DEAD


@inlined_kernel
def _credit(
    hi: np.uint64, lo: np.uint64, best: Int, p: Int, plan: Plan, records: Records, frame: Frame
) -> None:
    if not hi | lo:
        return
    high, low = add(np.uint64(frame[F_HI]), np.uint64(frame[F_LO]), hi, lo)
    frame[F_HI], frame[F_LO] = np.int64(high), np.int64(low)
    frame[F_BEST] = max(frame[F_BEST], best + plan.fields[p, plans.P_SCORE])
    if records.control[EXISTS]:
        frame[F_NEXT] = plan.at[frame[F_FIRST] + 1]


@search_kernel
def general_cover(
    plan: Plan, scratch: Scratch, records: Records
) -> tuple[np.uint64, np.uint64, Int]:
    """Count the ways to cover what is free in the state of frame 0; return (count, count, best).

    A budget that runs out shows in the status of the control, and then the answer means nothing.
    """
    frames, covered, control = scratch.frames, scratch.covered, records.control
    known, hi, lo, best = _settle(frames[0], plan, scratch, records)
    if known or spend(control, records.clock):
        return hi, lo, best
    _open(frames[0], plan)
    depth = 0
    while depth >= 0:
        frame = frames[depth]
        first = frame[F_FIRST]
        p = frame[F_NEXT]
        if p == plan.at[first + 1]:
            hi, lo, best = np.uint64(frame[F_HI]), np.uint64(frame[F_LO]), frame[F_BEST]
            at = frame[F_VALUE]
            records.words[at], records.words[at + 1] = hi, lo
            records.words[at + 2] = np.uint64(best)
            control[record_table.LOWEST] = min(control[record_table.LOWEST], first)
            depth -= 1
            if depth >= 0:
                _flip(frame[F_PIECE], plan, covered)
                _credit(hi, lo, best, frame[F_PIECE], plan, records, frames[depth])
            continue
        frame[F_NEXT] = p + 1
        if not fits(p, plan, covered) or not _is_allowed(p, frame, plan, scratch.bans):
            continue
        _flip(p, plan, covered)
        new = frames[depth + 1]
        code = _lay(p, frame, new, plan, scratch)
        if code == -2:
            control[STATUS] = FIXED_TABLE_FULL
        known, hi, lo, best = True, _ZERO, _ZERO, np.int64(DEAD)
        if code == 0:
            known, hi, lo, best = _settle(new, plan, scratch, records)
        if control[STATUS] or (not known and spend(control, records.clock)):
            _flip(p, plan, covered)
            break
        if known:
            _flip(p, plan, covered)
            _credit(hi, lo, best, p, plan, records, frame)
            continue
        _open(new, plan)
        depth += 1
    while depth > 0:
        _flip(frames[depth, F_PIECE], plan, covered)
        depth -= 1
    return hi, lo, best


@search_kernel
def _lay(p: Int, frame: Frame, new: Frame, plan: Plan, scratch: Scratch) -> Int:
    """Write the state after piece p, whose cells are covered already; 0, -1: none, -2: no room."""
    if _has_lost_cell(p, plan, scratch.covered):
        return -1
    size = plan.geometry[plans.BLOCK_WORDS]
    new[F_CLOSED] = frame[F_CLOSED] + frame[F_SETS] * size
    new[F_SETS] = 1
    if size:
        new[F_SETS] = close_blocks(p, frame, plan, scratch)
        if new[F_SETS] < 0:
            return new[F_SETS]
    new[F_BANS], new[F_BANNED] = frame[F_BANS] + frame[F_BANNED], 0
    if frame[F_BANNED] or plan.fields[p, plans.P_TWIN]:
        new[F_BANNED] = ban_words(p, frame, plan, scratch)
        if new[F_BANNED] < 0:
            return -2
    new[F_PIECE] = p
    new[F_N] = frame[F_N] if frame[F_N] == ANY else frame[F_N] - 1
    new[F_FLAG] = max(frame[F_FLAG], plan.fields[p, plans.P_KIND])
    new[F_LAST] = max(frame[F_LAST], plan.fields[p, plans.P_LAST])
    new[F_LEFT] = frame[F_LEFT] - plan.fields[p, plans.P_SIZE]
    new[F_FIRST] = first_free(scratch.covered, frame[F_FIRST])
    return 0

"""Cover a group of cells in the order of its plan: keys as long as the border is wide.

The same search as nightgrid.solvers.strands.sweep.sweep, without its window: what is covered
beyond the first free cell is a run of words, what is closed a list of alternatives, and words that
must not come again a list; together they are the key under which a state's value is kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nightgrid.solvers.kernel.codes import FIXED_TABLE_FULL
from nightgrid.solvers.kernel.compiling import I64, U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.machine import trailing_zeros
from nightgrid.solvers.kernel.wide import add
from nightgrid.solvers.strands.general import plan as plans
from nightgrid.solvers.strands.general import table as record_table
from nightgrid.solvers.strands.general.plan import Plan
from nightgrid.solvers.strands.general.table import Records
from nightgrid.solvers.strands.states.table import DEAD, EXISTS, STATUS, spend
from nightgrid.solvers.strands.sweep.sweep import COMPOUND, OFF, ONE, PLAIN

ANY = (1 << 24) - 1
"""Number of words left where any will do."""
F_FIRST, F_NEXT, F_HI, F_LO, F_BEST, F_N, F_FLAG, F_LAST, F_LEFT, F_VALUE, F_PIECE = range(11)
F_CLOSED, F_SETS, F_BANS, F_BANNED = range(11, 15)
FRAME_FIELDS = 15
"""A frame: first free cell, piece to try next, what was found so far, words left, kind of the
spangram so far, last covered cell, free cells, where the state's value stands, the piece laid to
come here, where its alternatives of closed blocks stand and how many, and its banned words."""
ALTERNATIVES_MAX = 256
BANS_MAX = 4096
"""Alternatives and banned words of one state; more are refused, never cut."""

Frame = I64

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_FULL = ~_ZERO


class Scratch(NamedTuple):
    """Where the search writes."""

    covered: U64
    """The cells covered now: as at the start again when the search is over."""
    frames: I64
    """int64[cells + 1, FRAME_FIELDS]."""
    closed: U64
    """Alternatives of closed blocks, frame after frame."""
    bans: I64
    key: U64


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
def _fits(p: Int, plan: Plan, covered: U64) -> bool:
    for i in range(plan.mask_offsets[p], plan.mask_offsets[p + 1]):
        if plan.masks[i] & covered[plan.mask_words[i]]:
            return False
    return True


@inlined_kernel
def _flip(p: Int, plan: Plan, covered: U64) -> None:
    for i in range(plan.mask_offsets[p], plan.mask_offsets[p + 1]):
        covered[plan.mask_words[i]] ^= plan.masks[i]


@search_kernel
def _has_lost_cell(p: Int, plan: Plan, covered: U64) -> bool:
    """Tell whether nothing fits any more on some cell that shares a piece with piece p."""
    for i in range(plan.near_offsets[p], plan.near_offsets[p + 1]):
        w = plan.near_words[i]
        left = plan.nears[i] & ~covered[w]
        while left:
            cell = (np.int64(w) << 6) + trailing_zeros(left)
            s = np.int64(plan.latest[cell])
            if s < 0 or not _fits(s, plan, covered):
                j, stop = plan.on_offsets[cell], plan.on_offsets[cell + 1]
                while j < stop and not _fits(np.int64(plan.on[j]), plan, covered):
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
def _is_free(cell: Int, covered: U64) -> bool:
    return not (covered[cell >> 6] >> np.uint64(cell & 63)) & _ONE


@search_kernel
def _close(p: Int, frame: Frame, plan: Plan, scratch: Scratch) -> Int:
    """Close a piece's blocks: write alternatives behind the frame's; return how many.

    -1: it crosses; -2: no room. Its cells are covered already.
    """
    size = plan.geometry[plans.BLOCK_WORDS]
    closed, covered, corners = scratch.closed, scratch.covered, plan.corners
    before = frame[F_CLOSED]
    start = before + frame[F_SETS] * size
    count: Int = np.int64(0)
    for a in range(frame[F_SETS]):
        for s in range(plan.set_offsets[p], plan.set_offsets[p + 1]):
            if count == ALTERNATIVES_MAX or start + (count + 1) * size > len(closed):
                return -2
            at = start + count * size
            meets = False
            for w in range(size):
                closed[at + w] = closed[before + a * size + w]
            for i in range(plan.block_offsets[s], plan.block_offsets[s + 1]):
                b = np.int64(plan.blocks[i])
                bit = _ONE << np.uint64(b & 63)
                meets |= (closed[at + (b >> 6)] & bit) != _ZERO
                closed[at + (b >> 6)] |= bit
            if meets:
                continue
            for w in range(size):
                rest = closed[at + w]
                while rest:
                    b = (w << 6) + trailing_zeros(rest)
                    if not (
                        _is_free(corners[b, 0], covered) and _is_free(corners[b, 1], covered)
                    ) and not (
                        _is_free(corners[b, 2], covered) and _is_free(corners[b, 3], covered)
                    ):
                        closed[at + w] ^= rest & (~rest + _ONE)
                    rest &= rest - _ONE
            count = _keep_least(closed, start, count, size)
    return count or -1


@search_kernel
def _keep_least(closed: U64, start: Int, count: Int, size: Int) -> Int:
    """Put the row behind `count` ascending ones, none of which holds another, in its place."""
    new = start + count * size
    kept = 0
    # Rows that hold the new one go; where it holds one of them, it goes itself.
    for a in range(count):
        row = start + a * size
        below, above = True, True
        for w in range(size):
            if closed[row + w] & ~closed[new + w]:
                below = False
            if closed[new + w] & ~closed[row + w]:
                above = False
        if below:
            return count
        if not above:
            for w in range(size):
                closed[start + kept * size + w] = closed[row + w]
            kept += 1
    at = start + kept * size
    for w in range(size):
        closed[at + w] = closed[new + w]
    while at > start:
        top = size - 1
        while top >= 0 and closed[at + top] == closed[at - size + top]:
            top -= 1
        if top < 0 or closed[at + top] > closed[at - size + top]:
            break
        for w in range(size):
            closed[at + w], closed[at - size + w] = closed[at - size + w], closed[at + w]
        at -= size
    return kept + 1


@search_kernel
def _ban(p: Int, frame: Frame, plan: Plan, scratch: Scratch) -> Int:
    """Write the words that must not come again behind the frame's; return how many, -2: no room.

    Only words that still fit somewhere are kept.
    """
    bans = scratch.bans
    old, banned = frame[F_BANS], frame[F_BANNED]
    start = old + banned
    word: Int = plan.fields[p, plans.P_WORD] if plan.fields[p, plans.P_TWIN] else np.int64(-1)
    count = 0
    for i in range(banned + 1):
        if i == banned or (word >= 0 and bans[old + i] > word):
            if word >= 0 and _still_fits(word, plan, scratch.covered):
                if start + count >= len(bans):
                    return -2
                bans[start + count] = word
                count += 1
            word = np.int64(-1)
        if i < banned and _still_fits(bans[old + i], plan, scratch.covered):
            if start + count >= len(bans):
                return -2
            bans[start + count] = bans[old + i]
            count += 1
    return count if count <= BANS_MAX else -2


@search_kernel
def _still_fits(word: Int, plan: Plan, covered: U64) -> bool:
    for i in range(plan.word_offsets[word], plan.word_offsets[word + 1]):
        if _fits(plan.word_pieces[i], plan, covered):
            return True
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
def _write_key(frame: Frame, plan: Plan, scratch: Scratch) -> Int:
    key, covered, closed = scratch.key, scratch.covered, scratch.closed
    first = frame[F_FIRST]
    length = 2
    if frame[F_LAST] > first:
        for w in range(first >> 6, (frame[F_LAST] >> 6) + 1):
            key[length] = covered[w]
            length += 1
    words = length - 2
    size = plan.geometry[plans.BLOCK_WORDS]
    low: Any = size
    high: Any = np.int64(0)
    for a in range(frame[F_SETS]):
        for w in range(size):
            if closed[frame[F_CLOSED] + a * size + w]:
                low, high = min(low, w), max(high, w + 1)
    for a in range(frame[F_SETS]):
        for w in range(low, high):
            key[length] = closed[frame[F_CLOSED] + a * size + w]
            length += 1
    for i in range(frame[F_BANS], frame[F_BANS] + frame[F_BANNED]):
        key[length] = np.uint64(scratch.bans[i])
        length += 1
    key[0] = (
        np.uint64(first)
        | (np.uint64(frame[F_N]) << np.uint64(24))
        | (np.uint64(frame[F_FLAG]) << np.uint64(48))
        | (np.uint64(max(0, high - low)) << np.uint64(50))
    )
    # Two words say how to read the rest of a key.
    key[1] = (
        np.uint64(plan.geometry[plans.NUMBER])
        | (np.uint64(words) << np.uint64(20))
        | (np.uint64(frame[F_BANNED]) << np.uint64(36))
        | (np.uint64(low if low < high else 0) << np.uint64(49))
    )
    return length


@search_kernel
def _settle(
    frame: Frame, plan: Plan, scratch: Scratch, records: Records
) -> tuple[bool, np.uint64, np.uint64, Int]:
    """Tell whether a state's value is known, and the value; else make a record for it."""
    n, left = frame[F_N], frame[F_LEFT]
    if left == 0:
        rule = plan.geometry[plans.RULE]
        if (n == ANY or n == 0) and (rule == OFF or frame[F_FLAG] != PLAIN):  # noqa: PLR1714
            return True, _ZERO, _ONE, np.int64(0)
        return True, _ZERO, _ZERO, np.int64(DEAD)
    if n != ANY and (left < n * plan.geometry[plans.LEAST] or left > n * plan.geometry[plans.MOST]):
        return True, _ZERO, _ZERO, np.int64(DEAD)
    length = _write_key(frame, plan, scratch)
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
        if not _fits(p, plan, covered) or not _is_allowed(p, frame, plan, scratch.bans):
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
        new[F_SETS] = _close(p, frame, plan, scratch)
        if new[F_SETS] < 0:
            return new[F_SETS]
    new[F_BANS], new[F_BANNED] = frame[F_BANS] + frame[F_BANNED], 0
    if frame[F_BANNED] or plan.fields[p, plans.P_TWIN]:
        new[F_BANNED] = _ban(p, frame, plan, scratch)
        if new[F_BANNED] < 0:
            return -2
    new[F_PIECE] = p
    new[F_N] = frame[F_N] if frame[F_N] == ANY else frame[F_N] - 1
    new[F_FLAG] = max(frame[F_FLAG], plan.fields[p, plans.P_KIND])
    new[F_LAST] = max(frame[F_LAST], plan.fields[p, plans.P_LAST])
    new[F_LEFT] = frame[F_LEFT] - plan.fields[p, plans.P_SIZE]
    new[F_FIRST] = first_free(scratch.covered, frame[F_FIRST])
    return 0

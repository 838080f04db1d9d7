"""What a state of the general search remembers: closed blocks, banned words, and their key.

What is covered beyond the first free cell is a run of words, what is closed a list of
alternatives, and words that must not come again a list; together they are the key under which a
state's value is kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import I64, U64, Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.machine import trailing_zeros
from nightgrid.solvers.strands.general import plan as plans
from nightgrid.solvers.strands.general.plan import Plan

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
def fits(p: Int, plan: Plan, covered: U64) -> bool:
    """Return whether no cell of piece p is covered."""
    for i in range(plan.mask_offsets[p], plan.mask_offsets[p + 1]):
        if plan.masks[i] & covered[plan.mask_words[i]]:
            return False
    return True


@inlined_kernel
def _is_free(cell: Int, covered: U64) -> bool:
    return not (covered[cell >> 6] >> np.uint64(cell & 63)) & _ONE


@search_kernel
def close_blocks(p: Int, frame: Frame, plan: Plan, scratch: Scratch) -> Int:
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
def ban_words(p: Int, frame: Frame, plan: Plan, scratch: Scratch) -> Int:
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
        if fits(plan.word_pieces[i], plan, covered):
            return True
    return False


@search_kernel
def write_key(frame: Frame, plan: Plan, scratch: Scratch) -> Int:
    """Write the key of a frame's state; return its words."""
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

"""Find the theme words that fit on the remaining cells, and cover these with one or two."""

from __future__ import annotations

import numpy as np

from nightgrid.solvers.kernel.codes import FIXED_TABLE_FULL
from nightgrid.solvers.kernel.compiling import U64, Int, inlined_kernel, inner_kernel, search_kernel
from nightgrid.solvers.kernel.machine import ONE, ZERO, popcount, trailing_zeros
from nightgrid.solvers.strands.states import blocks
from nightgrid.solvers.strands.states.blocks import Pool
from nightgrid.solvers.strands.states.table import DEAD, STATUS
from nightgrid.solvers.strands.zones import board as boards
from nightgrid.solvers.strands.zones.board import Words, ZoneBoard, ZoneSearch, ZoneState

_63 = np.int64(63)
LANES = np.uint64(boards.LANES)


@inlined_kernel
def within(slack: Int, words: Words) -> Int:
    """Count the pieces, sorted by reduced cost, whose reduced cost is at most `slack`."""
    low, high = 0, len(words.cells)
    while low < high:
        middle = (low + high) >> 1
        if words.fields[middle, boards.REDUCED] <= slack:
            low = middle + 1
        else:
            high = middle
    return low


@inner_kernel
def rarest_cell(left: np.uint64, now: Int, size: Int, sets: U64, bitsets: U64) -> Int:
    """Choose the cell that the fewest pieces of row `now` cover; -1 if none covers some cell."""
    cell = np.int64(-1)
    fewest = np.int64(2**62)
    while left:
        c = trailing_zeros(left)
        left &= left - ONE
        count = np.int64(0)
        for i in range(size):
            count += popcount(bitsets[now, boards.FITTING, i] & sets[c, i])
        if count < fewest:
            cell, fewest = c, count
            if fewest == 0:
                return -1
    return cell


@inlined_kernel
def fits_among(masks: U64, start: np.uint64, taken: np.uint64) -> bool:
    """Return whether one of LANES masks from `start` on has none of the cells `taken`."""
    fits = ZERO
    # Without an early exit the processor handles several at once.
    for i in range(boards.LANES):
        fits |= np.uint64(masks[start + np.uint64(i)] & taken == ZERO)
    return bool(fits)


@inlined_kernel
def has_lost_cell(state: ZoneState, words: Words, support: U64) -> bool:
    """Return whether some cell has no word within the state's slack.

    The last word of a cell is tried first (residues, as in AC-3rm), and supports all its cells.
    """
    taken = ~state.left
    sure = ZERO if state.several else state.closed
    masks, lists, dear = words.masks, words.lists, np.uint64(state.slack)
    rest = state.left
    while rest:
        c = trailing_zeros(rest)
        mask = support[c, boards.SUPPORT_CELLS]
        if (
            mask & taken
            or support[c, boards.SUPPORT_REDUCED] > dear
            or support[c, boards.SUPPORT_EVERY_PATH] & sure
        ):
            i, stop = words.offsets[c, 0], boards.end_of_list(c, state.slack, words.offsets)
            while i < stop and not fits_among(masks, i, taken):
                i += LANES
            while i < stop and (masks[i] & taken or lists[i, boards.LIST_EVERY_PATH] & sure):
                i += ONE
            # Only more expensive ones follow.
            if i >= stop or lists[i, boards.LIST_REDUCED] > dear:
                return True
            mask = masks[i]
            support[c, boards.SUPPORT_CELLS] = mask
            support[c, boards.SUPPORT_REDUCED] = lists[i, boards.LIST_REDUCED]
            support[c, boards.SUPPORT_EVERY_PATH] = lists[i, boards.LIST_EVERY_PATH]
        rest &= ~mask
    return False


@inner_kernel
def list_fitting(before: Int, now: Int, state: ZoneState, search: ZoneSearch) -> Int:
    """Write to row `now` which pieces of row `before`, that of an earlier state, a state allows.

    Pieces of a reduced cost beyond its slack, banned words and spangrams of a rank lower than the
    state's are left out. Returns the number of bitset words written. Pieces with several paths, or
    that cross one of several alternatives, may be in it although they no longer fit.
    """
    words, fields, pool = search.words, search.words.fields, search.pool
    bitsets, sets = search.board.bitsets, words.sets
    taken, closed = search.board.frames[before, boards.F_LEFT] & ~state.left, state.closed
    pieces = within(state.slack, words)
    size = (pieces + 63) >> 6
    for i in range(size):
        bitsets[now, boards.FITTING, i] = bitsets[before, boards.FITTING, i]
    if pieces & _63:
        bitsets[now, boards.FITTING, size - 1] &= (ONE << np.uint64(pieces & _63)) - ONE
    while taken:
        c = trailing_zeros(taken)
        taken &= taken - ONE
        for i in range(size):
            bitsets[now, boards.FITTING, i] &= ~sets[c, i]
    if not state.several:
        while closed:
            b = trailing_zeros(closed) + boards.ON_BLOCK
            closed &= closed - ONE
            for i in range(size):
                bitsets[now, boards.FITTING, i] &= ~sets[b, i]
    for i in range(pool.offsets[state.ban], pool.offsets[state.ban + 1]):
        p = np.int64(pool.sets[i])
        while p >= 0:
            if p >> 6 < size:
                bitsets[now, boards.FITTING, p >> 6] &= ~(ONE << np.uint64(p & _63))
            p = fields[p, boards.NEXT_OF_WORD]
    if state.rank:
        for i in range(len(words.spanning)):
            p = words.spanning[i]
            if fields[p, boards.RANK] < state.rank and p >> 6 < size:
                bitsets[now, boards.FITTING, p >> 6] &= ~(ONE << np.uint64(p & _63))
    return size


@inner_kernel
def still_banned(ban: Int, word: Int, left: np.uint64, words: Words, pool: Pool) -> Int:
    """Intern the banned words, and `word` (-1: none), that still fit in `left`; -1 if full."""
    scratch = pool.scratch
    kept: Int = np.int64(0)
    for i in range(blocks.list_bans(ban, word, pool)):
        p = np.int64(scratch[i])
        while p >= 0:
            if not (words.cells[p] & ~left):
                scratch[kept] = scratch[i]
                kept += 1
                break
            p = words.fields[p, boards.NEXT_OF_WORD]
    return blocks.intern_bans(kept, pool)


@inlined_kernel
def place_word(p: Int, state: ZoneState, search: ZoneSearch) -> tuple[Int, ZoneState]:
    """Lay a piece on the remaining cells; return (code, state after it).

    Code 0 if it fits, -1 if it crosses, -2 if there is no room for another set.
    """
    words, fields, pool = search.words, search.words.fields, search.pool
    left = state.left ^ words.cells[p]
    code, closed, several = blocks.combine(
        state.closed, state.several, words.blocks, fields[p, boards.BLOCKS],
        fields[p + 1, boards.BLOCKS],
        blocks.open_blocks(left, search.board.geometry.columns), pool,
    )  # fmt: skip
    ban: Int = np.int64(0)
    if code == 0 and (state.ban or fields[p, boards.TWIN]):
        word = fields[p, boards.WORD] if fields[p, boards.TWIN] else np.int64(-1)
        ban = still_banned(state.ban, word, left, words, pool)
        if ban < 0:
            code = -2
    slack = state.slack - fields[p, boards.REDUCED]
    return code, ZoneState(left, closed, several, state.n - 1, ban, state.rank, slack)


@inner_kernel
def zones_share_words(now: Int, size: Int, count: Int, words: Words, board: ZoneBoard) -> bool:
    """Return whether a word of row `now` fits in two of the `count` zones of the frame `now`."""
    stamps, last = board.stamps, len(board.stamps) - 1
    base = stamps[last]
    stamps[last] = base + count
    for i in range(size):
        bits = board.bitsets[now, boards.FITTING, i] & words.sets[boards.TWINS, i]
        while bits:
            p = (i << 6) + trailing_zeros(bits)
            bits &= bits - ONE
            word = words.fields[p, boards.WORD]
            for z in range(count):
                if words.cells[p] & board.frames[now, boards.F_FIRST_ZONE + z]:
                    if stamps[word] > base and stamps[word] != base + 1 + z:
                        return True
                    stamps[word] = base + 1 + z
                    break
    return False


@inner_kernel
def cover_with_one(state: ZoneState, other: Int, words: Words, pool: Pool) -> tuple[np.uint64, Int]:
    """Count the words on exactly the remaining cells; return (count, best score).

    `other`: a word that must not recur, -1: none.
    """
    closed, ban, fields = state.closed, state.ban, words.fields
    count, best = ZERO, np.int64(DEAD)
    p = boards.first_on(state.left, words)
    while p >= 0:
        q, p = p, fields[p, boards.NEXT_ON_CELLS]
        if closed != ZERO and blocks.crosses(
            closed, state.several, words.blocks, fields[q, boards.BLOCKS],
            fields[q + 1, boards.BLOCKS], pool,
        ):  # fmt: skip
            continue
        word = fields[q, boards.WORD]
        if word == other or 0 <= fields[q, boards.RANK] < state.rank:
            continue
        if ban and blocks.is_banned(word, ban, pool):
            continue
        count += ONE
        best = max(best, fields[q, boards.SCORE])
    return count, best


@inner_kernel
def cover_with_two(
    state: ZoneState, words: Words, board: ZoneBoard, pool: Pool
) -> tuple[Int, np.uint64, Int]:
    """Cover the remaining cells by two words; return (code, count, best score), code -2 if full."""
    left, ban, rank, fields = state.left, state.ban, state.rank, words.fields
    count, best = ZERO, np.int64(DEAD)
    # The cell that the fewest pieces within the slack cover.
    cell, fewest = 0, np.uint64(2**62)
    cells = left
    while cells:
        c = trailing_zeros(cells)
        cells &= cells - ONE
        on_it = boards.end_of_list(c, state.slack, words.offsets) - words.offsets[c, 0]
        if on_it < fewest:
            cell, fewest = c, on_it
    roomy = popcount(left) - board.geometry.min_letters
    start = words.offsets[cell, 0]
    for i in range(start, start + fewest):
        mask = words.masks[i]
        if mask & ~left:
            continue
        if words.lists[i, boards.LIST_REDUCED] > np.uint64(state.slack):
            break
        p = np.int64(words.lists[i, boards.LIST_PIECE])
        rest = left ^ mask
        if popcount(mask) > roomy or boards.first_on(rest, words) < 0:
            continue
        if 0 <= fields[p, boards.RANK] < rank:
            continue
        word = fields[p, boards.WORD]
        if ban and blocks.is_banned(word, ban, pool):
            continue
        code, now_closed, now_several = blocks.combine(
            state.closed, state.several, words.blocks, fields[p, boards.BLOCKS],
            fields[p + 1, boards.BLOCKS], blocks.open_blocks(rest, board.geometry.columns),
            pool,
        )  # fmt: skip
        if code == -1:
            continue
        if code == -2:
            return -2, ZERO, np.int64(DEAD)
        other = np.int64(-1) if board.geometry.repeats else word
        last = ZoneState(rest, now_closed, now_several, np.int64(1), ban, rank, np.int64(0))
        more, value = cover_with_one(last, other, words, pool)
        if more:
            count += more
            best = max(best, value + fields[p, boards.SCORE])
    return 0, count, best


@search_kernel
def zone_children(asked: U64, search: ZoneSearch, out: U64) -> Int:
    """List the states after each word that fits on the next cell of the search.

    The state is row 0 of `asked`.

    Rows of `out` (uint64[pieces, STATE_FIELDS]), in the canonical order of the pieces.
    """
    words, board, state = search.words, search.board, boards.read_state(np.int64(0), asked)
    if state.slack < 0:
        return 0
    root, row = np.int64(0), np.int64(1)
    size = list_fitting(root, row, state, search)
    cell = rarest_cell(state.left, row, size, words.sets, board.bitsets)
    if cell < 0:
        return 0
    count: Int = np.int64(0)
    for p in range(64 * size):
        here = board.bitsets[row, boards.FITTING, p >> 6] & words.sets[cell, p >> 6]
        if not (here >> np.uint64(p & 63)) & ONE:
            continue
        code, after = place_word(p, state, search)
        if code == -1:
            continue
        if code == -2:
            search.table.control[STATUS] = FIXED_TABLE_FULL
            return 0
        boards.write_state(count, p, after, out)
        count += 1
    return count

"""Find compounds on a board: words joined along one path that touches two opposite sides.

Components are found once, as paths, and joined: a component follows another if it begins next to
its last cell, shares no cell with the previous ones, and the total cost
(nightgrid.solvers.strands.score) stays within the limit. The least cost of reaching the missing
sides from a cell is precomputed, so that hardly any join fails to span in the end. The same letters
may be cut into words in several ways; that is one compound, with the best score among its cuts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import I32, I64, U64, Int, inner_kernel, search_kernel
from nightgrid.solvers.kernel.machine import ONE, ZERO, is_stopped
from nightgrid.solvers.strands.pieces import components as col
from nightgrid.solvers.strands.pieces.components import Components
from nightgrid.solvers.strands.pieces.words import (
    ROWS,
    START,
    STEPS,
    STOP_STRIDE,
    WINDOW,
    Grid,
    are_spanning,
    spans,
    twice_the_rows,
)

FIRST_ROWS = 1 << 15
BLOCKS = col.FALLING
"""Column of the blocks in rows of compounds; the others are those of components."""
TOO_MANY, TOO_WIDE, FULL = -1, -2, -3
ANY_SCORE = -(1 << 62)
"""The least score if every compound is written."""
SIDES_SETS = 16
(
    TOUCHED, SPENT, SCORE, LENGTH, LOWEST, HIGHEST, CHOSEN, AT, STOP, SUMS,
) = range(10)  # fmt: skip

_UNREACHED = 1 << 30


class ScoreWeights(NamedTuple):
    """The score of a compound: its components, their phrases, and their number."""

    components: I64
    """int64[words]."""
    phrase_offsets: I32
    """int32[words + 1], as in the lexicon."""
    phrase_second: I32
    """int32[phrases], as in the lexicon."""
    phrases: I64
    """int64[phrases]: added for two components in a row that are a phrase."""
    counts: I64
    """int64: entry n is added to a compound of n components."""


@search_kernel
def phrase_of(first: Int, second: Int, weights: ScoreWeights) -> Int:
    """Look up the score of two consecutive words as a phrase; 0 for none."""
    low, high = weights.phrase_offsets[first], weights.phrase_offsets[first + 1]
    stop = high
    while low < high:
        middle = (low + high) >> 1
        if weights.phrase_second[middle] < second:
            low = middle + 1
        else:
            high = middle
    if low < stop and weights.phrase_second[low] == second:
        return weights.phrases[low]
    return np.int64(0)


class JoinLimits(NamedTuple):
    """Limits of the rules and the solver on compounds."""

    min_letters: int
    components_max: int
    cost_max: int
    crossing: bool
    """Whether words may cross: then blocks are ignored."""
    rows_max: int
    """Rows of compounds."""
    steps_max: int
    """Components that are tried in all."""
    score_min: int
    """Compounds that score less are not written."""


class Board(NamedTuple):
    """The constant data while a board's components are joined."""

    components: Components
    weights: ScoreWeights
    limits: JoinLimits
    bounds: I64
    """int64[cells + 1]: listed[bounds[c]:bounds[c + 1]] are the components that begin next to cell
    c."""
    listed: I32
    need: I64
    """int64[m, cell, sides so far]: see `_needs`."""
    gain: I64
    """int64[m, cell, sides so far]: the most that 1 to m more components add to a score."""
    most: I64
    """int64[components]: the most that each adds to a score."""
    columns: int
    wide: bool
    """Whether a mask cannot hold the whole board."""
    stop: int
    """As that of the grid."""


class Joined(NamedTuple):
    """The components joined so far: entry n is the first n."""

    masks: U64
    """uint64[., 5], as those of components."""
    sums: I64
    """int64[., 9]: sides touched, cost, score, letters, lowest and highest cell, the last
    component, and the place of the next one among its followers, and where these end."""


def _followers(components: Components, near: I32) -> tuple[I64, I32]:
    """List for each cell the components that begin next to it, the cheapest first."""
    beside = near[components.fields[:, col.FIRST]]
    component, _ = np.nonzero(beside >= 0)
    # Neighbours are mutual. 16-bit numbers, as cells are, sort quickly.
    cell = beside[beside >= 0].astype(np.uint16)
    order = np.argsort(cell, kind="stable")
    bounds = np.searchsorted(cell[order], np.arange(len(near) + 1))
    return bounds.astype(np.int64), component[order].astype(np.int32)


def _needs(components: Components, near: I32, more_max: int, costs: I64) -> I64:
    """Find the least cost of 1 to m more components after a cell that reach two sides.

    `costs`: of each component; negative ones may add more. int64[m, cell, sides so far]; cells that
    are used twice are not excluded.
    """
    first, last, sides = (
        components.fields[:, column].astype(np.int64) for column in (col.FIRST, col.LAST, col.SIDES)
    )
    order = np.argsort(first, kind="stable")
    starts = np.flatnonzero(np.diff(first[order], prepend=-1))
    after = (np.arange(SIDES_SETS) | sides[:, None])[order]
    need = np.full((more_max + 1, len(near), SIDES_SETS), _UNREACHED, np.int64)
    spanning = are_spanning(after)
    for m in range(1, more_max + 1):
        rest = need[m - 1, last[order, None], after]
        rest = np.where(spanning, np.minimum(rest, 0), rest)
        # The components on each cell; the last row is for no cell.
        begun = np.full((len(near) + 1, SIDES_SETS), _UNREACHED, np.int64)
        if len(starts):
            begun[first[order][starts]] = np.minimum.reduceat(costs[order, None] + rest, starts)
        need[m] = np.minimum(begun[near].min(axis=1), _UNREACHED)
    return need


def _most(components: Components, weights: ScoreWeights) -> I64:
    """Find the most that each component adds: after the word of its best phrase."""
    word = components.fields[:, col.WORD].astype(np.int64)
    known, own = np.unique(word, return_inverse=True)
    of_known = np.repeat(
        np.isin(np.arange(len(weights.components)), known), np.diff(weights.phrase_offsets)
    )
    phrases = np.flatnonzero(of_known)
    second = weights.phrase_second[phrases]
    at = np.minimum(np.searchsorted(known, second), len(known) - 1)
    bonus = np.zeros(len(known), np.int64)
    np.maximum.at(bonus, at, np.where(known[at] == second, weights.phrases[phrases], 0))
    most: I64 = weights.components[word] + bonus[own]
    return most


@inner_kernel
def _overlap(components: Components, one: Int, other: Int) -> bool:
    """Return whether two components share a cell, on a board of any size."""
    ahead = components.fields[other, col.LOW] - components.fields[one, col.LOW]
    if ahead < 0:
        one, other, ahead = other, one, -ahead
    if ahead >= WINDOW:
        return False
    cells = _from_low(components, one) >> np.uint64(ahead)
    return bool(cells & _from_low(components, other))


@inner_kernel
def _from_low(components: Components, i: Int) -> np.uint64:
    """Return the cells of a component from its lowest on."""
    cells, by = components.masks[i, col.CELLS], np.uint64(components.fields[i, col.LOW] & 63)
    return (cells >> by) | (cells << (-by & np.uint64(63)))


@inner_kernel
def _diagonal(one: Int, other: Int, columns: Int) -> tuple[np.uint64, np.uint64]:
    """Return the block of a step, by its lower right cell, as bits: (falling, rising)."""
    a, b = min(one, other), max(one, other)
    if b - a == columns + 1:
        return ONE << np.uint64(b & 63), ZERO
    if b - a == columns - 1 and a // columns != b // columns:
        return ZERO, ONE << np.uint64((b + 1) & 63)
    return ZERO, ZERO


@inner_kernel
def _blocks(
    cells: np.uint64, falling: np.uint64, rising: np.uint64, low: Int, columns: Int
) -> tuple[np.uint64, np.uint64, bool]:
    """Convert a path's masks to (cells, blocks, whether it fits), from its lowest cell on.

    Blocks are those of nightgrid.solvers.strands.pieces.words.mask_path; the path spans at most
    WINDOW cells.
    """
    by = np.uint64(low & 63)
    back = np.uint64(64 - (low & 63)) & np.uint64(63)
    c = np.uint64(min(columns, 63))
    cells = (cells >> by) | (cells << back)
    falling = (falling >> by) | (falling << back)
    rising = (rising >> by) | (rising << back)
    # The lowest cell is never a block's last: a bit there is beyond the window.
    if rising & ONE and not (cells >> (np.uint64(63) - c)) & ONE:
        return cells, ZERO, False
    open_falling = falling & ~((cells << ONE) | (cells << c))
    open_rising = rising & ~(cells | (cells << c << ONE))
    return cells, open_falling | open_rising, True


@search_kernel
def _join(board: Board, stack: Joined, masks: U64, numbers: I64, begun: I64) -> Int:
    """Write the compounds that begin with one component after the other.

    Returns their number, or a fault. `begun` (int64[3]: START, ROWS, STEPS) has the number of
    components done, and their cost: after FULL, joining continues from there with more rows.
    """
    fields, shapes = board.components.fields, board.components.masks
    bounds, listed, need, limits = board.bounds, board.listed, board.need, board.limits
    component_scores, count_scores = board.weights.components, board.weights.counts
    joined, sums = stack.masks, stack.sums
    steps, found = begun[STEPS], begun[ROWS]
    for first in range(begun[START], len(fields)):
        begun[START], begun[ROWS], begun[STEPS] = first, found, steps
        depth = 0
        sums[0, AT], sums[0, STOP] = first, first + 1
        while depth >= 0:
            at = sums[depth, AT]
            if at == sums[depth, STOP]:
                depth -= 1
                continue
            steps += 1
            if steps > limits.steps_max or (steps % STOP_STRIDE == 0 and is_stopped(board.stop)):
                return TOO_MANY
            i = np.int64(first) if depth == 0 else np.int64(listed[at])
            sums[depth, AT] = at + 1
            spent = sums[depth, SPENT] + fields[i, col.COST]
            if spent > limits.cost_max:
                depth -= 1  # Later ones cost at least as much.
                continue
            if sums[depth, SCORE] + board.most[i] < limits.score_min:
                continue
            if shapes[i, col.CELLS] & joined[depth, col.CELLS]:
                if not board.wide:
                    continue
                overlap = False
                for d in range(1, depth + 1):
                    overlap |= _overlap(board.components, sums[d, CHOSEN], i)
                if overlap:
                    continue
            touched = sums[depth, TOUCHED] | np.int64(fields[i, col.SIDES])
            ends = depth > 0 and spans(touched)
            last = np.int64(fields[i, col.LAST])
            left = limits.components_max - depth - 1
            goes_on = left > 0 and spent + need[left, last, touched] <= limits.cost_max
            letters = np.int64(fields[i, col.LETTERS])
            length = sums[depth, LENGTH] + letters
            if not (ends or goes_on) or length > col.LETTERS_MAX:
                continue
            bits = np.uint64(col.CODE_BITS * letters)
            hi, lo = joined[depth, col.CODE_HI], joined[depth, col.CODE_LO]
            if bits < np.uint64(64):
                hi = (hi << bits) | (lo >> (np.uint64(64) - bits))
                lo = lo << bits
            else:
                hi, lo = lo << (bits - np.uint64(64)), ZERO
            hi |= shapes[i, col.CODE_HI]
            lo |= shapes[i, col.CODE_LO]
            word = np.int64(fields[i, col.WORD])
            value = sums[depth, SCORE] + component_scores[word]
            falling, rising = shapes[i, col.FALLING], shapes[i, col.RISING]
            if depth > 0:
                before = sums[depth, CHOSEN]
                value += phrase_of(np.int64(fields[before, col.WORD]), word, board.weights)
                more_falling, more_rising = _diagonal(
                    np.int64(fields[before, col.LAST]),
                    np.int64(fields[i, col.FIRST]),
                    board.columns,
                )
                falling |= joined[depth, col.FALLING] | more_falling
                rising |= joined[depth, col.RISING] | more_rising
            cells = shapes[i, col.CELLS] | joined[depth, col.CELLS]
            lowest = min(sums[depth, LOWEST], np.int64(fields[i, col.LOW]))
            highest = max(sums[depth, HIGHEST], np.int64(fields[i, col.HIGH]))
            if (
                ends
                and length >= limits.min_letters
                and value + count_scores[depth + 1] >= limits.score_min
            ):
                if highest - lowest >= WINDOW:
                    return TOO_WIDE
                shape, blocks, fits = _blocks(cells, falling, rising, lowest, board.columns)
                if not fits:
                    return TOO_WIDE
                if found == len(masks):
                    return FULL
                masks[found, col.CELLS] = shape
                masks[found, BLOCKS] = ZERO if limits.crossing else blocks
                masks[found, col.CODE_HI] = hi
                masks[found, col.CODE_LO] = lo
                numbers[found, 0] = lowest
                numbers[found, 1] = value + count_scores[depth + 1]
                found += 1
            if goes_on and value + board.gain[left, last, touched] >= limits.score_min:
                depth += 1
                joined[depth, col.CELLS] = cells
                joined[depth, col.FALLING], joined[depth, col.RISING] = falling, rising
                joined[depth, col.CODE_HI], joined[depth, col.CODE_LO] = hi, lo
                sums[depth, TOUCHED], sums[depth, SPENT] = touched, spent
                sums[depth, SCORE], sums[depth, LENGTH] = value, length
                sums[depth, LOWEST], sums[depth, HIGHEST] = lowest, highest
                sums[depth, CHOSEN] = i
                sums[depth, AT], sums[depth, STOP] = bounds[last], bounds[last + 1]
    return found


def join_components(
    components: Components, weights: ScoreWeights, grid: Grid, limits: JoinLimits
) -> tuple[Int, U64, I64]:
    """Join components in every way that spans, from 2 on.

    Returns (n, masks, numbers): row i of `masks` (uint64[., 5]) is cells, blocks and the letters'
    126-bit code (columns CELLS, BLOCKS, CODE_HI, CODE_LO), of `numbers` (int64[., 2]) lowest cell
    and score; every cut of the letters on every path is a row. n is TOO_MANY beyond the limit of
    steps, FULL beyond that of rows, which are then all in use, and TOO_WIDE if one spans more cells
    than a mask holds.
    """
    if limits.score_min == ANY_SCORE:
        # No compound is left out by score, so bounds would prune nothing.
        most = np.zeros(len(components.fields), np.int64)
        gain = np.zeros((limits.components_max, len(grid.near), SIDES_SETS), np.int64)
    else:
        most = _most(components, weights)
        gain = -_needs(components, grid.near, limits.components_max - 1, -most)
        # m more are left to a compound with all others.
        counts = weights.counts[limits.components_max : 1 : -1]
        gain[1:] += np.maximum.accumulate(counts)[:, None, None]
    costs = components.fields[:, col.COST].astype(np.int64)
    bounds, listed = _followers(components, grid.near)
    cells = grid.rows * grid.columns
    board = Board(
        components=components,
        weights=weights,
        limits=limits,
        bounds=bounds,
        listed=listed,
        need=_needs(components, grid.near, limits.components_max - 1, costs),
        gain=gain,
        most=most + weights.counts.max(),
        columns=grid.columns,
        wide=cells > WINDOW,
        stop=grid.stop,
    )
    depths = limits.components_max + 1
    stack = Joined(np.zeros((depths, 5), np.uint64), np.zeros((depths, SUMS), np.int64))
    stack.masks[0, col.CODE_LO] = 1  # A leading one distinguishes codes of different lengths.
    stack.sums[0, LOWEST] = cells
    rows = min(FIRST_ROWS, limits.rows_max)
    masks, numbers = np.empty((rows, 5), np.uint64), np.empty((rows, 2), np.int64)
    begun = np.zeros(3, np.int64)
    while True:
        found = _join(board, stack, masks, numbers, begun)
        if found != FULL or 2 * len(masks) > limits.rows_max:
            return found, masks, numbers
        masks, numbers = twice_the_rows(masks, numbers)

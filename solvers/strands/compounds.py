"""Find compounds on a board: words run together along one path that touches two opposite sides.

Components are found once, as paths, and joined: a component follows another when it begins beside
its last cell, shares no cell with what is before it, and the costs together
(solvers.lexicon.components) stay within the limit. Of what may still follow a cell, the least cost
that reaches the missing sides is known beforehand, so that hardly anything is joined that does not
span in the end. The same letters may be cut into words in several ways; that is one compound, with
the best score among its cuts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from solvers.compiling import kernel, search_kernel
from solvers.strands.component_paths import (
    CELLS,
    CODE_BITS,
    CODE_HI,
    CODE_LO,
    COST,
    FALLING,
    FIRST,
    HIGH,
    LAST,
    LETTERS,
    LETTERS_MAX,
    LOW,
    RISING,
    SIDES,
    WORD,
    Components,
    diagonal,
    longer,
)
from solvers.strands.compound_scores import (
    ScoreWeights,
    hash_codes,
    hash_phrases,
    hash_slot,
    is_known,
    phrase_score,
)
from solvers.strands.words import WINDOW, spans

FIRST_ROWS = 1 << 15
TOO_MANY, TOO_WIDE, FULL = -1, -2, -3
SIDES_SETS = 16
TOUCHED, SPENT, SCORE, LENGTH, LOWEST, HIGHEST = range(6)
BLOCKS = FALLING
"""Column of the blocks in rows of compounds; the others are those of components."""

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_MIX_2 = np.uint64(0xBF58476D1CE4E5B9)
_UNREACHED = 1 << 30


class Board(NamedTuple):
    """What does not change while a board's components are joined."""

    components: Components
    weights: ScoreWeights
    bounds: np.ndarray
    """int64[cells + 1]: listed[bounds[c]:bounds[c + 1]] are the components that begin
    beside cell c."""
    listed: np.ndarray
    need: np.ndarray
    """int64[m, cell, sides so far]: see `_needs`."""
    row_of: np.ndarray
    spelled: np.ndarray
    phrase_keys: np.ndarray
    phrase_scores: np.ndarray
    columns: int
    wide: bool
    """Whether a mask cannot hold the whole board."""
    crossing: bool
    min_letters: int
    components_max: int
    cost_max: int
    steps_max: int


class Joined(NamedTuple):
    """What has been joined so far: entry n is the first n components."""

    at: np.ndarray
    """int64: where in the followers the next component comes from."""
    stop: np.ndarray
    chosen: np.ndarray
    """int64: the last component."""
    masks: np.ndarray
    """uint64[., 5], as those of components."""
    sums: np.ndarray
    """int64[., 6]: sides touched, cost, score, letters, lowest and highest cell."""
    steps: np.ndarray
    """int64[1]: components that were tried."""


@search_kernel
def _row_slot(masks: np.ndarray, row: int, low: int, size: int) -> Any:
    mixed = masks[row, CELLS] ^ (masks[row, BLOCKS] * _MIX_2)
    return hash_slot(mixed, low, masks[row, CODE_HI], masks[row, CODE_LO], size)


@kernel
def _followers(components: Components, near: np.ndarray) -> Any:
    """List for each cell the components that begin beside it, the cheapest first."""
    cells, fields = len(near), components.fields
    bounds = np.zeros(cells + 1, np.int64)
    for i in range(len(fields)):
        for k in range(8):
            to = near[fields[i, FIRST], k]
            if to < 0:
                break
            bounds[to + 1] += 1
    for cell in range(cells):
        bounds[cell + 1] += bounds[cell]
    ends = bounds[:-1].copy()
    listed = np.empty(bounds[cells], np.int32)
    for i in range(len(fields)):
        # Beside is mutual.
        for k in range(8):
            to = near[fields[i, FIRST], k]
            if to < 0:
                break
            listed[ends[to]] = i
            ends[to] += 1
    return bounds, listed


@kernel
def _needs(
    components: Components, bounds: np.ndarray, listed: np.ndarray, more_max: int
) -> np.ndarray:
    """Find what 1 to m more components after a cell cost at least if they are to reach two sides.

    int64[m, cell, sides so far]; cells that are used twice are not minded.
    """
    cells, fields = len(bounds) - 1, components.fields
    need = np.full((more_max + 1, cells, SIDES_SETS), _UNREACHED, np.int64)
    for m in range(1, more_max + 1):
        for cell in range(cells):
            for k in range(bounds[cell], bounds[cell + 1]):
                i = listed[k]
                cost, last, sides = fields[i, COST], fields[i, LAST], fields[i, SIDES]
                for before in range(SIDES_SETS):
                    after = before | sides
                    rest = np.int64(0) if spans(after) else need[m - 1, last, after]
                    need[m, cell, before] = min(need[m, cell, before], cost + rest)
    return need


@search_kernel
def _overlap(fields: np.ndarray, paths: np.ndarray, one: int, other: int) -> bool:
    """Tell whether two components share a cell, on a board of any size."""
    for i in range(fields[one, LETTERS]):
        for j in range(fields[other, LETTERS]):
            if paths[one, i] == paths[other, j]:
                return True
    return False


@search_kernel
def _blocks(
    cells: np.uint64, falling: np.uint64, rising: np.uint64, low: int, columns: int
) -> tuple[np.uint64, np.uint64, bool]:
    """Turn a path's masks into (cells, blocks, whether it fits), from its lowest cell on.

    Blocks are those of solvers.strands.words.mask_path; the path spans at most WINDOW cells.
    """
    by = np.uint64(low & 63)
    back = np.uint64(64 - (low & 63)) & np.uint64(63)
    c = np.uint64(min(columns, 63))
    cells = (cells >> by) | (cells << back)
    falling = (falling >> by) | (falling << back)
    rising = (rising >> by) | (rising << back)
    # The lowest cell is no block's last: what stands there is one beyond the window.
    if rising & _ONE and not (cells >> (np.uint64(63) - c)) & _ONE:
        return cells, _ZERO, False
    open_falling = falling & ~((cells << _ONE) | (cells << c))
    open_rising = rising & ~(cells | (cells << c << _ONE))
    return cells, open_falling | open_rising, True


@search_kernel
def _join_from(
    first: int, board: Board, stack: Joined, rows: np.ndarray, numbers: np.ndarray,
    index: np.ndarray, found: int,
) -> int:  # fmt: skip
    """Write the compounds that begin with one component; return their number, or what is wrong."""
    fields, shapes, paths = board.components.fields, board.components.masks, board.components.paths
    bounds, listed, need, row_of = board.bounds, board.listed, board.need, board.row_of
    spelled, keys, phrases = board.spelled, board.phrase_keys, board.phrase_scores
    component_scores, count_scores = board.weights.components, board.weights.counts
    columns, wide, crossing = board.columns, board.wide, board.crossing
    min_letters, components_max, cost_max = board.min_letters, board.components_max, board.cost_max
    at, stop, chosen = stack.at, stack.stop, stack.chosen
    joined, sums = stack.masks, stack.sums
    vocabulary = len(component_scores)
    depth = 0
    at[0], stop[0] = first, first + 1
    while depth >= 0:
        if at[depth] == stop[depth]:
            depth -= 1
            continue
        stack.steps[0] += 1
        if stack.steps[0] > board.steps_max:
            return TOO_MANY
        i = first if depth == 0 else np.int64(listed[at[depth]])
        at[depth] += 1
        spent = sums[depth, SPENT] + fields[i, COST]
        if spent > cost_max:
            depth -= 1  # The others cost no less.
            continue
        if shapes[i, CELLS] & joined[depth, CELLS]:
            if not wide:
                continue
            overlap = False
            for d in range(1, depth + 1):
                overlap |= _overlap(fields, paths, chosen[d], int(i))
            if overlap:
                continue
        touched = sums[depth, TOUCHED] | np.int64(fields[i, SIDES])
        ends = depth > 0 and spans(touched)
        last = fields[i, LAST]
        left = components_max - depth - 1
        goes_on = left > 0 and spent + need[left, last, touched] <= cost_max
        length = sums[depth, LENGTH] + fields[i, LETTERS]
        if not (ends or goes_on) or length > LETTERS_MAX:
            continue
        bits = np.uint64(CODE_BITS * fields[i, LETTERS])
        hi, lo = joined[depth, CODE_HI], joined[depth, CODE_LO]
        if bits < np.uint64(64):
            hi = (hi << bits) | (lo >> (np.uint64(64) - bits))
            lo = lo << bits
        else:
            hi, lo = lo << (bits - np.uint64(64)), _ZERO
        hi |= shapes[i, CODE_HI]
        lo |= shapes[i, CODE_LO]
        value = sums[depth, SCORE] + component_scores[fields[i, WORD]]
        falling, rising = shapes[i, FALLING], shapes[i, RISING]
        if depth > 0:
            before = chosen[depth]
            value += phrase_score(fields[before, WORD], fields[i, WORD], vocabulary, keys, phrases)
            more_falling, more_rising = diagonal(
                fields[before, LAST], fields[i, FIRST], columns, row_of
            )
            falling |= joined[depth, FALLING] | more_falling
            rising |= joined[depth, RISING] | more_rising
        cells = shapes[i, CELLS] | joined[depth, CELLS]
        lowest, highest = (
            min(sums[depth, LOWEST], fields[i, LOW]),
            max(sums[depth, HIGHEST], fields[i, HIGH]),
        )
        if ends and length >= min_letters and not is_known(hi, lo, spelled):
            if highest - lowest >= WINDOW:
                return TOO_WIDE
            shape, blocks, fits = _blocks(cells, falling, rising, lowest, columns)
            if not fits:
                return TOO_WIDE
            if found == len(rows):
                return FULL
            rows[found, CELLS] = shape
            rows[found, BLOCKS] = _ZERO if crossing else blocks
            rows[found, CODE_HI] = hi
            rows[found, CODE_LO] = lo
            numbers[found, 0] = lowest
            numbers[found, 1] = value + count_scores[depth + 1]
            slot = _row_slot(rows, found, lowest, len(index))
            while index[slot] >= 0:
                row = index[slot]
                if (
                    rows[row, CELLS] == shape
                    and rows[row, CODE_LO] == lo
                    and rows[row, CODE_HI] == hi
                    and rows[row, BLOCKS] == rows[found, BLOCKS]
                    and numbers[row, 0] == lowest
                ):
                    numbers[row, 1] = max(numbers[row, 1], numbers[found, 1])
                    break
                slot = (slot + 1) & (len(index) - 1)
            else:
                index[slot] = found
                found += 1
        if goes_on:
            depth += 1
            chosen[depth] = i
            joined[depth, CELLS] = cells
            joined[depth, FALLING] = falling
            joined[depth, RISING] = rising
            joined[depth, CODE_HI] = hi
            joined[depth, CODE_LO] = lo
            sums[depth, TOUCHED] = touched
            sums[depth, SPENT] = spent
            sums[depth, SCORE] = value
            sums[depth, LENGTH] = length
            sums[depth, LOWEST], sums[depth, HIGHEST] = lowest, highest
            at[depth], stop[depth] = bounds[last], bounds[last + 1]
    return found


@kernel
def join_components(
    components: Components, weights: ScoreWeights, words: np.ndarray, near: np.ndarray, rows: int,
    columns: int,
    min_letters: int, components_max: int, cost_max: int, crossing: bool, rows_max: int,
    steps_max: int,
) -> Any:  # fmt: skip
    """Join 2 to `components_max` components in all ways that span and that spell none of `words`.

    `words` are codes (uint64[n, 2]). Returns (n, masks, numbers): row i of `masks` (uint64[., 5])
    is cells, blocks and the letters' 126-bit code (columns CELLS, BLOCKS, CODE_HI, CODE_LO), of
    `numbers` (int64[., 2]) lowest cell and score. Rows with equal masks and cell are one; of a
    compound on the same cells there is one row for each set of blocks. n is TOO_MANY beyond
    `rows_max` rows or `steps_max` joints tried, TOO_WIDE where one spans more cells than a mask
    holds.
    """
    bounds, listed = _followers(components, near)
    phrase_keys, phrase_scores = hash_phrases(components, weights)
    board = Board(
        components=components,
        weights=weights,
        bounds=bounds,
        listed=listed,
        need=_needs(components, bounds, listed, components_max - 1),
        row_of=np.arange(rows * columns) // columns,
        spelled=hash_codes(words),
        phrase_keys=phrase_keys,
        phrase_scores=phrase_scores,
        columns=columns,
        wide=rows * columns > WINDOW,
        crossing=crossing,
        min_letters=min_letters,
        components_max=components_max,
        cost_max=cost_max,
        steps_max=steps_max,
    )
    stack = Joined(
        at=np.zeros(components_max + 1, np.int64),
        stop=np.zeros(components_max + 1, np.int64),
        chosen=np.zeros(components_max + 1, np.int64),
        masks=np.zeros((components_max + 1, 5), np.uint64),
        sums=np.zeros((components_max + 1, 6), np.int64),
        steps=np.zeros(1, np.int64),
    )
    stack.masks[0, CODE_LO] = 1  # A leading one tells codes of different lengths apart.
    stack.sums[0, LOWEST] = rows * columns
    room = min(FIRST_ROWS, rows_max)
    masks, numbers = np.empty((room, 5), np.uint64), np.empty((room, 2), np.int64)
    index = np.full(4 * FIRST_ROWS, -1, np.int32)
    found = 0
    for first in range(len(components.fields)):
        while True:
            now = _join_from(first, board, stack, masks, numbers, index, found)
            if now in (TOO_WIDE, TOO_MANY):
                return now, masks, numbers
            if now == FULL and 2 * len(masks) > rows_max:
                return TOO_MANY, masks, numbers
            if now != FULL:
                found = now
                break
            # Begin with this component anew: what it has given so far is found to be known.
            found = len(masks)
            masks, numbers = longer(masks), longer(numbers)
            index = np.full(4 * len(masks), -1, np.int32)
            for row in range(found):
                slot = _row_slot(masks, row, numbers[row, 0], len(index))
                while index[slot] >= 0:
                    slot = (slot + 1) & (len(index) - 1)
                index[slot] = row
    return found, masks, numbers

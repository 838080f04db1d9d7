"""Find every path over a board whose letters are worth a floor or more.

A path is cut if its worth so far, plus the most that any walk from there could add, stays below the
floor. That bound is computed for each three cells in a row, each set of touched sides, and each
number of letters to come; its walk may revisit cells of the path before these three, so it is at
least what any path adds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nightgrid.solvers.kernel.compiling import I32, I64, U64, Int, kernel, search_kernel
from nightgrid.solvers.kernel.machine import is_stopped
from nightgrid.solvers.strands.pieces import components as col
from nightgrid.solvers.strands.pieces import words as word_paths
from nightgrid.solvers.strands.pieces.compounds import BLOCKS
from nightgrid.solvers.strands.pieces.words import NO_LETTER, STOP_STRIDE, Grid, longer, spans

SIDES_SETS = 16
NEIGHBOURS = 8
KNOWN = 3
"""Cells at the end of a path that determine the price of the next letter."""
NEVER = -(1 << 30)
"""The gain of a walk that cannot end."""
FIRST_ROWS = 1 << 13
TOO_MANY, FULL = -1, -2


class StripLimits(NamedTuple):
    """Limits of strips."""

    letters_min: int
    letters_max: int
    floor: int
    """Strips that are worth less are left out."""
    rows_max: int
    steps_max: int
    crossing: bool
    """As in JoinLimits."""


@search_kernel
def _sides(cell: Int, grid: Grid) -> Int:
    """Return the sides that a cell touches."""
    row, column = cell // grid.columns, cell % grid.columns
    sides = np.int64(0)
    if row == 0:
        sides |= word_paths.TOP
    if row == grid.rows - 1:
        sides |= word_paths.BOTTOM
    if column == 0:
        sides |= word_paths.LEFT
    if column == grid.columns - 1:
        sides |= word_paths.RIGHT
    return sides


@kernel
def most_to_come(prices: I32, grid: Grid, letters_more: Int) -> I32:
    """Find the most that up to so many letters and the end can add: int32[more, state, sides].

    A state is three cells in a row, (first * 8 + a) * 8 + b: the a-th neighbour of the first is the
    second, and the b-th of that the third. `sides` are those that the three and what is before them
    touch. NEVER if no walk ends between two opposite sides.
    """
    cells, near, board = grid.rows * grid.columns, grid.near, grid.letters
    most = np.full((letters_more + 1, cells * NEIGHBOURS * NEIGHBOURS, SIDES_SETS), NEVER, np.int32)
    for more in range(letters_more + 1):
        for first in range(cells):
            for a in range(NEIGHBOURS):
                second = np.int64(near[first, a])
                if second < 0:
                    break
                for b in range(NEIGHBOURS):
                    third = np.int64(near[second, b])
                    if third < 0:
                        break
                    if (
                        third != first
                        and board[first] != NO_LETTER
                        and board[second] != NO_LETTER
                        and board[third] != NO_LETTER
                    ):
                        _go_on(most, more, (first, second, third), a * NEIGHBOURS + b, prices, grid)
    return most


@search_kernel
def _go_on(
    most: I32, more: Int, last: tuple[Int, Int, Int], way: Int, prices: I32, grid: Grid
) -> None:
    """Fill in what three cells can add: the end, or a letter and the bound for fewer letters."""
    first, second, third = last
    board = grid.letters
    own = most[more, first * NEIGHBOURS * NEIGHBOURS + way]
    after = prices[board[first], board[second], board[third]]
    for sides in range(SIDES_SETS):
        if spans(sides):
            own[sides] = after[len(after) - 1]
    if more == 0:
        return
    next_state = (second * NEIGHBOURS + way % NEIGHBOURS) * NEIGHBOURS
    for c in range(NEIGHBOURS):
        to = np.int64(grid.near[third, c])
        if to < 0:
            break
        if to == first or to == second or board[to] == NO_LETTER:  # noqa: PLR1714 - Numba has no `in`
            continue
        beside = _sides(to, grid)
        for sides in range(SIDES_SETS):
            rest = most[more - 1, next_state + c, sides | beside]
            if rest > NEVER:
                own[sides] = max(own[sides], after[board[to]] + rest)


class Walk(NamedTuple):
    """A growing path: entry n describes its cell n."""

    cell: I64
    turn: I64
    """Which neighbour comes next."""
    way: I64
    """Which neighbour of the previous cell it is."""
    value: I64
    """Worth of the letters so far."""
    sides: I64


@search_kernel
def _next_step(walk: Walk, depth: Int, on_path: np.ndarray, grid: Grid) -> tuple[Int, Int]:
    """Find the next cell that a path may step on: (cell, which neighbour), -1 for none."""
    if depth + 1 == len(walk.cell):
        return np.int64(-1), np.int64(-1)
    for k in range(walk.turn[depth], NEIGHBOURS):
        to = np.int64(grid.near[walk.cell[depth], k])
        if to < 0:
            break
        if not on_path[to] and grid.letters[to] != NO_LETTER:
            return to, np.int64(k)
    return np.int64(-1), np.int64(-1)


@kernel
def walk_strips(prices: I32, most: I32, grid: Grid, limits: StripLimits) -> Any:
    """Write every path between two opposite sides that is worth `limits.floor` or more.

    Returns (n, masks, numbers, whether the floor cut anything off): rows as join_components writes
    them. n is FULL when there are more rows than allowed, TOO_MANY when it takes more steps or the
    search was stopped.
    """
    masks, numbers = np.empty((FIRST_ROWS, 5), np.uint64), np.empty((FIRST_ROWS, 2), np.int64)
    board, edge, size = grid.letters, np.int64(prices.shape[0] - 1), limits.letters_max
    stack = np.zeros((5, size), np.int64)
    walk = Walk(stack[0], stack[1], stack[2], stack[3], stack[4])
    on_path = np.zeros(grid.rows * grid.columns, np.uint8)
    found, steps, cut = 0, 0, False
    for start in range(grid.rows * grid.columns):
        if board[start] == NO_LETTER:
            continue
        depth = 0
        walk.cell[0], walk.turn[0], on_path[start] = start, 0, 1
        walk.value[0], walk.sides[0] = prices[edge, edge, edge, board[start]], _sides(start, grid)
        while depth >= 0:
            to, way = _next_step(walk, depth, on_path, grid)
            if to < 0:
                on_path[walk.cell[depth]] = 0
                depth -= 1
                continue
            walk.turn[depth] = way + 1
            steps += 1
            if steps > limits.steps_max or (steps % STOP_STRIDE == 0 and is_stopped(grid.stop)):
                return TOO_MANY, masks, numbers, True
            one = np.int64(board[walk.cell[depth - 2]]) if depth > 1 else edge
            two = np.int64(board[walk.cell[depth - 1]]) if depth > 0 else edge
            three = np.int64(board[walk.cell[depth]])
            value = walk.value[depth] + prices[one, two, three, board[to]]
            sides = walk.sides[depth] | _sides(to, grid)
            if depth > 0:
                state = (walk.cell[depth - 1] * NEIGHBOURS + walk.way[depth]) * NEIGHBOURS + way
                rest = most[size - depth - 2, state, sides]
                cut |= NEVER < rest < limits.floor - value
                if rest < limits.floor - value:
                    continue
            depth += 1
            walk.cell[depth], walk.turn[depth], walk.way[depth], on_path[to] = to, 0, way, 1
            walk.value[depth], walk.sides[depth] = value, sides
            if depth + 1 < limits.letters_min or not spans(sides):
                continue
            value += prices[two, three, board[to], edge]
            if value < limits.floor:
                cut = True
                continue
            if found == limits.rows_max:
                return FULL, masks, numbers, True
            if found == len(masks):
                masks, numbers = longer(masks), longer(numbers)
            numbers[found, 1] = value
            _write(found, masks, numbers, walk.cell[: depth + 1], grid, limits.crossing)
            found += 1
    return found, masks[:found], numbers[:found], cut


@search_kernel
def _write(row: Int, masks: U64, numbers: I64, path: I64, grid: Grid, crossing: bool) -> None:
    """Write a path as a row: cells, blocks, letters and lowest cell."""
    low, _, cells, falling, rising, _, _ = word_paths.mask_path(
        path, len(path), grid.rows, grid.columns
    )
    hi, lo = np.uint64(0), np.uint64(1)
    bits = np.uint64(col.CODE_BITS)
    for cell in path:
        hi = (hi << bits) | (lo >> (np.uint64(64) - bits))
        lo = (lo << bits) | np.uint64(grid.letters[cell])
    masks[row, col.CELLS] = cells
    masks[row, BLOCKS] = np.uint64(0) if crossing else falling | rising
    masks[row, col.CODE_HI], masks[row, col.CODE_LO] = hi, lo
    numbers[row, 0] = low

"""From a row of columns to a board: neighbours, pips, domino types, constraints that can fail."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.compiling import search_kernel
from solvers.pips.board import (
    EMPTY,
    EQUALS,
    GREATER,
    LESS,
    MOST_CELLS,
    MOST_PIPS,
    MOST_TYPES,
    UNEQUAL,
)
from solvers.pips.puzzle import MAX_COORDINATE, MAX_PIP, MAX_TARGET

LOADED, NO_BOARD, TOO_LARGE = range(3)


@search_kernel
def load(board: Any, columns: Any, row: int) -> int:
    """Read one row into the board's order-independent arrays.

    `columns` is the tuple (cell_row, cell_col, cell_region, cell_offsets, region_type,
    region_target, region_offsets, domino_a, domino_b, domino_offsets). Returns LOADED, NO_BOARD
    when the row is none (cells unsorted or odd in number, a region out of range, a wrong number
    of dominoes), or TOO_LARGE when it has more cells, distinct dominoes or distinct pips than a
    board has room for.
    """
    (rows, cols, cell_region, cell_at, kinds, targets, region_at, halves_a, halves_b, domino_at) = (
        columns
    )
    c0, r0, d0 = cell_at[row], region_at[row], domino_at[row]
    n = cell_at[row + 1] - c0
    regions = region_at[row + 1] - r0
    dominoes = domino_at[row + 1] - d0
    if n <= 0 or dominoes * 2 != n or regions <= 0 or regions > n:
        return NO_BOARD
    if n > MOST_CELLS:
        return TOO_LARGE
    board.cells = n
    board.regions = regions
    board.dominoes = dominoes
    for g in range(regions):
        board.size[g] = 0
        board.kind[g] = kinds[r0 + g]
        board.target[g] = targets[r0 + g]
        if board.kind[g] < 0 or board.kind[g] > UNEQUAL:
            return NO_BOARD
        if board.target[g] < 0 or board.target[g] > MAX_TARGET:
            return NO_BOARD
    for i in range(n):
        board.row[i] = rows[c0 + i]
        board.col[i] = cols[c0 + i]
        if min(board.row[i], board.col[i]) < 0 or max(board.row[i], board.col[i]) > MAX_COORDINATE:
            return NO_BOARD
        g = cell_region[c0 + i]
        if g < 0 or g >= regions:
            return NO_BOARD
        if i > 0 and (
            board.row[i] < board.row[i - 1]
            or (board.row[i] == board.row[i - 1] and board.col[i] <= board.col[i - 1])
        ):
            return NO_BOARD
        board.cell_region[i] = g
        board.size[g] += 1
        board.tile[i] = -1
        board.fixed[i] = -1
    _find_neighbours(board, n)
    code = _index_dominoes(board, halves_a, halves_b, d0, dominoes)
    if code != LOADED:
        return code
    _drop_vacuous(board, regions)
    return LOADED


@search_kernel
def _find_neighbours(board: Any, n: int) -> None:
    board.neighbours[:n] = -1
    below = 0
    for i in range(n):
        r, c = board.row[i], board.col[i]
        if i + 1 < n and board.row[i + 1] == r and board.col[i + 1] == c + 1:
            board.neighbours[i, 0] = i + 1
            board.neighbours[i + 1, 2] = i
        while below < n and (
            board.row[below] < r + 1 or (board.row[below] == r + 1 and board.col[below] < c)
        ):
            below += 1
        if below < n and board.row[below] == r + 1 and board.col[below] == c:
            board.neighbours[i, 1] = below
            board.neighbours[below, 3] = i


@search_kernel
def _index_dominoes(board: Any, halves_a: Any, halves_b: Any, d0: int, dominoes: int) -> int:
    # Distinct pips by insertion sort: few, and nearly always 0 to 6.
    values = 0
    for k in range(2 * dominoes):
        v = halves_a[d0 + k // 2] if k % 2 == 0 else halves_b[d0 + k // 2]
        if v < 0 or v > MAX_PIP:
            return NO_BOARD
        at = values
        while at > 0 and board.pips[at - 1] >= v:
            at -= 1
        if at < values and board.pips[at] == v:
            continue
        if values == MOST_PIPS:
            return TOO_LARGE
        for j in range(values, at, -1):
            board.pips[j] = board.pips[j - 1]
        board.pips[at] = v
        values += 1
    board.values = values
    board.has[:values] = 0
    board.double[:values] = 0
    board.halves[:values] = 0
    types = 0
    multiples = 0
    last_a = last_b = -1
    for k in range(dominoes):
        a, b = halves_a[d0 + k], halves_b[d0 + k]
        if a > b or a < last_a or (a == last_a and b < last_b):
            return NO_BOARD
        ia = np.searchsorted(board.pips[:values], a)
        ib = np.searchsorted(board.pips[:values], b)
        board.halves[ia] += 1
        board.halves[ib] += 1
        if a == last_a and b == last_b:
            if board.copies[types - 1] == 1:
                multiples += 1
            board.copies[types - 1] += 1
            continue
        if types == MOST_TYPES:
            return TOO_LARGE
        last_a, last_b = a, b
        board.index_sum[types] = ia + ib
        board.copies[types] = 1
        bit = np.uint64(1) << np.uint64(types % 64)
        board.has[ia, types // 64] |= bit
        board.has[ib, types // 64] |= bit
        if ia == ib:
            board.double[ia, types // 64] |= bit
        types += 1
    board.types = types
    board.multiples = multiples
    return LOADED


@search_kernel
def _drop_vacuous(board: Any, regions: int) -> None:
    smallest = board.pips[0]
    largest = board.pips[board.values - 1]
    for g in range(regions):
        kind, size, target = board.kind[g], board.size[g], board.target[g]
        if size == 0 or (kind in (EQUALS, UNEQUAL) and size == 1):
            board.kind[g] = EMPTY
        elif kind == LESS and size * largest < target:
            board.kind[g] = EMPTY
        elif kind == GREATER and size * smallest > target:
            board.kind[g] = EMPTY

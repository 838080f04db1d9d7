"""Load a board from a row of columns: neighbours, pips, domino types, constraints that can fail."""

from __future__ import annotations

import numpy as np

from nightgrid.solvers.kernel.compiling import Int, search_kernel
from nightgrid.solvers.pips.columns import Columns
from nightgrid.solvers.pips.layers import board as boards
from nightgrid.solvers.pips.layers import space as spaces
from nightgrid.solvers.pips.layers.board import Board
from nightgrid.solvers.pips.regions import MAX_COORDINATE, MAX_PIP, MAX_TARGET


@search_kernel
def load(board: Board, columns: Columns, row: Int) -> Int:
    """Read one row into the board's order-independent arrays.

    Returns READY, BAD_ROW for an invalid row (cells unsorted or odd in number, a region out of
    range, a wrong number of dominoes), or BOARD_TOO_LARGE if it has more cells, distinct dominoes
    or distinct pips than a board holds.
    """
    cell_at, region_at, domino_at = (
        columns.cell_offsets,
        columns.region_offsets,
        columns.domino_offsets,
    )
    c0, r0, d0 = cell_at[row], region_at[row], domino_at[row]
    n = cell_at[row + 1] - c0
    regions = region_at[row + 1] - r0
    dominoes = domino_at[row + 1] - d0
    if n <= 0 or dominoes * 2 != n or regions <= 0 or regions > n:
        return spaces.BAD_ROW
    if n > boards.MOST_CELLS:
        return spaces.BOARD_TOO_LARGE
    board.cells = n
    board.regions = regions
    board.dominoes = dominoes
    for g in range(regions):
        board.size[g] = 0
        board.kind[g] = columns.region_type[r0 + g]
        board.target[g] = columns.region_target[r0 + g]
        if board.kind[g] < 0 or board.kind[g] > boards.UNEQUAL:
            return spaces.BAD_ROW
        if board.target[g] < 0 or board.target[g] > MAX_TARGET:
            return spaces.BAD_ROW
    for i in range(n):
        board.row[i] = columns.cell_row[c0 + i]
        board.col[i] = columns.cell_col[c0 + i]
        if min(board.row[i], board.col[i]) < 0 or max(board.row[i], board.col[i]) > MAX_COORDINATE:
            return spaces.BAD_ROW
        g = columns.cell_region[c0 + i]
        if g < 0 or g >= regions:
            return spaces.BAD_ROW
        if i > 0 and (
            board.row[i] < board.row[i - 1]
            or (board.row[i] == board.row[i - 1] and board.col[i] <= board.col[i - 1])
        ):
            return spaces.BAD_ROW
        board.cell_region[i] = g
        board.size[g] += 1
        board.tile[i] = -1
        board.fixed[i] = -1
    _find_neighbours(board, n)
    code = _index_dominoes(board, columns, d0, dominoes)
    if code == spaces.READY:
        _bound_sums(board, regions)
    return code


@search_kernel
def _find_neighbours(board: Board, n: Int) -> None:
    for i in range(n):
        for j in range(4):
            board.neighbours[i, j] = -1
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
def _index_dominoes(board: Board, columns: Columns, d0: Int, dominoes: Int) -> Int:
    halves_a, halves_b = columns.domino_a, columns.domino_b
    # Distinct pips by insertion sort: they are few, nearly always 0 to 6.
    values = 0
    for k in range(2 * dominoes):
        v = halves_a[d0 + k // 2] if k % 2 == 0 else halves_b[d0 + k // 2]
        if v < 0 or v > MAX_PIP:
            return spaces.BAD_ROW
        at = values
        while at > 0 and board.pips[at - 1] >= v:
            at -= 1
        if at < values and board.pips[at] == v:
            continue
        if values == boards.MOST_PIPS:
            return spaces.BOARD_TOO_LARGE
        for j in range(values, at, -1):
            board.pips[j] = board.pips[j - 1]
        board.pips[at] = v
        values += 1
    board.values = values
    for v in range(values):
        board.halves[v] = 0
        for w in range(2):
            board.has[v, w] = board.double[v, w] = 0
    types = 0
    multiples = 0
    last_a = last_b = -1
    for k in range(dominoes):
        a, b = halves_a[d0 + k], halves_b[d0 + k]
        if a > b or a < last_a or (a == last_a and b < last_b):
            return spaces.BAD_ROW
        ia = ib = 0
        while board.pips[ia] < a:
            ia += 1
        while board.pips[ib] < b:
            ib += 1
        board.halves[ia] += 1
        board.halves[ib] += 1
        if a == last_a and b == last_b:
            if board.copies[types - 1] == 1:
                multiples += 1
            board.copies[types - 1] += 1
            continue
        if types == boards.MOST_TYPES:
            return spaces.BOARD_TOO_LARGE
        last_a, last_b = a, b
        board.index_sum[types] = ia + ib
        board.low_half[types] = ia
        board.copies[types] = 1
        bit = np.uint64(1) << np.uint64(types % 64)
        board.has[ia, types // 64] |= bit
        board.has[ib, types // 64] |= bit
        if ia == ib:
            board.double[ia, types // 64] |= bit
        types += 1
    board.types = types
    board.multiples = multiples
    return spaces.READY


@search_kernel
def _bound_sums(board: Board, regions: Int) -> None:
    # Regions whose constraint always holds become EMPTY.
    smallest, largest = board.pips[0], board.pips[board.values - 1]
    for g in range(regions):
        kind, size, target = board.kind[g], board.size[g], board.target[g]
        if kind in (boards.EQUALS, boards.UNEQUAL):
            if size == 1:
                board.kind[g] = boards.EMPTY
            continue
        board.least[g] = board.most[g] = target
        if kind == boards.LESS:
            board.least[g], board.most[g] = 0, target - 1
        elif kind == boards.GREATER:
            board.least[g], board.most[g] = target + 1, boards.NO_BOUND
        if size == 0 or board.least[g] <= size * smallest <= size * largest <= board.most[g]:
            board.kind[g] = boards.EMPTY

"""What random pips would do to a region: the statistics from which a cell order is judged."""

from __future__ import annotations

import math

from nightgrid.solvers.kernel.compiling import Int, search_kernel
from nightgrid.solvers.pips.layers.board import EMPTY, EQUALS, GREATER, LESS, MOST_SUMS, SUM, Board

HOPELESS = -24.0
"""log2 of the chance that stands for "never"."""


@search_kernel
def foresee(board: Board) -> None:
    """Fill `chance` and `variety` for every region and every number of filled cells.

    Pips are drawn from the halves of all dominoes: with replacement for sums, without for equal
    and unequal pips.
    """
    at = 0
    for g in range(board.regions):
        board.outlook[g] = at
        size = board.size[g]
        for j in range(size + 1):
            board.chance[at + j] = 0.0
            board.variety[at + j] = 0.0
        kind = board.kind[g]
        if kind in (SUM, LESS, GREATER):
            _foresee_sum(board, g, at)
        elif kind == EQUALS:
            _foresee_equals(board, size, at)
        elif kind != EMPTY:
            _foresee_unequal(board, size, at)
        at += size + 1


@search_kernel
def _foresee_sum(board: Board, g: Int, at: Int) -> None:
    kind, size, target = board.kind[g], board.size[g], board.target[g]
    values = board.values
    # Sums beyond the target are one sum; large ones are counted in coarser units.
    unit = 1 + target // (MOST_SUMS - 2)
    most = target // unit + 1
    smallest, largest = board.pips[0] // unit, board.pips[values - 1] // unit
    old, new = 0, 1
    for s in range(most + 1):
        board.sums[old, s] = 0.0
    board.sums[old, 0] = 1.0
    for j in range(1, size + 1):
        for s in range(most + 1):
            board.sums[new, s] = 0.0
        for v in range(values):
            share = board.halves[v] / (2.0 * board.dominoes)
            step = board.pips[v] // unit
            for s in range(most + 1):
                if board.sums[old, s] > 0.0:
                    board.sums[new, min(s + step, most)] += board.sums[old, s] * share
        old, new = new, old
        rest = size - j
        alive, surprise = 0.0, 0.0
        for s in range(most + 1):
            if kind == SUM:
                fits = s < most and s + rest * smallest <= most - 1 <= s + rest * largest
            elif kind == LESS:
                fits = s + rest * smallest < most - 1
            else:
                fits = s + rest * largest > most - 1
            share = board.sums[old, s]
            if fits and share > 0.0:
                alive += share
                surprise -= share * math.log2(share)
        if alive > 0.0:
            board.chance[at + j] = max(math.log2(alive), HOPELESS)
            board.variety[at + j] = surprise / alive + math.log2(alive) if rest > 0 else 0.0
        else:
            board.chance[at + j] = HOPELESS


@search_kernel
def _foresee_equals(board: Board, size: Int, at: Int) -> None:
    total = 2.0 * board.dominoes
    for j in range(1, size + 1):
        alive, surprise = 0.0, 0.0
        for v in range(board.values):
            if board.halves[v] < size:
                continue
            share = 1.0
            for i in range(j):
                share *= (board.halves[v] - i) / (total - i)
            alive += share
            surprise -= share * math.log2(share)
        if alive > 0.0:
            board.chance[at + j] = max(math.log2(alive), HOPELESS)
            board.variety[at + j] = surprise / alive + math.log2(alive) if j < size else 0.0
        else:
            board.chance[at + j] = HOPELESS


@search_kernel
def _foresee_unequal(board: Board, size: Int, at: Int) -> None:
    values = board.values
    chance, variety = 0.0, 0.0
    for j in range(1, size + 1):
        fresh = values - j + 1
        if fresh <= 0:
            board.chance[at + j] = HOPELESS
            continue
        chance += math.log2(fresh / values)
        variety += math.log2(fresh / j)
        board.chance[at + j] = max(chance, HOPELESS)
        board.variety[at + j] = variety if j < size else 0.0

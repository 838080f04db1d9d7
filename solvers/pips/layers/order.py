"""The cell order, which determines the number of states.

Every sweep over the board is a candidate, component by component, each region finished once it is
begun. An estimate of the number of states, from the statistics of each region and the width of the
frontier, picks one: the best and the worst sweep of a published board differ by factors of up to a
hundred. If the best estimate is large, and so are the states, each is tried on a few thousand, and
its estimate is corrected by what the trial found.
"""

from __future__ import annotations

import math

import numpy as np

from nightgrid.solvers.kernel.compiling import Int, search_kernel
from nightgrid.solvers.pips.layers.board import EMPTY, EQUALS, GREATER, LESS, MOST_SUMS, SUM, Board
from nightgrid.solvers.pips.layers.count import count_board
from nightgrid.solvers.pips.layers.layout import lay_out
from nightgrid.solvers.pips.layers.space import READY, Children, Limits, Space, Table
from nightgrid.solvers.pips.layers.tilings import build_tilings, place_cells

HOPELESS = -24.0
"""log2 of the probability that stands for "never"."""


@search_kernel
def foresee(board: Board) -> None:
    """Fill `chance` and `variety` for every region and every number of filled cells.

    Pips are drawn from the halves of all dominoes: with replacement for sums, without for equal
    and unequal pips.
    """
    at: Int = np.int64(0)
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


SWEEPS = 8
"""Directions of a sweep. Those that finish regions come first; if even the best estimate is large,
those that do not are candidates, too."""
FEW_STATES, FEW_CELLS = 2.0**6, 32
"""Estimate and size of a board for which any sweep will do."""
FRONTIER_BITS = 0.6
"""log2 of the ways in which a cell of the frontier can relate to the tilings before it."""

PROBE_ABOVE_STATES = 2.0**20
"""From this estimate on, about four times too high, sweeps are tried and not only estimated."""
PROBE_NODES = 2**13
"""Transitions of the trial of a sweep; the one with the lowest estimate stays if they finish it."""
FOREVER_NS = 2**62


@search_kernel
def choose_order(space: Space, table: Table, children: Children, deadline_ns: Int) -> None:
    """Choose a cell order for the board and fill the arrays that depend on it.

    The choice depends on the board alone, neither on parts nor, as long as the deadline holds,
    on time. The forest, the table and the children are scratch.
    """
    board = space.board
    if judge_orders(board) > PROBE_ABOVE_STATES:
        _probe(space, table, children, deadline_ns)
    for p in range(board.cells):
        board.order[p] = board.best_order[p]
    place_cells(board)


@search_kernel
def judge_orders(board: Board) -> float:
    """Store the sweep with the lowest estimate in `best_order`, and return the estimate."""
    _find_components(board)
    foresee(board)
    best = math.inf
    for sweep in range(2 * SWEEPS):
        if sweep == SWEEPS and best < PROBE_ABOVE_STATES:
            break
        _sweep(board, sweep)
        weight = estimate(board, best, board.cells)
        if weight < best:
            best = weight
            for p in range(board.cells):
                board.best_order[p] = board.order[p]
            if best < FEW_STATES and board.cells <= FEW_CELLS:
                break
    return best


@search_kernel
def _probe(space: Space, table: Table, children: Children, deadline_ns: Int) -> None:
    # The estimate's sweep is tried first, and stays if it is easy or if none starts. Otherwise the
    # best has the lowest estimate, scaled by the states of its trial over those expected so far.
    board = space.board
    fewest = math.inf
    for sweep in range(-1, 2 * SWEEPS):
        if sweep < 0:
            for p in range(board.cells):
                board.order[p] = board.best_order[p]
        else:
            _sweep(board, sweep)
        place_cells(board)
        built = build_tilings(board, space.forest, deadline_ns)
        if built != READY or not lay_out(board, space.width):
            continue
        limits = Limits(np.int64(PROBE_NODES), np.int64(FOREVER_NS))
        carried = count_board(space, table, children, limits)[-1]
        if sweep < 0:
            if carried.layer == board.dominoes:
                return
            continue
        expected = estimate(board, math.inf, 2 * carried.layer)
        states = estimate(board, math.inf, board.cells) * carried.states / max(expected, 1.0)
        if states < fewest:
            fewest = states
            for p in range(board.cells):
                board.best_order[p] = board.order[p]


@search_kernel
def _find_components(board: Board) -> None:
    # Flood fill with `order` as the stack.
    n = board.cells
    for i in range(n):
        board.component[i] = -1
    components = 0
    for seed in range(n):
        if board.component[seed] >= 0:
            continue
        board.component[seed] = components
        board.order[0] = seed
        depth = 1
        while depth > 0:
            depth -= 1
            cell = board.order[depth]
            for j in range(4):
                other = board.neighbours[cell, j]
                if other >= 0 and board.component[other] < 0:
                    board.component[other] = components
                    board.order[depth] = other
                    depth += 1
        components += 1


@search_kernel
def _sweep(board: Board, sweep: Int) -> None:
    # Bits of `sweep`: columns before rows, rows backwards, columns backwards, regions unfinished.
    n = board.cells
    for k in range(n):
        # Rows backwards are nearly sorted from the end.
        i = n - 1 - k if sweep & 2 else k
        r, c = board.row[i], board.col[i]
        if sweep & 2:
            r = 16383 - r
        if sweep & 4:
            c = 16383 - c
        major, minor = (c, r) if sweep & 1 else (r, c)
        key = (board.component[i] << 28) | (major << 14) | minor
        at = k
        while at > 0 and board.sort_key[at - 1] > key:
            board.sort_key[at] = board.sort_key[at - 1]
            board.order[at] = board.order[at - 1]
            at -= 1
        board.sort_key[at] = key
        board.order[at] = i
    if sweep >= SWEEPS:
        return
    # Move the cells of a region together, to the first of them; `position` links them.
    for g in range(board.regions):
        board.rest[g] = -1
    for i in range(n - 1, -1, -1):
        cell = board.order[i]
        g = board.cell_region[cell]
        board.sort_key[i] = cell
        board.position[cell] = -1 if board.kind[g] == EMPTY else board.rest[g]
        board.rest[g] = cell
    at = 0
    for i in range(n):
        cell = board.sort_key[i]
        g = board.cell_region[cell]
        if board.kind[g] != EMPTY:
            cell = board.rest[g]
            board.rest[g] = -1
        while cell >= 0:
            board.order[at] = cell
            at += 1
            cell = board.position[cell]


@search_kernel
def estimate(board: Board, most: float, cells: Int) -> float:
    """Estimate the number of states under board.order, up to some number of cells.

    After each cell: the expected number of partial arrangements that have not failed, or of
    different (dominoes left, frontier, progress) combinations if that is smaller. Ends early with
    more than `most`.
    """
    n, dominoes = board.cells, board.dominoes
    for i in range(n):
        board.position[i] = 0
    for g in range(board.regions):
        board.rest[g] = 0
    total = 0.0
    chance, variety = 0.0, 0.0
    constrained = 0
    for i in range(n):
        constrained += board.kind[board.cell_region[i]] != EMPTY
    frontier = 0
    arrangements, subsets = 0.0, 0.0
    for i in range(cells):
        cell = board.order[i]
        if board.position[cell] == 1:
            frontier -= 1
        board.position[cell] = 2
        for j in range(4):
            other = board.neighbours[cell, j]
            if other >= 0 and board.position[other] == 0:
                board.position[other] = 1
                frontier += 1
        g = board.cell_region[cell]
        at = board.outlook[g] + board.rest[g]
        board.rest[g] += 1
        constrained -= board.kind[g] != EMPTY
        if constrained <= 0:
            # The rest is unconstrained: states only differ in their frontier.
            total += 2.0 ** (FRONTIER_BITS * frontier)
            continue
        chance += board.chance[at + 1] - board.chance[at]
        variety += board.variety[at + 1] - board.variety[at]
        if i % 2 == 1:
            laid = (i + 1) // 2
            left = dominoes - laid + 1
            arrangements += math.log2(2.0 * left)
            subsets += math.log2(left / laid)
        ways = arrangements + FRONTIER_BITS * frontier + chance
        places = subsets + FRONTIER_BITS * frontier + variety
        total += 2.0 ** min(ways, places, 1000.0)
        if total >= most:
            break
    return total

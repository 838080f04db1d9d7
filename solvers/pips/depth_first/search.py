"""The first solution of a board, depth first with propagation: most boards need a few dozen steps.

The search covers the cell with the fewest placements left, a placement being a tile with a domino
on it in one direction, and after each one narrows the rest: the pips that each cell may hold by its
region, and the tiles that exist by the pips on their two cells. Sets of cells are one word of bits,
so that a step handles all cells in the same few instructions.

It does not remember dead ends, so it gives up after NODES_MAX placements. Then the search of
nightgrid.solvers.pips.layers, which chooses a cell order first, starts the board from scratch.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.kernel import codes
from nightgrid.solvers.kernel.compiling import Int, inlined_kernel, search_kernel
from nightgrid.solvers.kernel.machine import STOP_AT, is_late, monotonic_ns
from nightgrid.solvers.pips.columns import Columns, kernel_columns, to_arrays
from nightgrid.solvers.pips.depth_first.levels import (
    CELLS_MAX,
    LEVELS,
    Levels,
    begin,
    lay,
    lowest,
    put_back,
    size_of,
)
from nightgrid.solvers.pips.depth_first.narrow import narrow_regions, narrow_tiles
from nightgrid.solvers.pips.layers.board import BOARD, NO_BOUND, Board
from nightgrid.solvers.pips.layers.load import load
from nightgrid.solvers.pips.layers.space import READY
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.solution import Placement, Solution

NODES_MAX = 4096
"""Placements after which the search gives up."""
CLOCK_STRIDE = 256
"""Placements between two clock checks."""

GIVEN_UP = codes.KERNEL_CODES
"""The board is too large, or took more placements than NODES_MAX."""
UNSOLVABLE = GIVEN_UP + 1
"""Proven: there is no solution."""


@search_kernel
def _choose(board: Board, s: Levels, d: Int) -> None:
    # The free cell with the fewest placements, and its partners.
    fewest: Int = np.int64(NO_BOUND)
    free = s.free[d]
    while free and fewest > 1:
        c = lowest(free)
        free &= free - 1
        near = 0
        for k in range(s.offsets):
            far = s.offset[k]
            # Shifted twice, since a shift by a whole word is undefined.
            near |= (s.edges[d, k] >> c & 1) << far << c
            if c >= far:
                near |= (s.edges[d, k] >> c - far & 1) << c - far
        ways: Int = 0
        for v in range(board.values):
            if s.can[d, v] >> c & 1:
                others = s.joined[v]
                while others:
                    ways += size_of(s.can[d, lowest(others)] & near)
                    others &= others - 1
        if ways < fewest:
            fewest = ways
            s.cell[d] = c
            s.partners[d] = near


@inlined_kernel
def _pips_of(board: Board, s: Levels, d: Int, cell: Int) -> Int:
    found = 0
    for v in range(board.values):
        found |= (s.can[d, v] >> cell & 1) << v
    return found


@search_kernel
def _next_placement(board: Board, s: Levels, d: Int) -> bool:
    while s.others[d] == 0:
        if s.own[d] != 0:
            s.pips[d] = lowest(s.own[d])
            s.own[d] &= s.own[d] - 1
            s.others[d] = s.joined[s.pips[d]] & _pips_of(board, s, d, s.partner[d])
        elif s.partners[d] != 0:
            s.partner[d] = lowest(s.partners[d])
            s.partners[d] &= s.partners[d] - 1
            s.own[d] = _pips_of(board, s, d, s.cell[d])
        else:
            return False
    s.other[d] = lowest(s.others[d])
    s.others[d] &= s.others[d] - 1
    return True


@search_kernel
def _search(
    boards: npt.NDArray[np.void], levels: npt.NDArray[np.void], columns: Columns, row: Int,
    node_limit: Int, budget_ns: Int,
) -> tuple[Int, Int, Int]:  # fmt: skip
    """Find a solution of a row; returns a code, the placements tried, and the nanoseconds."""
    board, s = boards[0], levels[0]
    begun = monotonic_ns(s.clock)
    nodes = 0
    code: Int = np.int64(GIVEN_UP)
    if (
        load(board, columns, row) == READY
        and board.cells <= CELLS_MAX
        and board.values <= CELLS_MAX
    ):
        begin(board, s)
        d: Int = np.int64(0)
        while True:
            if narrow_regions(board, s, d) and narrow_tiles(board, s, d):
                if s.free[d] == 0:
                    code = np.int64(codes.DONE)
                    break
                _choose(board, s, d)
            while d >= 0 and not _next_placement(board, s, d):
                d -= 1
                if d >= 0:
                    put_back(s, d)
            if d < 0:
                code = np.int64(UNSOLVABLE)
                break
            if nodes % CLOCK_STRIDE == 0 and is_late(s.clock, begun + budget_ns):
                code = np.int64(codes.OUT_OF_SECONDS)
                break
            if nodes >= min(node_limit, NODES_MAX):
                code = np.int64(GIVEN_UP if nodes == NODES_MAX else codes.OUT_OF_NODES)
                break
            nodes += 1
            lay(board, s, d)
            d += 1
    return code, nodes, monotonic_ns(s.clock) - begun


class Found(NamedTuple):
    """How a search has ended."""

    code: int
    """DONE for a solution, UNSOLVABLE, GIVEN_UP, OUT_OF_NODES or OUT_OF_SECONDS."""
    nodes: int
    kernel_ns: int
    solution: Solution | None = None


_kept = threading.local()


def find_first(puzzle: Puzzle, budget: Budget) -> Found:
    """Search for a solution of a board, the same one for every sufficient budget."""
    if len(puzzle.dominoes) * 2 > CELLS_MAX:
        return Found(GIVEN_UP, 0, 0)
    memory = getattr(_kept, "memory", None)
    if memory is None:
        memory = _kept.memory = np.zeros(1, BOARD), np.zeros(1, LEVELS)
    boards, levels = memory
    levels[0]["clock"][STOP_AT] = budget.stop_address
    columns = kernel_columns(to_arrays([puzzle]))
    ended = _search(boards, levels, columns, 0, budget.nodes, int(budget.seconds * 1e9))
    code, nodes, kernel_ns = map(int, ended)
    if code != codes.DONE:
        return Found(code, nodes, kernel_ns)
    names = sorted({pip for domino in puzzle.dominoes for pip in domino})
    placed = []
    laid = (levels[0][name][: len(puzzle.dominoes)].tolist() for name in _PLACEMENT)
    for a, b, own, other in zip(*laid, strict=True):
        low, high = sorted([(a, own), (b, other)])
        placed.append(
            Placement(
                cell_a=puzzle.cells[low[0]],
                cell_b=puzzle.cells[high[0]],
                pip_a=names[low[1]],
                pip_b=names[high[1]],
            )
        )
    return Found(code, nodes, kernel_ns, tuple(sorted(placed, key=lambda at: at.cell_a)))


_PLACEMENT = ("cell", "partner", "pips", "other")

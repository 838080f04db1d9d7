"""Parts of a Pips job: subtrees of the forest of tilings, named by their first tiles.

A part is a list of `[cell, cell]` or `[cell, cell, pips, pips]`: tiles, with or without the pips on
each cell. Siblings differ in the tile of one cell, or in the halves on one tile, so parts never
share a solution and together hold every one.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell
from nightgrid.solvers.pips.solution import Solution

I64 = npt.NDArray[np.int64]
Part = list[list[Any]]


class PartArrays(NamedTuple):
    """A part as kernels take it. Cells are numbered in sorted order."""

    tiles: I64
    """int64[tiles, 2]: pairs of cells that share a tile."""
    halves: I64
    """int64[halves, 2]: cells, and the pips that lie on them."""


NO_PART = PartArrays(tiles=np.empty((0, 2), np.int64), halves=np.empty((0, 2), np.int64))
"""The whole board."""


def part_arrays(puzzle: Puzzle, part: Part | None) -> PartArrays:
    """Convert a part to arrays.

    Raises PermanentError for an invalid part of this puzzle.
    """
    if part is None:
        return NO_PART
    cells = {cell: i for i, cell in enumerate(puzzle.cells)}
    tiles: list[tuple[int, int]] = []
    halves: list[tuple[int, int]] = []
    used: set[int] = set()
    if not isinstance(part, list):
        raise PermanentError(f"a part of a Pips job is a list of tiles, got {type(part).__name__}")
    for i, tile in enumerate(part):
        try:
            (row_a, col_a), (row_b, col_b), *pips = tile
            a, b = cells[row_a, col_a], cells[row_b, col_b]
        except (TypeError, ValueError, KeyError):
            raise PermanentError(
                f"part[{i}]: expected two cells of the board and perhaps two numbers of pips, "
                f"got {tile!r}"
            ) from None
        apart = abs(row_a - row_b) + abs(col_a - col_b)
        if apart != 1 or {a, b} & used or len(pips) not in (0, 2):
            raise PermanentError(f"part[{i}]: {tile!r} is not a free tile of this board")
        used |= {a, b}
        tiles.append((a, b))
        halves += zip((a, b), pips, strict=False)
    return PartArrays(
        tiles=np.array(tiles, np.int64).reshape(-1, 2),
        halves=np.array(halves, np.int64).reshape(-1, 2),
    )


def is_in_part(solution: Solution, part: Part | None) -> bool:
    """Return whether a solution has all tiles of a part, and the halves on them."""
    halves = {at.cell_a: (at.cell_b, at.pip_a, at.pip_b) for at in solution}
    halves |= {at.cell_b: (at.cell_a, at.pip_b, at.pip_a) for at in solution}
    return all(halves[tuple(a)][: 1 + len(pips)] == (tuple(b), *pips) for a, b, *pips in part or [])


def divide(puzzle: Puzzle, order: Sequence[Cell], part: Part | None, into: int) -> list[Part]:
    """Divide a part into at least `into` parts if possible, breadth first along the cell order.

    Tiles are fixed first, one cell after the other, and then the dominoes on them.
    """
    part_arrays(puzzle, part)
    queue: deque[Part] = deque([list(part or [])])
    leaves: list[Part] = []
    while queue and len(queue) + len(leaves) < into:
        parent = queue.popleft()
        children = _tile_children(order, parent)
        if children is None:
            children = _domino_children(puzzle, parent)
        if children:
            queue.extend(children)
        else:
            leaves.append(parent)
    return [*leaves, *queue]


def divide_in_order(
    puzzle: Puzzle, order: Sequence[Cell], part: Part | None, into: int
) -> list[Part]:
    """Divide a part into at least `into` parts if possible, in canonical order.

    Each fixes the dominoes on the first free cells, a prefix of `canonical_key`, so that the
    solutions of one part precede those of the next. A part that fixes tiles without dominoes is not
    a range of that order, and stays whole.
    """
    part_arrays(puzzle, part)
    parts: list[Part] = [list(part or [])]
    if any(len(tile) == 2 for tile in parts[0]):
        return parts
    while len(parts) < into:
        children = [child for one in parts for child in _laid_children(puzzle, order, one)]
        if not children or children == parts:
            # Either none can be filled, or all are full.
            break
        parts = children
    return parts


def _laid_children(puzzle: Puzzle, order: Sequence[Cell], part: Part) -> list[Part]:
    # One child for each domino on the first cell without a tile; the part itself if it is full.
    tiles = _tile_children(order, part)
    if tiles is None:
        return [part]
    ways = _ways_left(puzzle, part)
    place = {cell: i for i, cell in enumerate(order)}
    tiles.sort(key=lambda child: place[tuple(child[-1][1])])
    return [[*part, [*child[-1], *way]] for child in tiles for way in ways]


def _tile_children(order: Sequence[Cell], part: Part) -> list[Part] | None:
    # One child for each partner of the first cell without a tile; None if every cell has one.
    taken = {tuple(cell) for tile in part for cell in tile[:2]}
    board = set(order)
    for cell in order:
        if cell in taken:
            continue
        row, col = cell
        beside = ((row, col + 1), (row + 1, col), (row, col - 1), (row - 1, col))
        partners = [other for other in beside if other in board and other not in taken]
        return [[*part, [list(cell), list(other)]] for other in partners]
    return None


def _domino_children(puzzle: Puzzle, part: Part) -> list[Part]:
    # One child for each way to lay a domino on the first tile that has none.
    for i, tile in enumerate(part):
        if len(tile) == 2:
            return [[*part[:i], [*tile, *way], *part[i + 1 :]] for way in _ways_left(puzzle, part)]
    return []


def _ways_left(puzzle: Puzzle, part: Part) -> list[tuple[int, int]]:
    # The ways to lay one of the remaining dominoes, by their pips.
    left = Counter(puzzle.dominoes)
    for tile in part:
        if len(tile) == 4:
            left[min(tile[2:]), max(tile[2:])] -= 1
    return sorted({way for (a, b), n in left.items() if n > 0 for way in ((a, b), (b, a))})


def canonical_key(
    order: Sequence[Cell], positions: Mapping[Cell, int], solution: Solution
) -> tuple[tuple[int, int, int], ...]:
    """Return the sort key of a solution in the order of the search.

    By cell order: for each first free cell the position of its partner, its own pips and the
    partner's, which is how `expand` sorts children.
    """
    half: dict[Cell, tuple[Cell, int, int]] = {}
    for at in solution:
        half[at.cell_a] = (at.cell_b, at.pip_a, at.pip_b)
        half[at.cell_b] = (at.cell_a, at.pip_b, at.pip_a)
    key = []
    for cell in order:
        partner, own, other = half[cell]
        if positions[partner] > positions[cell]:
            key.append((positions[partner], own, other))
    return tuple(key)

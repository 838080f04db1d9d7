"""Positive planar 1-in-3-SAT to Pips (article 000, Theorem 16): dominoes 0-0 and 1-1 alone.

A variable is a row of cells, its base, with branches of even length that leave it from every other
cell; all of it except the tips of the branches has to show equal pips. A clause is the row between
the tips of three branches, and sums to 1 with them. The board can be tiled in one way only: every
branch is even and leaves the base from the left half of a tile, so no alternating cycle leads
through two branches. So a variable shows zeros or ones on all of its cells, tips included, the
tiles of a clause show zeros, and exactly one of its three variables shows ones. Unconstrained cells
take the remaining dominoes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell, Region, RegionType
from nightgrid.solvers.pips.solution import Solution
from nightgrid.solvers.reductions.problems.formula import Assignment, check_assignment, exactly_one
from nightgrid.solvers.reductions.problems.planar import PlanarFormula
from nightgrid.solvers.reductions.reduced import Reduced

Tile = tuple[Cell, Cell]
ZERO, ONE = (0, 0), (1, 1)
FIRST_LEVEL = 2
"""Rows from the base to the nearest clause: the length of a branch, always even."""
LINK = 2
"""Cells of a connection gadget, which joins two neighbouring bases into one straight row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The tiles of every gadget, in the board's only tiling."""

    variables: tuple[tuple[Tile, ...], ...]
    """Base and branches of every variable. `tips` are the last cells of the branches."""
    clauses: tuple[tuple[Tile, ...], ...]
    """The tiles between the tips of every clause."""
    tips: tuple[tuple[Cell, ...], ...]
    """Tips of the branches that end at every clause."""
    links: tuple[Tile, ...]
    """Connection gadgets, one tile each."""
    cleanup: tuple[Tile, ...]


def lay_out(instance: PlanarFormula, *, connected: bool) -> Layout:
    """Place the gadgets of a formula."""
    places = range(len(instance.order))
    legs = {(p, above): instance.legs(p, above=above) for p in places for above in (True, False)}
    slots = [max(1, len(legs[p, True]), len(legs[p, False])) for p in places]
    starts = [0]
    for count in slots:
        starts.append(starts[-1] + 2 * count + (LINK if connected else 1))
    columns = {
        (clause, p): starts[p] + 2 * i
        for (p, _), clauses in legs.items()
        for i, clause in enumerate(clauses)
    }
    ports = [tuple(columns[i, p] for p in span) for i, span in enumerate(instance.spans)]
    distance = [FIRST_LEVEL] * len(ports)
    for i in instance.inside_out:
        inner = [distance[j] + (4 if _has_bump(ports[j]) else 2) for j in instance.inner[i]]
        distance[i] = max([FIRST_LEVEL, *inner])

    def height(*, above: bool) -> int:
        return max(
            (distance[i] + _has_bump(ports[i]) for i, a in enumerate(instance.above) if a == above),
            default=0,
        )

    line = height(above=True)
    rows = line + 1 + height(above=False)
    variables: list[list[Tile]] = [[] for _ in places]
    for p, variable in enumerate(instance.order):
        variables[variable] += _straight((line, starts[p]), (0, 1), 2 * slots[p])
    clauses: list[tuple[Tile, ...]] = []
    tips: list[tuple[Cell, ...]] = []
    for i, span in enumerate(instance.spans):
        up = -1 if instance.above[i] else 1
        row = line + up * distance[i]
        for p, column in zip(span, ports[i], strict=True):
            variables[instance.order[p]] += _straight((line + up, column), (up, 0), distance[i])
        clauses.append(_body(row, up, ports[i]))
        tips.append(tuple((row, column) for column in ports[i]))
    cells = 2 * sum(map(len, variables))
    end = starts[-1]
    links = [((line, starts[p] - 2), (line, starts[p] - 1)) for p in places if p and connected]
    if connected:
        links.append(((line, end - 2), (line, end - 1)))
    return Layout(
        variables=tuple(tuple(tiles) for tiles in variables),
        clauses=tuple(clauses),
        tips=tuple(tips),
        links=tuple(links),
        cleanup=_snake((line, end), rows, cells) if connected else _lines(end + 1, rows, cells),
    )


def _has_bump(ports: tuple[int, ...]) -> bool:
    return any((right - left) % 2 == 0 for left, right in pairwise(ports))


def _straight(start: Cell, step: Cell, cells: int) -> list[Tile]:
    at = [(start[0] + i * step[0], start[1] + i * step[1]) for i in range(cells)]
    return [(at[i], at[i + 1]) for i in range(0, cells, 2)]


def _body(row: int, up: int, ports: tuple[int, ...]) -> tuple[Tile, ...]:
    """Join the tips of a clause; an odd number of cells between two begins with an upright tile."""
    tiles: list[Tile] = []
    for left, right in pairwise(ports):
        start = left + 1
        if (right - start) % 2:
            tiles.append(((row, start), (row + up, start)))
            start += 1
        tiles += _straight((row, start), (0, 1), right - start)
    return tuple(tiles)


def _lines(column: int, rows: int, cells: int) -> tuple[Tile, ...]:
    """Lay cells in straight upright lines of even length, a blank column between two."""
    longest = max(2, rows - rows % 2)
    tiles: list[Tile] = []
    while cells:
        length = min(cells, longest)
        tiles += _straight((0, column), (1, 0), length)
        cells -= length
        column += 2
    return tuple(tiles)


def _snake(start: Cell, rows: int, cells: int) -> tuple[Tile, ...]:
    """Lay cells in one line folded down and up, without touching strokes."""
    r, c = start
    path: list[Cell] = []
    down = True
    while len(path) < cells:
        stop = rows - 1 if down else 0
        path += [(i, c) for i in range(r, stop, 1 if down else -1)]
        path += [(stop, c), (stop, c + 1)]
        r, c, down = stop, c + 2, not down
    return tuple((path[i], path[i + 1]) for i in range(0, cells, 2))


def reduce(instance: PlanarFormula, *, connected: bool = False) -> Reduced[PlanarFormula, Puzzle]:
    """Write a formula as a Pips board that can be solved if and only if it has a 1-in-3 model.

    `connected` joins variables and cleanup by tiles that sum to 0, into one piece.
    """
    layout = lay_out(instance, connected=connected)
    tips = {cell for cells in layout.tips for cell in cells}
    regions = [
        Region(
            cells=tuple(cell for tile in tiles for cell in tile if cell not in tips),
            type=RegionType.EQUALS,
        )
        for tiles in layout.variables
    ]
    for tiles, ends in zip(layout.clauses, layout.tips, strict=True):
        cells = ends + tuple(cell for tile in tiles for cell in tile)
        regions.append(Region(cells=cells, type=RegionType.SUM, target=1))
    regions += [Region(cells=tile, type=RegionType.SUM, target=0) for tile in layout.links]
    loose = tuple(cell for tile in layout.cleanup for cell in tile)
    regions.append(Region(cells=loose, type=RegionType.EMPTY))
    ones = sum(map(len, layout.variables))
    zeros = ones + sum(map(len, layout.clauses)) + len(layout.links)
    return Reduced(
        game="pips",
        instance=instance,
        puzzle=Puzzle(regions=tuple(regions), dominoes=(ZERO,) * zeros + (ONE,) * ones),
    )


def _layout_of(reduced: Reduced[PlanarFormula, Puzzle]) -> Layout:
    links = sum(region.target == 0 for region in reduced.puzzle.regions)
    return lay_out(reduced.instance, connected=links > 0)


def solution_of(reduced: Reduced[PlanarFormula, Puzzle], solution: Solution) -> Assignment:
    """Read the assignment off a solution, and check it."""
    pips = {put.cell_a: put.pip_a for put in solution}
    layout = _layout_of(reduced)
    assignment = tuple(pips[min(tiles[0])] == 1 for tiles in layout.variables)
    check_assignment(reduced.instance.formula, assignment, exactly_one)
    return assignment

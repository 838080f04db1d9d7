"""Pictures of Pips boards as SVG: tinted regions with their constraints, dominoes with pips."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from nightgrid.service.drawing.svg import (
    CHAR_PX,
    GROUND,
    INK,
    MARGIN_PX,
    PLAIN,
    TINTS,
    add,
    add_middle,
    head_px,
    page,
    text_of,
)
from nightgrid.service.games.pips.view import mark
from nightgrid.solvers.pips.puzzle import Cell, Puzzle, RegionType
from nightgrid.solvers.pips.solution import Solution

CELL_PX = 26
DOMINO_INSET_PX = 3
PIP_PX = 15
MARK_PX = 11
WALL_PX = 2

DOMINO = "#ffffff"


def draw_svg(puzzle: Puzzle, solution: Solution | None = None, title: str | None = None) -> str:
    """Draw a board, with the dominoes of a solution, as the text of an SVG file."""
    cells = puzzle.cells
    top, left = min(r for r, _ in cells), min(c for _, c in cells)
    rows = max(r for r, _ in cells) - top + 1
    columns = max(c for _, c in cells) - left + 1
    head = head_px(title)
    # A mark stands in the upper left corner of its region, half outside.
    width = max(columns * CELL_PX, len(title or "") * CHAR_PX) + 2 * MARGIN_PX
    svg = page(width, head + rows * CELL_PX + MARGIN_PX, title or "Pips board", title)

    def corner(cell: Cell) -> tuple[int, int]:
        return MARGIN_PX + (cell[1] - left) * CELL_PX, head + (cell[0] - top) * CELL_PX

    tints = itertools.cycle(TINTS)
    of = {cell: i for i, region in enumerate(puzzle.regions) for cell in region.cells}
    for region in puzzle.regions:
        tint = PLAIN if region.type is RegionType.EMPTY else next(tints)
        for cell in region.cells:
            x, y = corner(cell)
            add(svg, "rect", x=x, y=y, width=CELL_PX, height=CELL_PX, fill=tint)
    path = "".join(
        f"M{x} {y}{'h' if level else 'v'}{CELL_PX}" for x, y, level in _walls(of, corner)
    )
    add(svg, "path", d=path, stroke=INK, stroke_width=WALL_PX, stroke_linecap="square")
    for put in solution or ():
        (x, y), (x2, y2) = corner(put.cell_a), corner(put.cell_b)
        add(
            svg,
            "rect",
            x=x + DOMINO_INSET_PX,
            y=y + DOMINO_INSET_PX,
            width=x2 - x + CELL_PX - 2 * DOMINO_INSET_PX,
            height=y2 - y + CELL_PX - 2 * DOMINO_INSET_PX,
            rx=5,
            fill=DOMINO,
            stroke=INK,
        )
        for pip, at in ((put.pip_a, (x, y)), (put.pip_b, (x2, y2))):
            weight = "700" if pip else "400"
            half = CELL_PX // 2
            add_middle(svg, at[0] + half, at[1] + half, str(pip), PIP_PX, weight=weight)
    for region in puzzle.regions:
        if region.type is not RegionType.EMPTY:
            text = mark(region)
            x, y = corner(min(region.cells))
            wide = MARK_PX + 4 + (len(text) - 1) * MARK_PX * 2 // 3
            add(svg, "rect", x=x - 6, y=y - 8, width=wide, height=MARK_PX + 4, rx=4, fill=INK)
            middle = (x - 6 + wide / 2, y - 8 + (MARK_PX + 4) / 2)
            add_middle(svg, *middle, text, MARK_PX, GROUND)
    return text_of(svg)


def _walls(
    of: dict[Cell, int], corner: Callable[[Cell], tuple[int, int]]
) -> list[tuple[int, int, bool]]:
    """List the edges of cells that lie between two regions or at the board's end."""
    found = []
    for r, c in sorted(of):
        for neighbour, at, level in (
            ((r - 1, c), (r, c), True),
            ((r, c - 1), (r, c), False),
            ((r + 1, c), (r + 1, c), True),
            ((r, c + 1), (r, c + 1), False),
        ):
            before = neighbour < (r, c)
            if of.get(neighbour) != of[r, c] and (before or neighbour not in of):
                found.append((*corner(at), level))
    return found

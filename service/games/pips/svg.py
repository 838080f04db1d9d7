"""Pictures of Pips boards as SVG: tinted regions with their constraints, dominoes with pips."""

from __future__ import annotations

import itertools

from nightgrid.service.drawing.colours import GROUND, INK, PLAIN, TINTS
from nightgrid.service.drawing.svg import MARGIN_PX, Picture
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
    picture = Picture(title or "Pips board", title, columns * CELL_PX, rows * CELL_PX)

    def corner(cell: Cell) -> tuple[int, int]:
        return MARGIN_PX + (cell[1] - left) * CELL_PX, picture.top + (cell[0] - top) * CELL_PX

    tints = itertools.cycle(TINTS)
    of = {cell: i for i, region in enumerate(puzzle.regions) for cell in region.cells}
    for region in puzzle.regions:
        tint = PLAIN if region.type is RegionType.EMPTY else next(tints)
        for cell in region.cells:
            x, y = corner(cell)
            picture.add("rect", x=x, y=y, width=CELL_PX, height=CELL_PX, fill=tint)
    walls = {
        (at, level)
        for (r, c), region in of.items()
        for neighbour, at, level in (
            ((r - 1, c), (r, c), "h"),
            ((r, c - 1), (r, c), "v"),
            ((r + 1, c), (r + 1, c), "h"),
            ((r, c + 1), (r, c + 1), "v"),
        )
        if of.get(neighbour) != region
    }
    edges = ((*corner(at), level) for at, level in sorted(walls))
    path = "".join(f"M{x} {y}{level}{CELL_PX}" for x, y, level in edges)
    picture.add("path", d=path, stroke=INK, stroke_width=WALL_PX, stroke_linecap="square")
    for put in solution or ():
        (x, y), (x2, y2) = corner(put.cell_a), corner(put.cell_b)
        picture.add(
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
            picture.middle(at[0] + half, at[1] + half, str(pip), PIP_PX, font_weight=weight)
    for region in puzzle.regions:
        if region.type is not RegionType.EMPTY:
            text = mark(region)
            x, y = corner(min(region.cells))
            wide = MARK_PX + 4 + (len(text) - 1) * MARK_PX * 2 // 3
            picture.add("rect", x=x - 6, y=y - 8, width=wide, height=MARK_PX + 4, rx=4, fill=INK)
            middle = (x - 6 + wide / 2, y - 8 + (MARK_PX + 4) / 2)
            picture.middle(*middle, text, MARK_PX, fill=GROUND)
    return picture.text()

"""Pictures of Pips boards as SVG: tinted regions with their constraints, dominoes with pips.

Without a solution the dominoes lie below the board. Halves of up to six pips have dots on them,
where they are large enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nightgrid.service.drawing.colours import GROUND, INK, LINE, PAPER
from nightgrid.service.drawing.svg import Picture
from nightgrid.service.games.pips.view import mark, region_tints
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell, RegionType
from nightgrid.solvers.pips.solution import Solution


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Measures of a picture in pixels."""

    cell: int
    inset: int
    """From the edge of a domino's cells to the domino."""
    pip: int
    """Height of a number of pips."""
    mark: int
    """Height of a constraint."""
    wall: int
    dot: float
    """Radius of a pip; 0 writes their number instead."""


LARGE = Size(cell=48, inset=5, pip=22, mark=15, wall=3, dot=3.6)
SMALL = Size(cell=26, inset=3, pip=15, mark=11, wall=2, dot=0)
LARGE_CELLS_MAX = 30
"""Boards that span more rows or columns have small cells."""
CELLS_MAX = 400
"""Most rows or columns of a picture."""
TRAY_COLUMNS_MIN = 12
"""Least width of the dominoes below a board, in cells."""
VEIL = 0.6
"""How much a domino hides of its regions."""
_DOTS = (
    (),
    ((0, 0),),
    ((-1, -1), (1, 1)),
    ((-1, -1), (0, 0), (1, 1)),
    ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    ((-1, -1), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 1)),
)
"""Where pips lie on a half of a domino that lies level: (across, along)."""

Spot = tuple[float, float]


def draw_svg(
    puzzle: Puzzle,
    solution: Solution | None = None,
    title: str | None = None,
    *,
    size: Size | None = None,
) -> str:
    """Draw a board, with the dominoes of a solution, as the text of an SVG file.

    Raises PermanentError for a board too large for a picture.
    """
    cells = puzzle.cells
    top, left = min(r for r, _ in cells), min(c for _, c in cells)
    rows = max(r for r, _ in cells) - top + 1
    columns = max(c for _, c in cells) - left + 1
    if max(rows, columns) > CELLS_MAX:
        raise PermanentError(
            f"the board spans {rows} rows and {columns} columns, too many for a picture"
        )
    size = size or (LARGE if max(rows, columns) <= LARGE_CELLS_MAX else SMALL)
    cell_px = size.cell
    tray = [] if solution else _tray(len(puzzle.dominoes), max(columns, TRAY_COLUMNS_MIN))
    wide = max([float(columns), *(column + 2 for _, column in tray)])
    high = max([float(rows), *(rows + row + 1 for row, _ in tray)])
    solved = ", solved" if solution else ""
    picture = Picture(
        f"{title or 'Pips board'}: {len(puzzle.dominoes)} dominoes{solved}",
        title,
        wide * cell_px,
        high * cell_px,
    )
    start = (picture.width - columns * cell_px) // 2
    at = {
        (r, c): (start + (c - left) * cell_px, picture.top + (r - top) * cell_px) for r, c in cells
    }
    _draw_regions(picture, puzzle, at, size)
    for put in solution or ():
        _draw_domino(picture, size, at[put.cell_a], at[put.cell_b], (put.pip_a, put.pip_b))
    for (row, column), pips in zip(tray, puzzle.dominoes, strict=False):
        x = (picture.width - wide * cell_px) / 2 + column * cell_px
        y = picture.top + (rows + row) * cell_px
        _draw_domino(picture, size, (x, y), (x + cell_px, y), pips)
    for region in puzzle.regions:
        if region.type is not RegionType.EMPTY:
            _draw_mark(picture, size, at[min(region.cells)], mark(region))
    return picture.text()


def _tray(dominoes: int, columns: int) -> list[tuple[float, float]]:
    """Lay dominoes out: the (row, column) of each in cells, from the lower end of the board."""
    a_row = int((columns + 0.5) // 2.5)
    return [(0.75 + 1.25 * (i // a_row), 2.5 * (i % a_row)) for i in range(dominoes)]


def _draw_regions(picture: Picture, puzzle: Puzzle, at: Mapping[Cell, Spot], size: Size) -> None:
    """Draw every cell in the tint of its region, and the walls between regions."""
    of = {cell: i for i, region in enumerate(puzzle.regions) for cell in region.cells}
    tints = region_tints(puzzle)
    for cell, region in of.items():
        x, y = at[cell]
        look: dict[str, Any] = {"fill": tints[region], "data_cell": f"{cell[0]},{cell[1]}"}
        picture.add("rect", x=x, y=y, width=size.cell, height=size.cell, **look)
    walls = set()
    for (r, c), region in of.items():
        x, y = at[r, c]
        for neighbour, start, level in (
            ((r - 1, c), (x, y), "h"),
            ((r, c - 1), (x, y), "v"),
            ((r + 1, c), (x, y + size.cell), "h"),
            ((r, c + 1), (x + size.cell, y), "v"),
        ):
            if of.get(neighbour) != region:
                walls.add((start, level))
    path = "".join(f"M{x} {y}{level}{size.cell}" for (x, y), level in sorted(walls))
    picture.add("path", d=path, stroke=INK, stroke_width=size.wall, stroke_linecap="square")


def _draw_domino(
    picture: Picture, size: Size, one: Spot, other: Spot, pips: tuple[int, int]
) -> None:
    """Draw a domino over two cells, given by their upper left corners."""
    (x, y), (x2, y2) = min(one, other), max(one, other)
    inset, half = size.inset, size.cell / 2
    wide, high = x2 - x + size.cell - 2 * inset, y2 - y + size.cell - 2 * inset
    look: dict[str, Any] = {
        "rx": size.cell / 5,
        "fill": PAPER,
        "fill_opacity": f"{VEIL}",
        "stroke": INK,
        "class_": "domino",
    }
    picture.add("rect", x=x + inset, y=y + inset, width=wide, height=high, **look)
    if size.dot:
        # The line between the halves.
        middle = f"M{x2} {y + 3 * inset}v{size.cell - 6 * inset}"
        if x == x2:
            middle = f"M{x + 3 * inset} {y2}h{size.cell - 6 * inset}"
        picture.add("path", d=middle, stroke=LINE)
    for pip, (left, top) in zip(pips, (one, other), strict=True):
        if not size.dot or pip >= len(_DOTS):
            weight = "700" if pip else "400"
            picture.middle(left + half, top + half, str(pip), size.pip, font_weight=weight)
            continue
        for across, along in _DOTS[pip]:
            dx, dy = (across, along) if x == x2 else (along, across)
            x_at, y_at = (left + half + dx * size.cell / 5, top + half + dy * size.cell / 5)
            picture.add("circle", cx=x_at, cy=y_at, r=size.dot)


def _draw_mark(picture: Picture, size: Size, corner: Spot, text: str) -> None:
    """Draw the constraint of a region over the corner of its first cell."""
    x, y = corner[0] - size.mark / 2, corner[1] - size.mark * 0.7
    high = size.mark + 4
    wide = high + (len(text) - 1) * size.mark * 2 / 3
    picture.add("rect", x=x, y=y, width=wide, height=high, rx=high / 3, fill=INK)
    picture.middle(x + wide / 2, y + high / 2, text, size.mark, fill=GROUND)

"""How Pips is shown: tinted regions with their constraints, and dominoes with their pips.

In a terminal, walls separate cells of different regions and surround the board, the constraint of a
region is in the wall above its first cell, and dominoes cross walls as heavy strokes. In a picture
without a solution the dominoes are below the board; halves of up to six pips have dots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from rich.text import Text

from nightgrid.service.drawing.colours import (
    GROUND,
    INK,
    LINE,
    PAPER,
    PLAIN,
    TINTS,
    distinct_colours,
    on,
)
from nightgrid.service.drawing.svg import Picture
from nightgrid.service.drawing.text import Canvas, stacked
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell, Region, RegionType
from nightgrid.solvers.pips.solution import Solution
from nightgrid.solvers.sentences import plural

DOMINOES_PER_LINE = 7
PIP_AT = 2
"""Column of a pip in its cell, if labels are short; longer ones widen all columns."""
AROUND = 2
"""Columns of a cell to the right of its pip."""
MAX_DRAWN_CELLS = 100_000
"""Largest rows x columns that are drawn; dominoes may be thousands of empty cells apart."""

CELL_PX = 48
INSET_PX = 5
"""Distance from the edge of a domino's cells to the domino."""
PIP_PX = 22
"""Height of a number of pips."""
MARK_PX = 15
"""Height of a constraint."""
WALL_PX = 3
DOT_PX = 3.6
"""Radius of a pip."""
TRAY_COLUMNS_MIN = 12
"""Smallest width of the dominoes below a board, in cells."""
VEIL = 0.6
"""Opacity of a domino over its regions."""
_DOTS = (
    (),
    ((0, 0),),
    ((-1, -1), (1, 1)),
    ((-1, -1), (0, 0), (1, 1)),
    ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    ((-1, -1), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 1)),
)
"""Positions of pips on a horizontal half of a domino: (across, along)."""
_MARKS = {RegionType.EMPTY: "*", RegionType.EQUALS: "=", RegionType.UNEQUAL: "≠"}
_BESIDE = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]

Spot = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The regions of a board as terminals and pictures show them."""

    region: Mapping[Cell, int]
    tints: tuple[str, ...]
    """The tint of every region: neighbours differ, and regions without a constraint are plain."""
    marks: Mapping[Cell, str]
    """The constraint of every region, at its first cell."""

    @classmethod
    def of(cls, puzzle: Puzzle) -> Self:
        """Collect the constraints of a board and choose its tints."""
        of = {cell: i for i, region in enumerate(puzzle.regions) for cell in region.cells}
        bound = [i for i, r in enumerate(puzzle.regions) if r.type is not RegionType.EMPTY]
        neighbours: dict[int, set[int]] = {i: set() for i in bound}
        for (r, c), i in of.items():
            if i in neighbours:
                around = {of.get((r + down, c + right), i) for down, right in _BESIDE}
                neighbours[i] |= around - {i}
        colours = distinct_colours(neighbours, len(TINTS))
        tints = (TINTS[colours[i]] if i in colours else PLAIN for i in range(len(puzzle.regions)))
        marks = {min(region.cells): mark(region) for region in puzzle.regions}
        return cls(region=of, tints=tuple(tints), marks=marks)

    @property
    def bounds(self) -> tuple[int, int, int, int]:
        """First row and column, numbers of rows and columns."""
        rows, columns = ({cell[i] for cell in self.region} for i in (0, 1))
        top, left = min(rows), min(columns)
        return top, left, max(rows) - top + 1, max(columns) - left + 1


def mark(region: Region) -> str:
    """Format a constraint: a number is the sum, `<5` and `>5` are bounds of it.

    `=` and `≠` mean equal and distinct pips, `*` no constraint.
    """
    if region.type is RegionType.LESS:
        return f"<{region.target}"
    if region.type is RegionType.GREATER:
        return f">{region.target}"
    return _MARKS.get(region.type) or str(region.target)


def draw(puzzle: Puzzle, solution: Solution = ()) -> Text:
    """Draw regions, each with its constraint, and the dominoes of a solution."""
    board = Board.of(puzzle)
    _, _, rows, columns = board.bounds
    if rows * columns > MAX_DRAWN_CELLS:
        return Text(f"(a board that spans {rows} rows and {columns} columns is too large to draw)")
    pips = {put.cell_a: str(put.pip_a) for put in solution}
    pips |= {put.cell_b: str(put.pip_b) for put in solution}
    longest = max(map(len, pips.values()), default=1)
    at = max(PIP_AT, 1 + _before(longest), *map(len, board.marks.values()))
    width = max(at + 1 + AROUND, at - _before(longest) + longest + 1)
    grounds = dict(enumerate(map(on, board.tints)))
    canvas = Canvas()
    inside = canvas.cells(board.region, width, 1, "", grounds)
    for cell, text in board.marks.items():
        y, x = inside[cell]
        canvas.write((y - 1, x), text, f"bold {grounds[board.region[cell]]}")
    for put in solution:
        (y, x), (below, right) = sorted((inside[put.cell_a], inside[put.cell_b]))
        step = (0, 1) if y == below else (1, 0)
        stroke, crossing, wall = ("━", "┿", "│") if y == below else ("┃", "╂", "─")
        for i in range(1, right - x + below - y):
            place = (y + step[0] * i, x + at + step[1] * i)
            crossed = canvas.texts.get(place, ("", ""))[0] == wall
            canvas.write(place, crossing if crossed else stroke, "")
    for cell, text in pips.items():
        y, x = inside[cell]
        canvas.write((y, x + at - _before(len(text))), text, "bold")
    return canvas.drawing()


solution = draw


def list_dominoes(puzzle: Puzzle) -> str:
    """List a puzzle's dominoes in columns, DOMINOES_PER_LINE a line."""
    texts = [f"{a}-{b}" for a, b in puzzle.dominoes]
    width = max(map(len, texts))
    lines = (
        texts[start : start + DOMINOES_PER_LINE]
        for start in range(0, len(texts), DOMINOES_PER_LINE)
    )
    return "\n".join("   ".join(text.ljust(width) for text in line).rstrip() for line in lines)


def svg(puzzle: Puzzle, solution: Solution | None, title: str | None) -> str:
    """Draw a board, with the dominoes of a solution, as the text of an SVG file."""
    board = Board.of(puzzle)
    top, left, rows, columns = board.bounds
    tray = [] if solution else _tray(len(puzzle.dominoes), max(columns, TRAY_COLUMNS_MIN))
    wide = max([float(columns), *(column + 2 for _, column in tray)])
    high = max([float(rows), *(rows + row + 1 for row, _ in tray)])
    solved = ", solved" if solution else ""
    spoken = f"{title or 'Pips board'}: {len(puzzle.dominoes)} dominoes{solved}"
    picture = Picture(spoken, title, wide * CELL_PX, high * CELL_PX)
    start = int((wide - columns) * CELL_PX) // 2
    at = {(r, c): (start + (c - left) * CELL_PX, (r - top) * CELL_PX) for r, c in board.region}
    _draw_regions(picture, board, at)
    for put in solution or ():
        _draw_domino(picture, at[put.cell_a], at[put.cell_b], (put.pip_a, put.pip_b))
    for (row, column), pips in zip(tray, puzzle.dominoes, strict=False):
        x, y = column * CELL_PX, (rows + row) * CELL_PX
        _draw_domino(picture, (x, y), (x + CELL_PX, y), pips)
    for cell, text in board.marks.items():
        if text != _MARKS[RegionType.EMPTY]:
            # Over the corner of the region's first cell.
            x, y = at[cell][0] - MARK_PX / 2, at[cell][1] - MARK_PX * 0.7
            tall = MARK_PX + 4
            broad = tall + (len(text) - 1) * MARK_PX * 2 / 3
            picture.add("rect", x=x, y=y, width=broad, height=tall, rx=tall / 3, fill=INK)
            picture.middle(x + broad / 2, y + tall / 2, text, MARK_PX, fill=GROUND)
    return picture.text()


def _tray(dominoes: int, columns: int) -> list[tuple[float, float]]:
    """Arrange dominoes; return the (row, column) of each in cells, relative to the lower edge."""
    a_row = int((columns + 0.5) // 2.5)
    return [(0.75 + 1.25 * (i // a_row), 2.5 * (i % a_row)) for i in range(dominoes)]


def _draw_regions(picture: Picture, board: Board, at: Mapping[Cell, tuple[int, int]]) -> None:
    """Draw every cell in the tint of its region, and the walls between regions."""
    of = board.region
    for (r, c), region in of.items():
        x, y = at[r, c]
        look: dict[str, Any] = {"fill": board.tints[region], "data_cell": f"{r},{c}"}
        picture.add("rect", x=x, y=y, width=CELL_PX, height=CELL_PX, **look)
    walls = set()
    for (r, c), (x, y) in at.items():
        for down, right, level in ((1, 0, "h"), (0, 1, "v")):
            if of.get((r - down, c - right)) != of[r, c]:
                walls.add((x, y, level))
            if of.get((r + down, c + right)) != of[r, c]:
                walls.add((x + right * CELL_PX, y + down * CELL_PX, level))
    path = "".join(f"M{x} {y}{level}{CELL_PX}" for x, y, level in sorted(walls))
    picture.add("path", d=path, stroke=INK, stroke_width=WALL_PX, stroke_linecap="square")


def _draw_domino(picture: Picture, one: Spot, other: Spot, pips: tuple[int, int]) -> None:
    """Draw a domino over two cells, given by their upper left corners."""
    (x, y), (x2, y2) = min(one, other), max(one, other)
    look: dict[str, Any] = {
        "width": x2 - x + CELL_PX - 2 * INSET_PX,
        "height": y2 - y + CELL_PX - 2 * INSET_PX,
        "rx": CELL_PX / 5,
        "fill": PAPER,
        "fill_opacity": f"{VEIL}",
        "stroke": INK,
        "class_": "domino",
    }
    picture.add("rect", x=x + INSET_PX, y=y + INSET_PX, **look)
    line = f"h{CELL_PX - 6 * INSET_PX}" if x == x2 else f"v{CELL_PX - 6 * INSET_PX}"
    inset = 3 * INSET_PX
    start = f"M{x + inset} {y2}" if x == x2 else f"M{x2} {y + inset}"
    picture.add("path", d=start + line, stroke=LINE)
    for pip, corner in zip(pips, (one, other), strict=True):
        middle_x, middle_y = (edge + CELL_PX / 2 for edge in corner)
        if pip >= len(_DOTS):
            picture.middle(middle_x, middle_y, str(pip), PIP_PX)
            continue
        for across, along in _DOTS[pip]:
            dx, dy = (across, along) if x == x2 else (along, across)
            cx, cy = middle_x + dx * CELL_PX / 5, middle_y + dy * CELL_PX / 5
            picture.add("circle", cx=cx, cy=cy, r=DOT_PX)


def _before(length: int) -> int:
    """Count the characters of a pip on the left of its middle."""
    return (length - 1) // 2


def describe(puzzle: Puzzle) -> str:
    """Count dominoes and regions."""
    dominoes = plural(len(puzzle.dominoes), "domino").replace("os", "oes")
    return f"{dominoes}, {plural(len(puzzle.regions), 'region')}"


def board(puzzle: Puzzle) -> Text:
    """Draw the regions, and list the dominoes."""
    return stacked(draw(puzzle), Text(f"\nDominoes:\n\n{list_dominoes(puzzle)}"))


def line(solution: Solution) -> str:
    """List the dominoes from cell to cell."""
    return " ".join(f"{put.pip_a}-{put.pip_b}" for put in solution)

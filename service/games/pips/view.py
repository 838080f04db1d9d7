"""How Pips is shown: walls and grounds of regions, and dominoes as strokes between their pips.

A wall stands between two cells of different regions and around the board; the target of a region
stands in the wall above its first cell. Dominoes cross walls as a heavy stroke does a light one.
Drawings have no trailing spaces and no final line break, and start at the first row and column.
"""

from __future__ import annotations

from collections.abc import Mapping

from nightgrid.service.drawing import Drawing, View, plain
from nightgrid.service.drawing.canvas import Canvas, Place
from nightgrid.service.drawing.colours import PLAIN, TINTS, distinct_colours, on
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell, Region, RegionType
from nightgrid.solvers.pips.solution import Placement, Solution
from nightgrid.solvers.sentences import plural

DOMINOES_PER_LINE = 7
PIP_AT = 2
"""Column of a pip in its cell, where labels are short; what needs more room widens its column."""
AROUND = 2
"""Columns of a cell beside its pip, on the right."""
MAX_DRAWN_CELLS = 100_000
"""Largest rows x columns that is drawn; dominoes may lie thousands of empty cells apart."""

_MARKS = {RegionType.EMPTY: "*", RegionType.EQUALS: "=", RegionType.UNEQUAL: "≠"}
_BESIDE = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]


def draw(puzzle: Puzzle, solution: Solution = ()) -> Drawing:
    """Draw a board's regions, each with its constraint, and the dominoes of a solution.

    A number is the sum wanted, `<5` and `>5` are bounds of it, `=` and `≠` stand for equal and
    for distinct pips, `*` for no constraint.
    """
    groups = {cell: i for i, region in enumerate(puzzle.regions) for cell in region.cells}
    marks = {min(region.cells): mark(region) for region in puzzle.regions}
    return _draw(groups, marks, solution, dict(enumerate(map(on, region_tints(puzzle)))))


def draw_dominoes(solution: Solution) -> Drawing:
    """Draw dominoes whose board is not known."""
    cells = [cell for put in solution for cell in (put.cell_a, put.cell_b)]
    return _draw(dict.fromkeys(cells, 0), {}, solution, {})


def region_tints(puzzle: Puzzle) -> list[str]:
    """Choose the tint of every region: neighbours differ, and what has no constraint is plain."""
    of = {cell: i for i, region in enumerate(puzzle.regions) for cell in region.cells}
    bound = [i for i, r in enumerate(puzzle.regions) if r.type is not RegionType.EMPTY]
    neighbours: dict[int, set[int]] = {i: set() for i in bound}
    for (r, c), i in of.items():
        if i in neighbours:
            around = {of.get((r + down, c + right), i) for down, right in _BESIDE}
            neighbours[i] |= around - {i}
    colours = distinct_colours(neighbours, len(TINTS))
    return [TINTS[colours[i]] if i in colours else PLAIN for i in range(len(puzzle.regions))]


def list_dominoes(puzzle: Puzzle) -> str:
    """List a puzzle's dominoes in columns, DOMINOES_PER_LINE a line."""
    texts = [f"{a}-{b}" for a, b in puzzle.dominoes]
    width = max(map(len, texts))
    lines = (
        texts[start : start + DOMINOES_PER_LINE]
        for start in range(0, len(texts), DOMINOES_PER_LINE)
    )
    return "\n".join("   ".join(text.ljust(width) for text in line).rstrip() for line in lines)


def mark(region: Region) -> str:
    """Write the constraint of a region in a few characters."""
    if region.type is RegionType.LESS:
        return f"<{region.target}"
    if region.type is RegionType.GREATER:
        return f">{region.target}"
    return _MARKS.get(region.type) or str(region.target)


def _draw(
    groups: Mapping[Cell, int],
    marks: Mapping[Cell, str],
    solution: Solution,
    grounds: Mapping[int, str],
) -> Drawing:
    """Draw walls around groups of cells, marks above cells, and dominoes."""
    top, below = min(r for r, _ in groups), max(r for r, _ in groups)
    left, right = min(c for _, c in groups), max(c for _, c in groups)
    rows, cols = below - top + 1, right - left + 1
    if rows * cols > MAX_DRAWN_CELLS:
        return plain(f"(a board that spans {rows} rows and {cols} columns is too large to draw)")
    pips = {cell: str(pip) for put in solution for cell, pip in _halves(put)}
    at = dict.fromkeys(range(left, right + 1), PIP_AT)
    for (_, c), text in marks.items():
        at[c] = max(at[c], len(text))
    for (_, c), text in pips.items():
        at[c] = max(at[c], 1 + _before(text))
    widths = {c: column + 1 + AROUND for c, column in at.items()}
    for (_, c), text in pips.items():
        widths[c] = max(widths[c], at[c] - _before(text) + len(text) + 1)
    canvas = Canvas()
    inside = canvas.cells(groups, widths, 1, "", grounds)
    for cell, text in marks.items():
        y, x = inside[cell]
        canvas.write((y - 1, x), text, f"bold {grounds[groups[cell]]}")
    middles = {cell: (y, x + at[cell[1]]) for cell, (y, x) in inside.items()}
    for put in solution:
        _draw_stroke(canvas, middles[put.cell_a], middles[put.cell_b])
    for cell, text in pips.items():
        y, x = middles[cell]
        canvas.write((y, x - _before(text)), text, "bold")
    return canvas.drawing()


def _draw_stroke(canvas: Canvas, one: Place, other: Place) -> None:
    (y, x), (below, right) = sorted((one, other))
    for i in range(x + 1, right):
        canvas.cross((y, i), level=True, style="")
    for i in range(y + 1, below):
        canvas.cross((i, x), level=False, style="")


def _halves(put: Placement) -> tuple[tuple[Cell, int], tuple[Cell, int]]:
    return (put.cell_a, put.pip_a), (put.cell_b, put.pip_b)


def _before(text: str) -> int:
    """Count the characters of a pip on the left of its middle."""
    return (len(text) - 1) // 2


class PipsView(View):
    """See nightgrid.service.drawing.View."""

    def describe(self, puzzle: Puzzle) -> str:
        """Count dominoes and regions."""
        dominoes = plural(len(puzzle.dominoes), "domino").replace("os", "oes")
        return f"{dominoes}, {plural(len(puzzle.regions), 'region')}"

    def board(self, puzzle: Puzzle) -> Drawing:
        """Draw the regions, and list the dominoes."""
        return (*draw(puzzle), *plain(f"\nDominoes:\n\n{list_dominoes(puzzle)}"))

    def solution(self, puzzle: Puzzle | None, solution: Solution, *, scored: bool) -> Drawing:  # noqa: ARG002 - it has no score
        """Draw the dominoes on their regions."""
        return draw_dominoes(solution) if puzzle is None else draw(puzzle, solution)

    def line(self, solution: Solution) -> str:
        """List the dominoes from cell to cell."""
        return " ".join(f"{put.pip_a}-{put.pip_b}" for put in solution)


VIEW = PipsView()

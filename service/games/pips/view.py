"""How Pips is shown: regions and dominoes in box characters, and the dominoes where they lie.

A wall stands between two cells of different groups (regions, or tiles of a solution) and around
the board; cells of one group have none between them. Drawings have no trailing spaces, no final
line break, and start at the board's first row and column.
"""

from __future__ import annotations

from collections.abc import Mapping

from nightgrid.service.drawing import Drawing, View, plain, text_of
from nightgrid.service.drawing.canvas import Canvas
from nightgrid.service.terminal.console import plural
from nightgrid.solvers.pips.puzzle import Cell, Puzzle, Region, RegionType
from nightgrid.solvers.pips.solution import Solution

DOMINOES_PER_LINE = 7
CELL_WIDTH_CHARS = 3
"""Inner width of a column whose labels are short; longer labels widen their column."""
MAX_DRAWN_CELLS = 100_000
"""Largest rows x columns that is drawn; dominoes may lie thousands of empty cells apart."""

_MARKS = {RegionType.EMPTY: "*", RegionType.EQUALS: "=", RegionType.UNEQUAL: "≠"}


def draw_regions(puzzle: Puzzle) -> str:
    """Draw a board's regions, each with its constraint in its last cell.

    A number is the sum wanted, `<5` and `>5` are bounds of it, `=` and `≠` stand for equal and
    for distinct pips, `*` for no constraint.
    """
    groups: dict[Cell, int] = {}
    labels: dict[Cell, str] = {}
    for number, region in enumerate(puzzle.regions):
        groups.update(dict.fromkeys(region.cells, number))
        labels[max(region.cells)] = mark(region)
    return _draw(groups, labels)


def draw_solution(solution: Solution) -> str:
    """Draw a solution's dominoes with the pips on their halves."""
    groups: dict[Cell, int] = {}
    labels: dict[Cell, str] = {}
    for number, put in enumerate(solution):
        for cell, pip in ((put.cell_a, put.pip_a), (put.cell_b, put.pip_b)):
            groups[cell] = number
            labels[cell] = str(pip)
    return _draw(groups, labels)


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


def _draw(groups: Mapping[Cell, int], labels: Mapping[Cell, str]) -> str:
    """Draw cells by group, each with its label at the right."""
    top, below = min(r for r, _ in groups), max(r for r, _ in groups)
    left, right = min(c for _, c in groups), max(c for _, c in groups)
    rows, cols = below - top + 1, right - left + 1
    if rows * cols > MAX_DRAWN_CELLS:
        return f"(a board that spans {rows} rows and {cols} columns is too large to draw)"
    widths = dict.fromkeys(range(left, right + 1), CELL_WIDTH_CHARS)
    for (_, c), label in labels.items():
        widths[c] = max(widths[c], len(label) + 1)
    canvas = Canvas()
    for cell, (y, x) in canvas.cells(groups, widths, 1, "").items():
        label = labels.get(cell, "")
        canvas.write((y, x + widths[cell[1]] - 1 - len(label)), label, "")
    return text_of(canvas.drawing())


class PipsView(View):
    """See nightgrid.service.drawing.View."""

    def describe(self, puzzle: Puzzle) -> str:
        """Count dominoes and regions."""
        dominoes = plural(len(puzzle.dominoes), "domino").replace("os", "oes")
        return f"{dominoes}, {plural(len(puzzle.regions), 'region')}"

    def board(self, puzzle: Puzzle) -> Drawing:
        """Draw the regions, and list the dominoes."""
        return plain(f"{draw_regions(puzzle)}\n\nDominoes:\n\n{list_dominoes(puzzle)}")

    def solution(self, puzzle: Puzzle | None, solution: Solution, *, scored: bool) -> Drawing:  # noqa: ARG002 - dominoes are drawn by themselves and have no score
        """Draw the dominoes with their pips."""
        return plain(draw_solution(solution))

    def line(self, solution: Solution) -> str:
        """List the dominoes from cell to cell."""
        return " ".join(f"{put.pip_a}-{put.pip_b}" for put in solution)


VIEW = PipsView()

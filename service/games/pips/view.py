"""How Pips is shown: regions, dominoes, and the dominoes where they lie."""

from __future__ import annotations

from nightgrid.service.drawing.styled import Drawing, plain
from nightgrid.service.games.pips.grid import draw_regions, draw_solution, list_dominoes
from nightgrid.service.games.pips.svg import draw_svg
from nightgrid.service.terminal.console import plural
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.solution import Solution


class PipsView:
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

    def value(self, value: int, rules: str) -> str:  # noqa: ARG002 - never asked: none is worth more
        """Write a value; solutions of Pips have none."""
        return str(value)

    def svg(self, puzzle: Puzzle, solution: Solution | None, title: str | None) -> str:
        """Draw tinted regions, and the dominoes with their pips."""
        return draw_svg(puzzle, solution, title)

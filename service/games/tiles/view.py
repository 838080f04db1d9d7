"""How Tiles is shown: the tiles with their features, and a walk as numbered moves."""

from __future__ import annotations

from nightgrid.service.drawing.styled import Drawing, plain
from nightgrid.service.games.tiles.grid import draw_board, list_moves
from nightgrid.service.games.tiles.svg import draw_svg
from nightgrid.service.terminal.console import plural
from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.solution import Walk

LINE_TILES = 40
"""Tiles of a walk that are written in one line."""


class TilesView:
    """See nightgrid.service.drawing.View."""

    def describe(self, puzzle: Puzzle) -> str:
        """Count tiles and features."""
        features = len({feature for tile in puzzle.tiles for feature in tile})
        return f"{plural(len(puzzle.tiles), 'tile')}, {plural(features, 'feature')}"

    def board(self, puzzle: Puzzle) -> Drawing:
        """Draw the tiles."""
        return draw_board(puzzle)

    def solution(self, puzzle: Puzzle | None, solution: Walk, *, scored: bool) -> Drawing:  # noqa: ARG002 - the moves are numbered
        """Draw which move clears what, and list the moves; a walk without its board is a line."""
        if puzzle is None:
            return plain(self.line(solution))
        return (*draw_board(puzzle, solution), (("", ""),), *list_moves(puzzle, solution))

    def line(self, solution: Walk) -> str:
        """Write the tiles in the order in which they are selected."""
        tiles = " ".join(str(tile + 1) for tile in solution.tiles[:LINE_TILES])
        more = " ..." if len(solution.tiles) > LINE_TILES else ""
        return f"{plural(solution.moves, 'move')}: {tiles}{more}"

    def value(self, value: int, rules: str) -> str:  # noqa: ARG002 - the same under all rules
        """Write a number of moves."""
        return plural(value, "move")

    def svg(self, puzzle: Puzzle, solution: Walk | None, title: str | None) -> str:
        """Draw the figures, and the numbers of the moves."""
        return draw_svg(puzzle, solution, title)

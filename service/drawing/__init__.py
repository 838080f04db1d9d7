"""How boards and solutions of each game are shown to people: one view a game."""

from __future__ import annotations

from typing import Any, Protocol

from nightgrid.service.drawing.styled import Drawing


class View(Protocol):
    """What people see of a game. Puzzles and solutions are the game's own values."""

    def describe(self, puzzle: Any) -> str:
        """Say in a few words what a puzzle consists of."""

    def board(self, puzzle: Any) -> Drawing:
        """Draw a puzzle, with everything that has to be known to solve it."""

    def solution(self, puzzle: Any | None, solution: Any, *, scored: bool) -> Drawing:
        """Draw a solution on its board; `scored` solutions say what they are worth.

        A solution from the lake may come without its puzzle, and is drawn by itself.
        """

    def line(self, solution: Any) -> str:
        """Write a solution as one line."""

    def value(self, value: int, rules: str) -> str:
        """Write what a solution is worth under the rules: "2 words"."""

    def svg(self, puzzle: Any, solution: Any | None, title: str | None) -> str:
        """Draw a puzzle, with its solution if there is one, as the text of an SVG file."""

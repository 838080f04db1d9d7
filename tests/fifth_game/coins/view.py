"""How Coins is shown: the purse, and sums."""

from __future__ import annotations

from rich.text import Text

from nightgrid.service.drawing import View
from nightgrid.solvers.errors import PermanentError

from .puzzle import Choice, Puzzle


class CoinsView(View):
    def describe(self, puzzle: Puzzle) -> str:
        return f"{len(puzzle.coins)} coins, total {puzzle.total}"

    def board(self, puzzle: Puzzle) -> Text:
        return Text(" ".join(f"({coin})" for coin in puzzle.coins) + f" -> {puzzle.total}")

    def solution(self, puzzle: Puzzle, solution: Choice) -> Text:
        coins = " + ".join(str(puzzle.coins[i]) for i in solution)
        return Text(f"{coins} = {puzzle.total}")

    def line(self, solution: Choice) -> str:
        return "coins " + " ".join(str(i + 1) for i in solution)

    def svg(self, puzzle: Puzzle, solution: Choice | None, title: str | None) -> str:
        raise PermanentError("boards of Coins have no pictures")


VIEW = CoinsView()

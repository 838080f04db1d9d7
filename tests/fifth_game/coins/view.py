"""How Coins is shown: the purse, and sums."""

from __future__ import annotations

from nightgrid.service.drawing import Drawing, View, plain

from .puzzle import Choice, Puzzle


class CoinsView(View):
    def describe(self, puzzle: Puzzle) -> str:
        return f"{len(puzzle.coins)} coins, total {puzzle.total}"

    def board(self, puzzle: Puzzle) -> Drawing:
        return plain(" ".join(f"({coin})" for coin in puzzle.coins) + f" -> {puzzle.total}")

    def solution(self, puzzle: Puzzle | None, solution: Choice, *, scored: bool) -> Drawing:
        if puzzle is None:
            return plain(self.line(solution))
        coins = " + ".join(str(puzzle.coins[i]) for i in solution)
        return plain(f"{coins} = {puzzle.total}")

    def line(self, solution: Choice) -> str:
        return "coins " + " ".join(str(i + 1) for i in solution)

    def svg(self, puzzle: Puzzle, solution: Choice | None, title: str | None) -> str:
        raise NotImplementedError


VIEW = CoinsView()

"""The view of Coins: the purse, and sums."""

from __future__ import annotations

from rich.text import Text

from nightgrid.solvers.errors import PermanentError

from .puzzle import Choice, Puzzle


def describe(puzzle: Puzzle) -> str:
    return f"{len(puzzle.coins)} coins, total {puzzle.total}"


def board(puzzle: Puzzle) -> Text:
    return Text(" ".join(f"({coin})" for coin in puzzle.coins) + f" -> {puzzle.total}")


def solution(puzzle: Puzzle, solution: Choice) -> Text:
    coins = " + ".join(str(puzzle.coins[i]) for i in solution)
    return Text(f"{coins} = {puzzle.total}")


def line(solution: Choice) -> str:
    return "coins " + " ".join(str(i + 1) for i in solution)


def svg(puzzle: Puzzle, solution: Choice | None, title: str | None) -> str:
    raise PermanentError("boards of Coins have no pictures")

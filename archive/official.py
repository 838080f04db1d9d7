"""Official solutions: whether one is a solution of the board that the lake has, by the rules."""

from __future__ import annotations

from typing import Any

from solvers.algebra import Game
from solvers.errors import PermanentError


def is_valid(game: Game[Any, Any], puzzle: Any, value: Any) -> bool:
    """Check a solution, as the editions table has it, against a board and the game's rules."""
    try:
        _check(game, puzzle, game.solution_from_json(value))
    except PermanentError:
        return False
    return True


def _check(game: Game[Any, Any], puzzle: Any, solution: Any) -> None:
    # Imported on first use: a game's room is entered only where the game is played.
    if game.name == "pips":
        from solvers.pips.check import check_solution

        check_solution(puzzle, solution)
    elif game.name == "strands":
        from solvers.strands.check import check_cover
        from solvers.strands.rules import Rules

        check_cover(puzzle, Rules.parse(game.rules), solution)
    else:
        raise ValueError(f"no official solutions of {game.name!r} are known")

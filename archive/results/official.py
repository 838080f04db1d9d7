"""Official solutions: whether one is a solution of the board that the lake has, by the rules."""

from __future__ import annotations

from typing import Any

from nightgrid.archive.games import archive_plug
from nightgrid.solvers.algebra import Game


def is_valid(game: Game[Any, Any], puzzle: Any, value: Any) -> bool | None:
    """Check a solution, as the editions table has it, against a board and the game's rules.

    None where that is open: a solution may name words without saying where they lie, or be playable
    in more ways than can be followed.
    """
    return archive_plug(game.name).is_official(game, puzzle, game.solution_from_json(value))


def worth(game: Game[Any, Any], value: Any) -> int | None:
    """Say what a solution is worth in a game that asks for the fewest of something, else None.

    It compares with the `value` of an outcome under the same rules.
    """
    return archive_plug(game.name).worth(game, game.solution_from_json(value))

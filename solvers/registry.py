"""The games that nightgrid solves, by name."""

from __future__ import annotations

from typing import Any

from solvers.algebra import Game
from solvers.errors import PermanentError

GAMES: tuple[str, ...] = ("pips",)


def game(name: str) -> Game[Any, Any]:
    """Look a game up by name.

    Raises PermanentError for a name that is not in GAMES.
    """
    if name == "pips":
        # Imported on first use: a process that only reads the lake never loads Numba.
        from solvers.pips.game import PIPS

        return PIPS
    raise PermanentError(f"unknown game {name!r}; expected one of {', '.join(GAMES)}")

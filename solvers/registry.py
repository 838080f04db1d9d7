"""The games that nightgrid solves, by name."""

from __future__ import annotations

from typing import Any

from solvers.algebra import Game
from solvers.errors import PermanentError
from solvers.lexicon.lexicon import Lexicon

GAMES: tuple[str, ...] = ("pips", "strands")
WORD_GAMES: frozenset[str] = frozenset({"strands"})
"""The games that are solved with a lexicon."""


def game(name: str, rules: str = "", lexicon: Lexicon | None = None) -> Game[Any, Any]:
    """Look a game up by name, bound to rules and, for a word game, to a lexicon.

    Rules in any spelling that the game reads; "" means the game's own. Raises PermanentError for
    a name that is not in GAMES, for rules that the game does not have, and for a lexicon or rules
    given to a game without.
    """
    # Imported on first use: a process that only reads the lake never loads Numba.
    if name == "pips":
        from solvers.pips.game import PIPS

        if rules or lexicon is not None:
            raise PermanentError("Pips has neither rules to switch nor a lexicon")
        return PIPS
    if name == "strands":
        from solvers.strands.game import StrandsGame
        from solvers.strands.rules import Rules

        return StrandsGame(Rules.parse(rules), lexicon)
    raise PermanentError(f"unknown game {name!r}; expected one of {', '.join(GAMES)}")

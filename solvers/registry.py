"""The games that nightgrid solves, by name."""

from __future__ import annotations

from typing import Any

from solvers.algebra import Ask, Game
from solvers.errors import PermanentError
from solvers.letterboxed.columns import Dictionaries
from solvers.lexicon.lexicon import Lexicon

GAMES: tuple[str, ...] = ("pips", "strands", "letterboxed", "tiles")
WORD_GAMES: frozenset[str] = frozenset({"strands", "letterboxed"})
"""The games that are solved with words."""
OWN_WORDS: frozenset[str] = frozenset({"letterboxed"})
"""Those of them whose boards may bring a dictionary of their own. Bound to no lexicon, such a game
is played with it."""
UNCOUNTED: frozenset[str] = frozenset({"tiles"})
"""The games whose solutions are neither counted nor listed."""


def check_ask(ask: Ask, name: str) -> None:
    """Raise PermanentError for an ask that a game does not answer."""
    if ask.kind == "best" and name == "pips":
        raise PermanentError(
            "best(K) is for Strands, Letter Boxed and Tiles; solutions of Pips have no score"
        )
    if name in UNCOUNTED and str(ask) not in ("first", "best(1)"):
        raise PermanentError(
            f"{ask} is not for Tiles, whose solutions are neither counted nor listed; expected "
            "first or best(1), the fewest moves"
        )


def check_rules(rules: str, name: str) -> None:
    """Raise PermanentError for rules that a game does not have; loads nothing that solves."""
    if name == "strands":
        from solvers.strands.rules import Rules

        Rules.parse(rules)
    elif name == "letterboxed":
        from solvers.letterboxed.rules import Rules as ChainRules

        ChainRules.parse(rules)
    elif name == "tiles":
        from solvers.tiles.rules import Rules as TrailRules

        TrailRules.parse(rules)
    elif rules:
        raise PermanentError(f"{name} has no rules to switch; expected none, got {rules!r:.40}")


def game(
    name: str,
    rules: str = "",
    lexicon: Lexicon | None = None,
    dictionaries: Dictionaries | None = None,
) -> Game[Any, Any]:
    """Look a game up by name, bound to rules and, for a word game, to its words.

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
    if name == "letterboxed":
        from solvers.letterboxed.game import LetterBoxedGame
        from solvers.letterboxed.rules import Rules as ChainRules

        return LetterBoxedGame(ChainRules.parse(rules), lexicon, dictionaries)
    if name == "tiles":
        from solvers.tiles.game import TilesGame
        from solvers.tiles.rules import Rules as TrailRules

        if lexicon is not None:
            raise PermanentError("Tiles is not played with words")
        return TilesGame(TrailRules.parse(rules))
    raise PermanentError(f"unknown game {name!r}; expected one of {', '.join(GAMES)}")

"""The games of one command: each bound once to the rules and words that a person chose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nightgrid.service.options.rule_options import GameRules
from nightgrid.service.terminal.progress import warm

if TYPE_CHECKING:
    from nightgrid.solvers.algebra import Game


class Rooms:
    """Games by name, bound on first use; `warmed` ones have their kernels compiled as well."""

    def __init__(self, rules: GameRules, *, warmed: bool) -> None:
        self._rules = rules
        self._warmed = warmed
        self._games: dict[tuple[str, bool], Game[Any, Any]] = {}

    def room(self, game: str, puzzle: Any) -> Game[Any, Any]:
        """Return the game in which a puzzle is solved: with its own words, or with the lexicon."""
        key = (game, self._rules.plays_own_words(puzzle))
        if key not in self._games:
            self._games[key] = self._rules.bind(game, puzzle)
            if self._warmed:
                warm(game)
        return self._games[key]

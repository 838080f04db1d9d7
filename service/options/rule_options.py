"""Options that switch the rules of games: one block for every command that has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nightgrid.service.games import GameOption, service_plug
from nightgrid.service.options.option_games import (
    SharedOption,
    collect,
    option,
    refuse_others,
    with_options,
)
from nightgrid.solvers.errors import PermanentError, RuleError
from nightgrid.solvers.registry import GAMES, game_plug

if TYPE_CHECKING:
    from nightgrid.solvers.algebra import Game

_LEXICON = GameOption(
    "lexicon",
    str,
    "a word list, one word a line, with or without frequency. Default: the dictionary that a "
    "board brings, else the English words of wordfreq.",
    metavar="FILE",
)
OPTIONS = collect(
    lambda plug: plug.rule_options,
    {
        _LEXICON.name: SharedOption(
            name=_LEXICON.name,
            of={game: _LEXICON for game in GAMES if game_plug(game).words},
        )
    },
)
"""Every option that switches a rule, or the words that a game is played with."""


class GameRules:
    """What a person said about the rules; what was not said is the game's own rule."""

    def __init__(self, **said: Any) -> None:
        """Take options of OPTIONS by name, those alone that were given."""
        self._said = said
        self._bound: dict[tuple[str, bool], Game[Any, Any]] = {}

    def said(self) -> dict[str, Any]:
        """Name every option that was given, with its value."""
        return dict(self._said)

    @property
    def lexicon(self) -> str | None:
        """The word list to play with."""
        return self._said.get(_LEXICON.name)

    def check(self) -> None:
        """Raise PermanentError for a value that means nothing in any game."""
        for name, value in self._said.items():
            OPTIONS[name].check(value)

    def rules(self, game: str) -> str:
        """Write the rules of a game in one line, "" for a game without.

        Raises PermanentError, in the names of the options, for a rule that the game does not have,
        or has no such value for.
        """
        self.check()
        refuse_others(self._said, game, OPTIONS)
        plug = service_plug(game)
        try:
            return plug.rule_line(self._said)
        except RuleError as error:
            names = (o.name for o in plug.rule_options if (o.rule or o.name) == error.rule)
            name = next(names, None)
            if name is None:
                raise
            raise PermanentError(f"{option(name)} {error.fault}") from error

    def check_night(self, game: str) -> None:
        """Raise PermanentError for a value that a night over many boards cannot have."""
        service_plug(game).check_night(self._said)

    def among(self, games: Sequence[str]) -> list[GameRules]:
        """Give each of several games those options that are for it.

        Raises PermanentError for an option that is for none of them.
        """
        useless = {
            name: value
            for name, value in self._said.items()
            if not any(game in OPTIONS[name].games for game in games)
        }
        refuse_others(useless, games[0], OPTIONS)
        return [
            GameRules(
                **{name: value for name, value in self._said.items() if game in OPTIONS[name].games}
            )
            for game in games
        ]

    def puzzle(self, game: str, puzzle: Any) -> Any:
        """Give a puzzle what was said of it rather than of the rules.

        Raises PermanentError when its board cannot be so.
        """
        return service_plug(game).with_rules(puzzle, self._said)

    def bind(self, game: str, puzzle: Any) -> Game[Any, Any]:
        """Bind a game to the rules, and a game of words to the words for a puzzle.

        A puzzle that brings its own words is played with these unless a lexicon is given. A game is
        bound once. Raises PermanentError for rules or words that the game does not have, or a word
        list that cannot be read.
        """
        from nightgrid.archive.words.binding import bind_game, lexicon_for

        key = (game, getattr(puzzle, "dictionary", None) is not None)
        if key not in self._bound:
            lexicon = self.lexicon or lexicon_for(game, puzzle)
            self._bound[key] = bind_game(game, self.rules(game), lexicon)
        return self._bound[key]


with_game_rules = with_options("rules", OPTIONS, lambda said: GameRules(**said))
"""Give a command the options of OPTIONS in the place of its parameter `rules`, a GameRules."""

"""The rules of games set by --rule and --lexicon, and games bound to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from nightgrid.service.games import ALL, GameOption, service_plug
from nightgrid.service.games.plug import OptionError, Said
from nightgrid.service.options.shared_options import one_of
from nightgrid.solvers.errors import PermanentError, RuleError
from nightgrid.solvers.registry import GAMES, game_plug, titles

if TYPE_CHECKING:
    from nightgrid.solvers.algebra import Ask
    from nightgrid.solvers.game_contract import Game
    from nightgrid.solvers.lexicon.lexicon import Lexicon as Words

RULES: Mapping[str, Mapping[str, GameOption]] = {
    name: {
        game: mine for game, plug in ALL.items() for mine in plug.rule_options if mine.name == name
    }
    for name in dict.fromkeys(mine.name for plug in ALL.values() for mine in plug.rule_options)
}
"""Every switchable rule by name, with its option in each game that has it."""
_YES_NO = {"yes": True, "true": True, "no": False, "false": False}

RuleTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="NAME=VALUE",
        help="Switch a rule of a game, see below; may be repeated.",
    ),
]
Lexicon = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Word list, one word a line. Default: the board's own, else English.",
    ),
]


def read_rules(texts: Sequence[str] | None, lexicon: str | None = None) -> GameRules:
    """Parse --rule and --lexicon. Raises PermanentError for a rule that no game has."""
    said = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or name not in RULES:
            raise PermanentError(
                f"--rule is {text!r:.40}; expected NAME=VALUE, and as NAME {one_of(list(RULES))}"
            )
        said[name] = rule_value(name, value.strip())
    return GameRules(lexicon, **said)


def rule_value(name: str, text: str) -> Any:
    """Convert a value to the type of its rule, on which all games agree."""
    kind = next(iter(RULES[name].values())).kind
    values = {choice: choice for choice in get_args(kind)} or (_YES_NO if kind is bool else None)
    try:
        return kind(text) if values is None else values[text.lower()]
    except (KeyError, ValueError) as error:
        wanted = {int: "a whole number", float: "a number", bool: "yes or no"}.get(kind)
        expected = wanted or one_of(list(get_args(kind)))
        raise OptionError(f"{name} is {text!r:.40}; expected {expected}", name) from error


class GameRules:
    """The given rules; others keep the game's default."""

    def __init__(self, lexicon: str | None = None, **said: Any) -> None:
        """Take the path of a word list, and rules of RULES by name."""
        self.lexicon = lexicon
        self.said: Said = said
        self._bound: dict[tuple[str, bool, bool], Game[Any, Any]] = {}

    def _check(self, games: Sequence[str]) -> None:
        """Raise OptionError for rules or words that none of some games has."""
        others = f"this is {titles(games[:1])}"
        word_games = [name for name in GAMES if game_plug(name).words]
        if self.lexicon is not None and not set(games) & set(word_games):
            raise OptionError(f"--lexicon is for {titles(word_games)}; {others}")
        for name in self.said:
            if not set(games) & set(RULES[name]):
                raise OptionError(f"{name} is for {titles(list(RULES[name]))}; {others}", name)

    def rules(self, game: str) -> str:
        """Return the rules of a game in one line, "" if it has none.

        Raises OptionError for a rule that the game does not have, or an invalid value of one.
        """
        self._check([game])
        plug = service_plug(game)
        try:
            return plug.rule_line(self.said)
        except RuleError as error:
            names = {o.rule or o.name: o.name for o in reversed(plug.rule_options)}
            if error.rule not in names:
                raise
            name = names[error.rule]
            raise OptionError(f"{name} {error.fault}", name) from error

    def among(self, games: Sequence[str]) -> list[GameRules]:
        """Return, for each of several games, the rules that it has.

        Raises OptionError for a rule that none of them has.
        """
        self._check(games)
        return [
            GameRules(
                self.lexicon if game_plug(game).words else None,
                **{name: value for name, value in self.said.items() if game in RULES[name]},
            )
            for game in games
        ]

    def bind(
        self,
        game: str,
        puzzle: Any,
        ask: Ask | None = None,
        clue: str | None = None,
        words: Words | None = None,
    ) -> tuple[Any, Game[Any, Any]]:
        """Bind a game to the rules and to an ask, and a word game to the words for a puzzle.

        Returns the puzzle with the options that belong to it rather than to the rules, and with its
        clue if the ask depends on it, and the game. A puzzle's own words are used unless a lexicon
        or `words` are given. A game is bound once. Raises PermanentError for rules or words that
        the game does not have, an unreadable word list, or options that do not fit the board.
        """
        from nightgrid.archive.words.binding import bind_game, lexicon_for

        line = self.rules(game)
        puzzle = service_plug(game).with_rules(puzzle, self.said)
        is_meant = ask is not None and ask.kind == "meant"
        if is_meant and self.lexicon is not None:
            raise PermanentError(f"{ask} has words of its own; give it no --lexicon")
        own_words = getattr(puzzle, "dictionary", None) is not None
        key = (game, own_words, is_meant)
        if key not in self._bound:
            given = self.lexicon or words
            usual = not is_meant and given is None
            lexicon = lexicon_for(game, own_words=own_words) if usual else given
            self._bound[key] = bind_game(game, line, lexicon, ask=ask)
        return self._bound[key].clued(puzzle, clue), self._bound[key]

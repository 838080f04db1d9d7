"""Options that games bring to commands: collected from their plugs, refused for other games."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from nightgrid.service.games import ALL, GameOption, ServicePlug, service_plug
from nightgrid.service.games.plug import Named, OptionError, Said, option
from nightgrid.service.options.completion import offer
from nightgrid.service.options.shared_options import one_of
from nightgrid.solvers.errors import PermanentError, RuleError
from nightgrid.solvers.registry import GAMES, game_plug, titles

if TYPE_CHECKING:
    from nightgrid.solvers.algebra import Ask
    from nightgrid.solvers.game_contract import Game


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedOption:
    """An option of a command, with what it is for each game that has it."""

    name: str
    of: Mapping[str, GameOption]

    @property
    def games(self) -> tuple[str, ...]:
        """The games that it is for."""
        return tuple(self.of)

    @property
    def annotation(self) -> Any:
        """Its type and its help, as typer reads them."""
        first = next(iter(self.of.values()))
        metavars = [mine.metavar.split("|") for mine in self.of.values() if mine.metavar]
        metavar = "|".join(dict.fromkeys(word for words in metavars for word in words)) or None
        # A flag by its name alone cannot be said to be off.
        flags = first.flags or ((option(self.name),) if first.kind is bool else ())
        offered = offer(self._values) if any(mine.values for mine in self.of.values()) else None
        return Annotated[
            first.kind | None,
            typer.Option(
                *flags,
                metavar=metavar,
                autocompletion=offered,
                help=" ".join(self._help()),
            ),
        ]

    def _values(self) -> list[str]:
        every = [value for mine in self.of.values() if mine.values for value in mine.values()]
        return list(dict.fromkeys(every))

    def _help(self) -> Iterable[str]:
        alike: dict[str, list[str]] = {}
        for game, mine in self.of.items():
            alike.setdefault(mine.help, []).append(game_plug(game).title)
        return (f"{', '.join(games)}: {text}" for text, games in alike.items())

    def check(self, value: Any) -> None:
        """Raise OptionError for a value that means nothing in any game."""
        if not any(mine.allows(value) for mine in self.of.values()):
            every = dict.fromkeys(text for mine in self.of.values() for text in mine.expects)
            wanted = f" is {value!r:.40}; expected {one_of(list(every))}"
            raise OptionError(Named(self.name, value), wanted)


Options = Mapping[str, SharedOption]
"""Options of a command by name."""


def collect(
    options_of: Callable[[ServicePlug], Sequence[GameOption]],
) -> Options:
    """Collect options of all games; games share what they call the same."""
    found: dict[str, dict[str, GameOption]] = {}
    for game, plug in ALL.items():
        for mine in options_of(plug):
            found.setdefault(mine.name, {})[game] = mine
    return {name: SharedOption(name=name, of=of) for name, of in found.items()}


def refuse_others(said: Mapping[str, Any], game: str, options: Options) -> None:
    """Raise OptionError for what was said and is of other games.

    `said` holds options by name, those alone that were given.
    """
    others: dict[tuple[str, ...], list[Named]] = {}
    for name, value in said.items():
        if game not in options[name].games:
            others.setdefault(options[name].games, []).append(Named(name, value))
    if others:
        pieces: list[str | Named] = []
        for games, names in others.items():
            for named in names:
                pieces += [", "] if pieces else []
                pieces.append(named)
            pieces.append(f" {'is' if len(names) == 1 else 'are'} for {titles(games)}")
        raise OptionError(*pieces, f"; this is {game_plug(game).title}")


def with_options(
    parameter: str, options: Options, make: Callable[[dict[str, Any]], Any] = dict
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command options of games in the place of one of its parameters.

    The command is called with what `make` makes of those that were given, by name.
    """

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        hints = get_type_hints(command, include_extras=True)
        parameters: list[inspect.Parameter] = []
        for own in inspect.signature(command).parameters.values():
            if own.name == parameter:
                parameters += [
                    inspect.Parameter(name, own.kind, default=None, annotation=shared.annotation)
                    for name, shared in options.items()
                ]
            else:
                parameters.append(own.replace(annotation=hints[own.name]))

        @functools.wraps(command)
        def run(**given: Any) -> int:
            values = {name: given.pop(name) for name in options}
            said = {name: value for name, value in values.items() if value is not None}
            return command(**given, **{parameter: make(said)})

        run.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": int}
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return decorate


BOARD_OPTIONS = collect(lambda plug: [plug.board_option] if plug.board_option else [])
"""Options by which a person types a board instead of naming a file."""
with_typed_boards = with_options("typed", BOARD_OPTIONS)
"""Give a command these options in the place of its parameter `typed`."""
_LEXICON = GameOption(
    "lexicon",
    str,
    "a word list, one word a line, with or without frequency. Default: the dictionary that a "
    "board brings, else the English words of wordfreq.",
    metavar="FILE",
)
_OF_WORDS = {game: _LEXICON for game in GAMES if game_plug(game).words}
OPTIONS = {
    _LEXICON.name: SharedOption(name=_LEXICON.name, of=_OF_WORDS),
    **collect(lambda plug: plug.rule_options),
}
"""Every option that switches a rule, or the words that a game is played with."""


class GameRules:
    """What a person said about the rules; what was not said is the game's own rule."""

    def __init__(self, **said: Any) -> None:
        """Take options of OPTIONS by name, those alone that were given."""
        self.said: Said = said
        """Every option that was given, with its value."""
        self._bound: dict[tuple[str, bool, bool], Game[Any, Any]] = {}

    @property
    def lexicon(self) -> str | None:
        """The word list to play with."""
        return self.said.get(_LEXICON.name)

    def check(self) -> None:
        """Raise PermanentError for a value that means nothing in any game."""
        for name, value in self.said.items():
            OPTIONS[name].check(value)

    def rules(self, game: str) -> str:
        """Write the rules of a game in one line, "" for a game without.

        Raises OptionError for a rule that the game does not have, or has no such value for.
        """
        self.check()
        refuse_others(self.said, game, OPTIONS)
        plug = service_plug(game)
        try:
            return plug.rule_line(self.said)
        except RuleError as error:
            names = {o.rule or o.name: o.name for o in reversed(plug.rule_options)}
            if error.rule not in names:
                raise
            raise OptionError(Named(names[error.rule]), f" {error.fault}") from error

    def among(self, games: Sequence[str]) -> list[GameRules]:
        """Give each of several games those options that are for it.

        Raises PermanentError for an option that is for none of them.
        """
        of = {name: OPTIONS[name].games for name in self.said}
        useless = {name: self.said[name] for name in of if not set(of[name]) & set(games)}
        refuse_others(useless, games[0], OPTIONS)
        return [
            GameRules(**{name: self.said[name] for name in of if game in of[name]})
            for game in games
        ]

    def bind(
        self, game: str, puzzle: Any, ask: Ask | None = None, clue: str | None = None
    ) -> tuple[Any, Game[Any, Any]]:
        """Bind a game to the rules and to an ask, and a game of words to the words for a puzzle.

        Returns the puzzle with what was said of it rather than of the rules, and with its clue
        where the ask depends on it, and the game. A puzzle
        that brings its own words is played with these unless a lexicon is given. A game is bound
        once. Raises PermanentError for rules or words that the game does not have, a word list that
        cannot be read, or a puzzle whose board cannot be so.
        """
        from nightgrid.archive.words.binding import bind_game, lexicon_for

        line = self.rules(game)
        puzzle = service_plug(game).with_rules(puzzle, self.said)
        is_meant = ask is not None and ask.kind == "meant"
        if is_meant and self.lexicon is not None:
            raise PermanentError(f"{ask} has words of its own; give it no --lexicon")
        key = (game, getattr(puzzle, "dictionary", None) is not None, is_meant)
        if key not in self._bound:
            lexicon = None if is_meant else self.lexicon or lexicon_for(game, puzzle)
            self._bound[key] = bind_game(game, line, lexicon, ask=ask)
        return self._bound[key].clued(puzzle, clue), self._bound[key]


with_game_rules = with_options("rules", OPTIONS, lambda said: GameRules(**said))
"""Give a command the options of OPTIONS in the place of its parameter `rules`, a GameRules."""

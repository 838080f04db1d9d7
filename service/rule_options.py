"""Options that switch the rules of games: one block for every command that has them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from service.option_games import refuse_others
from service.rule_lines import GAMES_OF, rule_line
from solvers.errors import InvalidPuzzleError, PermanentError

if TYPE_CHECKING:
    from solvers.algebra import Game

Spangram = Literal["required", "one", "off"]
Teleports = Literal["yes", "forced", "no"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRules:
    """What a person said about the rules; None is what was not said, and the game's own rule."""

    lexicon: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Strands, Letter Boxed: a word list, one word a line, with or without frequency. "
            "Default: a Letter Boxed board's own dictionary, else the English words of wordfreq.",
            show_default=False,
        ),
    ] = None
    words: Annotated[
        str | None,
        typer.Option(
            metavar="N|any|given|fewest",
            help="Strands: number of theme words beside the spangram. Default: given, which is as "
            "many as the puzzle says, any number where it says none. Letter Boxed: most words of a "
            "chain. Default: fewest, which is as few as can be.",
            show_default=False,
        ),
    ] = None
    fewest_letters: Annotated[
        bool | None,
        typer.Option(
            "--fewest-letters",
            help="Letter Boxed: chains of as few letters as can be, instead of words.",
            show_default=False,
        ),
    ] = None
    spangram: Annotated[
        Spangram | None,
        typer.Option(
            help="Strands: a word that touches two opposite sides is required (the default), there "
            "is exactly one, or that plays no role. With off all words count as theme words: a "
            "published board then takes one more than it says (--words).",
            show_default=False,
        ),
    ] = None
    crossing: Annotated[
        bool | None,
        typer.Option(
            "--crossing/--no-crossing",
            help="Strands: words may cross one another. Default: they may not.",
            show_default=False,
        ),
    ] = None
    repeats: Annotated[
        bool | None,
        typer.Option(
            "--repeats/--no-repeats",
            help="Strands: a word may stand twice. Default: it may not.",
            show_default=False,
        ),
    ] = None
    diagonal: Annotated[
        bool | None,
        typer.Option(
            "--diagonal/--no-diagonal",
            help="Strands: words may step diagonally. Default: they may.",
            show_default=False,
        ),
    ] = None
    min_length: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Strands, Letter Boxed: fewest letters of a word. Default: 4 in Strands, 3 in "
            "Letter Boxed.",
            show_default=False,
        ),
    ] = None
    compound_parts: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Strands: most words that a spangram is run together from, 1 to 4. Default: 3.",
            show_default=False,
        ),
    ] = None
    part_zipf: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Strands: least frequency of those of these words that are short, on the Zipf "
            "scale. Default: 3.",
            show_default=False,
        ),
    ] = None
    compound_decades: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Strands: how improbable a spangram of several words may be, in powers of ten. "
            "Default: 12.5.",
            show_default=False,
        ),
    ] = None
    teleports: Annotated[
        Teleports | None,
        typer.Option(
            help="Tiles: a move to a tile that shares nothing with the one before is allowed at "
            "any time (yes, the default), only from a cleared tile (forced), or never (no).",
            show_default=False,
        ),
    ] = None
    no_teleports: Annotated[
        bool | None,
        typer.Option("--no-teleports", help="Tiles: the same as --teleports no."),
    ] = None

    def said(self) -> dict[str, Any]:
        """Name every option that was given, with its value."""
        named = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in named if value is not None}

    def check(self) -> None:
        """Raise PermanentError for a --words that means nothing in any game."""
        words = self.words
        if words is not None and words not in ("any", "given", "fewest") and _number(words) is None:
            raise PermanentError(
                f"--words is {words!r:.40}; expected a number, any, given or fewest"
            )

    def rules(self, game: str) -> str:
        """Write the rules of a game in one line, "" for a game without.

        Raises PermanentError for a rule that the game does not have, or has no such value for.
        """
        self.check()
        refuse_others(self.said(), game, GAMES_OF)
        return rule_line(game, self.said())

    def among(self, games: Sequence[str]) -> list[GameRules]:
        """Give each of several games those options that are for it.

        Raises PermanentError for an option that is for none of them.
        """
        said = self.said()
        useless = {
            name: value
            for name, value in said.items()
            if not any(game in GAMES_OF[name] for game in games)
        }
        refuse_others(useless, games[0], GAMES_OF)
        return [
            GameRules(**{name: value for name, value in said.items() if game in GAMES_OF[name]})
            for game in games
        ]

    def puzzle(self, game: str, puzzle: Any) -> Any:
        """Give a puzzle of Strands the number of theme words that was asked for.

        Raises PermanentError when its board cannot hold as many.
        """
        count = None if self.words is None or game != "strands" else _number(self.words)
        if count is None:
            return puzzle
        try:
            return replace(puzzle, theme_words=count)
        except InvalidPuzzleError as error:
            raise PermanentError(f"--words is {error.detail}") from error

    def bind(self, game: str, puzzle: Any = None) -> Game[Any, Any]:
        """Bind a game to the rules, and a game of words to the lexicon.

        A puzzle that brings its own words is played with these unless a lexicon is given. Needs no
        lake and nothing that reads one. Raises PermanentError for rules or words that the game does
        not have, or a word list that cannot be read.
        """
        from solvers.registry import WORD_GAMES
        from solvers.registry import game as game_named

        rules = self.rules(game)
        bound = game_named(game, rules)
        if game not in WORD_GAMES or self.plays_own_words(puzzle):
            return bound
        from archive.lexicons import default_lexicon, lexicon_from_file

        words = default_lexicon() if self.lexicon is None else lexicon_from_file(self.lexicon)
        return game_named(game, rules, words)

    def plays_own_words(self, puzzle: Any) -> bool:
        """Tell whether a puzzle is played with a dictionary that it brings."""
        return self.lexicon is None and getattr(puzzle, "dictionary", None) is not None


def _number(words: str) -> int | None:
    """Read a --words that is a number."""
    decimal = words.isascii() and words.isdecimal() and len(words) <= 7
    return int(words) if decimal else None


def with_game_rules(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of GameRules in the place of its parameter `rules`.

    The command is called with one GameRules.
    """
    names = [field.name for field in fields(GameRules)]
    hints = get_type_hints(GameRules, include_extras=True)
    own = get_type_hints(command, include_extras=True)
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name == "rules":
            parameters += [
                inspect.Parameter(name, parameter.kind, default=None, annotation=hints[name])
                for name in names
            ]
        else:
            parameters.append(parameter.replace(annotation=own[parameter.name]))

    @functools.wraps(command)
    def run(**given: Any) -> int:
        rules = GameRules(**{name: given.pop(name) for name in names})
        return command(**given, rules=rules)

    run.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": int}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run

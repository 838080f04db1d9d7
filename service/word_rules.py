"""Options that switch the rules of word games: one block for every command that has them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from solvers.errors import InvalidPuzzleError, PermanentError

if TYPE_CHECKING:
    from solvers.algebra import Game

CENTI = 100
"""Frequencies are kept in hundredths of the Zipf scale, improbabilities in those of a decade."""
ZIPF_MAX = 10.0
DECADES_MAX = 100.0

Spangram = Literal["required", "one", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordRules:
    """What a person said about the rules; None is what was not said, and the game's own rule."""

    lexicon: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Strands: a word list, one word a line, with or without a frequency. "
            "Default: the English words of wordfreq.",
            show_default=False,
        ),
    ] = None
    words: Annotated[
        str | None,
        typer.Option(
            metavar="N|any|given",
            help="Strands: number of theme words beside the spangram. Default: given, which is as "
            "many as the puzzle says, any number where it says none.",
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
            help="Strands: fewest letters of a word. Default: 4.",
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

    def given(self) -> tuple[str, ...]:
        """Name the options that were given."""
        named = ((field.name, getattr(self, field.name)) for field in fields(self))
        return tuple(_option(name, value) for name, value in named if value is not None)

    def rules(self, game: str) -> str:
        """Write the rules of a game in one line, "" for a game without.

        Raises PermanentError for a rule that the game does not have.
        """
        from solvers.registry import WORD_GAMES

        if game not in WORD_GAMES:
            self._refuse(game)
            return ""
        from solvers.strands.rules import Rules

        said: dict[str, Any] = {
            "spangram": self.spangram,
            "words": "any" if self.words == "any" else None,
            "crossing": self.crossing,
            "repeats": self.repeats,
            "diagonal": self.diagonal,
            "min_letters": self.min_length,
            "compound_parts": self.compound_parts,
            "part_centizipf": _hundredths(self.part_zipf, "--part-zipf", ZIPF_MAX),
            "compound_centibels": _hundredths(
                self.compound_decades, "--compound-decades", DECADES_MAX
            ),
        }
        self.theme_words()
        try:
            return str(Rules(**{name: value for name, value in said.items() if value is not None}))
        except PermanentError as error:
            text = str(error)
            for name, option in _BOUNDED.items():
                text = text.replace(f"rule {name} is", f"{option} is")
            raise PermanentError(text) from error

    def theme_words(self) -> int | None:
        """Read the number of theme words; None when another one is not asked for.

        Raises PermanentError when --words is neither a number nor any nor given.
        """
        if self.words in (None, "any", "given"):
            return None
        if self.words.isascii() and self.words.isdecimal() and len(self.words) <= 4:
            return int(self.words)
        raise PermanentError(f"--words is {self.words!r:.40}; expected a number, any or given")

    def puzzle(self, puzzle: Any) -> Any:
        """Give a puzzle the number of theme words that was asked for.

        Raises PermanentError when its board cannot hold as many.
        """
        count = self.theme_words()
        if count is None:
            return puzzle
        from dataclasses import replace

        try:
            return replace(puzzle, theme_words=count)
        except InvalidPuzzleError as error:
            raise PermanentError(f"--words is {error.detail}") from error

    def bind(self, game: str) -> Game[Any, Any]:
        """Bind a game to the rules, and a word game to its lexicon.

        Needs no lake and nothing that reads one. Raises PermanentError for rules or words that the
        game does not have, or a word list that cannot be read.
        """
        from solvers.registry import WORD_GAMES
        from solvers.registry import game as game_named

        rules = self.rules(game)
        if game not in WORD_GAMES:
            return game_named(game)
        # Before the words, which may take long to compile.
        game_named(game, rules)
        from archive.lexicons import default_lexicon, lexicon_from_file

        words = default_lexicon() if self.lexicon is None else lexicon_from_file(self.lexicon)
        return game_named(game, rules, words)

    def _refuse(self, game: str) -> None:
        given = self.given()
        if given:
            verb = "is" if len(given) == 1 else "are"
            raise PermanentError(
                f"{', '.join(given)} {verb} for Strands; this is {game.capitalize()}"
            )


_BOUNDED = {"min_letters": "--min-length", "compound_parts": "--compound-parts"}


def _hundredths(value: float | None, option: str, most: float) -> int | None:
    if value is None:
        return None
    if not 0 <= value <= most:
        raise PermanentError(f"{option} is {value}; expected 0 to {most:g}")
    return round(CENTI * value)


def _option(name: str, value: object) -> str:
    switched_off = "no-" if value is False else ""
    return f"--{switched_off}{name.replace('_', '-')}"


def with_word_rules(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of WordRules in the place of its parameter `rules`.

    The command is called with one WordRules.
    """
    names = [field.name for field in fields(WordRules)]
    hints = get_type_hints(WordRules, include_extras=True)
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
        rules = WordRules(**{name: given.pop(name) for name in names})
        return command(**given, rules=rules)

    run.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": int}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run

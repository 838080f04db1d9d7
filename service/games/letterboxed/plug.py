"""Plug Letter Boxed in at the doors."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from nightgrid.service.games.plug import (
    SAMPLES,
    GameOption,
    Payload,
    Said,
    SearchResult,
    ServicePlug,
    dated,
)
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Fault, Published
    from nightgrid.service.drawing import View
    from nightgrid.service.games.letterboxed.chain_sets import Search
    from nightgrid.solvers.algebra import Budget, Game
    from nightgrid.solvers.letterboxed.game import LetterBoxedGame

_SHAPE = ("sides", "letters", "vowels")


class LetterBoxedAtDoors(ServicePlug):
    """See nightgrid.service.games.plug.ServicePlug."""

    name = "letterboxed"
    lists_lines = True
    sample = SAMPLES / name
    sample_days = 5
    sample_seed = 5
    rule_options = (
        GameOption(
            name="words",
            rule="chains",
            kind=str,
            metavar="N|fewest",
            help="most words of a chain. Default: fewest, which is as few as can be.",
            allows=lambda words: words == "fewest" or _is_number(words),
            expects=("a number", "fewest"),
        ),
        GameOption(
            name="fewest_letters",
            kind=bool,
            flags=("--fewest-letters",),
            help="chains of as few letters as can be, instead of words.",
        ),
        GameOption(
            name="min_length",
            rule="min_letters",
            kind=int,
            metavar="N",
            help="fewest letters of a word. Default: 3.",
        ),
    )
    board_option = GameOption(
        name="sides",
        kind=str,
        flags=("--sides",),
        metavar="SIDES",
        help="a board by its sides, for example TAP,ERD,NIL,YCO, instead of files.",
    )
    search_options = (
        GameOption(
            name="greedy",
            kind=bool,
            flags=("--greedy",),
            help="find what the greedy search of the article finds, for comparison.",
        ),
        GameOption(
            name="disjoint",
            kind=bool,
            flags=("--disjoint",),
            help="find a largest set of chains of which no two share a word.",
        ),
    )
    shape_options = (
        GameOption(name="sides", kind=int, metavar="N", help="sides. Default: 4."),
        GameOption(name="letters", kind=int, metavar="N", help="letters a side. Default: 3."),
        GameOption(
            name="vowels",
            kind=int,
            metavar="N",
            help="least number of vowels. Default: as many as sides.",
        ),
        GameOption(
            name="lexicon",
            kind=str,
            metavar="FILE",
            help="a word list to take the dictionaries from. Default: the common words of "
            "wordfreq.",
        ),
    )

    def view(self) -> View:
        """Return how boards and chains are drawn."""
        from nightgrid.service.games.letterboxed.view import LetterBoxedView

        return LetterBoxedView()

    def rule_line(self, said: Said) -> str:
        """Write which chains count."""
        from nightgrid.solvers.letterboxed.rules import Rules

        given: dict[str, Any] = {}
        words = said.get("words", "fewest")
        if said.get("fewest_letters"):
            if "words" in said:
                raise PermanentError("--words and --fewest-letters exclude one another; give one")
            given["chains"] = "fewest-letters"
        elif words in ("any", "given"):
            raise PermanentError(
                f"--words is {words!r}; expected a number or fewest for Letter Boxed"
            )
        elif words != "fewest":
            given["chains"] = int(words)
        if "min_length" in said:
            given["min_letters"] = said["min_length"]
        return str(Rules(**given))

    def typed(self, text: str) -> Published | Fault:
        """Read the sides of a board, with commas or spaces between them."""
        from nightgrid.archive.payloads.published import Fault, Published
        from nightgrid.solvers.letterboxed.puzzle import Puzzle

        try:
            puzzle = Puzzle(sides=tuple(re.split(r"\s*,\s*|\s+", text.strip())))
        except InvalidPuzzleError as error:
            place = error.place.replace("sides", "--sides", 1)
            return Fault(level=None, rule=error.rule, place=place, message=error.detail)
        return Published(date=None, level=None, puzzle=puzzle)

    def search(self, name: str, game: Game[Any, Any], puzzle: Any, budget: Budget) -> SearchResult:
        """Search chains greedily, or for a set without a shared word."""
        from nightgrid.service.games.letterboxed.chain_sets import search_chains

        room = cast("LetterBoxedGame", game)
        return search_chains(room, puzzle, cast("Search", name), budget)

    def listed_value(self, game: Game[Any, Any], solutions: tuple[Any, ...]) -> int | None:
        """Count the words or letters of the first chain: chains come best first."""
        return cast("LetterBoxedGame", game).value_of(solutions)

    def payloads(
        self, said: Said, start: dt.date, days: int, seed: int
    ) -> tuple[Iterator[Payload], list[str]]:
        """Draw one board a day, with its dictionary and the best chain."""
        from nightgrid.archive.games.letterboxed.payload import LEVELS
        from nightgrid.archive.words.lexicons import default_lexicon, lexicon_from_file
        from nightgrid.service.games.letterboxed.random_payloads import Shape, letter_payloads

        shape = Shape(**{name: said[name] for name in _SHAPE if name in said})
        file = said.get("lexicon")
        lexicon = default_lexicon() if file is None else lexicon_from_file(file)
        return dated(letter_payloads(shape, lexicon, start, days, seed)), list(LEVELS)


def _is_number(words: str) -> bool:
    return words.isascii() and words.isdecimal() and len(words) <= 7


PLUG = LetterBoxedAtDoors()

"""Plug Letter Boxed in at the doors."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from nightgrid.service.games.plug import (
    SAMPLES,
    GameOption,
    OptionError,
    Payload,
    ServicePlug,
    dated,
    whole_number,
)
from nightgrid.solvers.errors import InvalidPuzzleError

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Fault, Published
    from nightgrid.solvers.game_contract import Game
    from nightgrid.solvers.letterboxed.game import LetterBoxedGame


class LetterBoxedServicePlug(ServicePlug):
    """See nightgrid.service.games.plug.ServicePlug."""

    name = "letterboxed"
    lists_lines = True
    sample = SAMPLES / name
    sample_days = 5
    payloads_help = (
        "Boards of Letter Boxed bring their dictionary, and the best chain as the official "
        "solution."
    )
    sample_seed = 5
    unsolvable_advice = (
        "no chain that these rules allow has all letters; --rule words=fewest takes as many words "
        "as are needed, --rule min_length=3 shorter ones, and --lexicon FILE those of another list"
    )
    rule_options = (
        GameOption(
            "words",
            str,
            "most words of a chain. Default: as few as can be.",
            rule="chains",
            to_rule=lambda words: None if words == "fewest" else _most_words(words),
            metavar="N|fewest",
            allows=lambda words: words == "fewest" or whole_number(words) is not None,
            expects=("a number", "fewest"),
        ),
        GameOption(
            "fewest_letters",
            bool,
            "as few letters as can be, instead of words.",
            rule="chains",
            to_rule=lambda yes: "fewest-letters" if yes else None,
        ),
        GameOption(
            "min_length",
            int,
            "fewest letters of a word. Default: 3.",
            rule="min_letters",
            metavar="N",
        ),
    )
    sides = True
    chains = True

    def typed(self, text: str) -> Published | Fault:
        """Read the sides of a board, with commas or spaces between them."""
        from nightgrid.archive.payloads.published import Published, input_fault
        from nightgrid.archive.payloads.strict_json import shown
        from nightgrid.solvers.letterboxed.puzzle import Puzzle

        sides = tuple(re.split(r"\s*,\s*|\s+", text.strip()))
        if len(sides) == 1 and len(text.strip()) > 1:
            # A board of one side has no chain, which is an answer to a question not meant.
            detail = f"'{shown(text)}' is one side; expected several, such as TAP,ERD,NIL,YCO"
            return input_fault("shape", detail, "--sides")
        try:
            puzzle = Puzzle(sides=sides)
        except InvalidPuzzleError as error:
            place = error.place.replace("sides", "--sides", 1)
            return input_fault(error.rule, error.detail, place)
        return Published(date=None, level=None, puzzle=puzzle)

    def listed_value(self, game: Game[Any, Any], solutions: tuple[Any, ...]) -> int | None:
        """Count the words or letters of the first chain: chains come best first."""
        return cast("LetterBoxedGame", game).value_of(solutions)

    def payloads(
        self,
        levels: Sequence[str],  # noqa: ARG002 - there is one
        start: dt.date,
        days: int,
        seed: int,
    ) -> tuple[Iterator[Payload], list[str]]:
        """Draw one board a day, with its dictionary and the best chain."""
        from nightgrid.archive.games.letterboxed.payload import LEVELS
        from nightgrid.archive.words.lexicons import default_lexicon
        from nightgrid.service.games.letterboxed.random_payloads import letter_payloads

        return dated(start, days, letter_payloads(default_lexicon(), seed)), list(LEVELS)


def _most_words(words: str) -> int:
    number = whole_number(words)
    if number is None:
        wanted = f"words is {words!r}; expected a number or fewest for Letter Boxed"
        raise OptionError(wanted, "words")
    return number


PLUG = LetterBoxedServicePlug()

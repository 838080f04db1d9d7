"""The service's plug of Letter Boxed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any

from nightgrid.service.games.plug import (
    SAMPLES,
    GameOption,
    OptionError,
    Payload,
    ServicePlug,
    dated,
    whole_number,
)
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.letterboxed.rules import Rules

MIN_LETTERS = Rules().min_letters


def _most_words(words: str) -> int | None:
    number = whole_number(words)
    if number is None and words != "fewest":
        wanted = f"words is {words!r:.40}; expected a number or fewest for Letter Boxed"
        raise OptionError(wanted, "words")
    return number


class LetterBoxedServicePlug(ServicePlug):
    """See nightgrid.service.games.plug.ServicePlug."""

    name = "letterboxed"
    lists_lines = True
    sample = SAMPLES / name
    sample_days = 5
    payloads_help = (
        "Boards of Letter Boxed have their own dictionary, and the best chain as the official "
        "solution."
    )
    sample_seed = 5
    rule_options = (
        GameOption(
            "words",
            str,
            "Most words of a chain. Default: as few as can be.",
            rule="chains",
            to_rule=_most_words,
            texts="N|fewest",
        ),
        GameOption(
            "fewest_letters",
            bool,
            "As few letters as can be, instead of words.",
            rule="chains",
            to_rule=lambda yes: "fewest-letters" if yes else None,
        ),
        GameOption(
            "min_length",
            int,
            "Fewest letters of a word. Default: 3.",
            rule="min_letters",
        ),
    )

    def advice(self, game: Game[Any, Any]) -> str:
        """Suggest rules other than these, and other words."""
        ways = []
        if isinstance(game.bound_rules.chains, int):
            ways.append("--rule words=fewest takes as many words as are needed")
        shorter = min(game.bound_rules.min_letters - 1, MIN_LETTERS)
        if shorter:
            ways.append(f"--rule min_length={shorter} takes shorter words")
        ways.append("--lexicon FILE takes those of another list")
        return f"no chain that these rules allow has all letters; {', '.join(ways)}"

    def payloads(
        self,
        levels: Sequence[str],  # noqa: ARG002 - there is one
        start: dt.date,
        days: int,
        seed: int,
    ) -> tuple[Iterator[Payload], list[str]]:
        """Generate one board a day, with its dictionary and the best chain."""
        from nightgrid.archive.games.letterboxed.payload import LEVELS
        from nightgrid.archive.words.lexicons import default_lexicon
        from nightgrid.service.games.letterboxed.random_payloads import letter_payloads

        return dated(start, days, letter_payloads(default_lexicon(), seed)), list(LEVELS)


PLUG = LetterBoxedServicePlug()

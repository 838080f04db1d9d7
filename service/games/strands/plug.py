"""The service's plug of Strands."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

from nightgrid.service.games.plug import (
    SAMPLES,
    GameOption,
    OptionError,
    Payload,
    Said,
    ServicePlug,
    dated,
    whole_number,
)
from nightgrid.solvers.errors import InvalidPuzzleError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.strands.rules import COMPONENTS_MAX

CENTI = 100
"""Frequencies are stored in hundredths of the Zipf scale, improbabilities in those of a decade."""
ZIPF_MAX = 10.0
DECADES_MAX = 100.0


def _any_words(words: str) -> str | None:
    """Convert the rule `words`. A number of words belongs to the puzzle: see `with_rules`."""
    if words not in ("any", "given") and whole_number(words) is None:
        wanted = f"words is {words!r:.40}; expected a number, any or given for Strands"
        raise OptionError(wanted, "words")
    return "any" if words == "any" else None


class StrandsServicePlug(ServicePlug):
    """See nightgrid.service.games.plug.ServicePlug."""

    name = "strands"
    sample = SAMPLES / name
    sample_days = 5
    payloads_help = "Boards of Strands are generated for every payload from a few themes, in turn."
    sample_seed = 56
    rule_options = (
        GameOption(
            "words",
            str,
            "Number of theme words. Default: given, as the puzzle says, else any.",
            to_rule=_any_words,
            texts="N|any|given",
        ),
        GameOption(
            "spangram",
            Literal["required", "one", "off"],
            "A word between two opposite sides is required (the default), there is exactly one, "
            "or it counts as a theme word.",
        ),
        GameOption("crossing", bool, "Words may cross. Default: no."),
        GameOption("repeats", bool, "A word may be used twice. Default: no."),
        GameOption("diagonal", bool, "Words may step diagonally. Default: yes."),
        GameOption(
            "min_length",
            int,
            "Fewest letters of a word. Default: 4.",
            rule="min_letters",
        ),
        GameOption(
            "compound_parts",
            int,
            "Most words in a spangram, 1 to 4. Default: 4, where no cover has fewer.",
            texts="N",
        ),
        GameOption(
            "part_zipf",
            float,
            "Least Zipf frequency of its short words. Default: 3.",
            rule="part_centizipf",
            to_rule=lambda value: _hundredths(value, "part_zipf", ZIPF_MAX),
        ),
        GameOption(
            "compound_decades",
            float,
            "How improbable it may be, in powers of ten. Default: 12.5.",
            rule="compound_centibels",
            to_rule=lambda value: _hundredths(value, "compound_decades", DECADES_MAX),
        ),
    )

    def advice(self, game: Game[Any, Any]) -> str:
        """Suggest rules other than these, and other words."""
        if "meant" in game.counts:
            return "rankings know the game's own rules and words; --best takes other ones"
        rules, ways = game.bound_rules, []
        if rules.spangram != "off":
            ways.append("--rule spangram=off does without a spangram")
            if rules.compound_parts < COMPONENTS_MAX:
                parts = f"--rule compound_parts={COMPONENTS_MAX}"
                ways.append(f"{parts} takes one of up to {COMPONENTS_MAX} words")
        if rules.words != "any":
            ways.append("--rule words=any takes any number of theme words")
        ways.append("--lexicon FILE takes words of another list")
        return f"no cover that these rules allow has only words of the list; {', '.join(ways)}"

    def check_night(self, said: Said) -> None:
        """Reject a number of words."""
        words = said.get("words")
        if words not in (None, "any", "given"):
            wanted = "expected any or given, since every board has its own number"
            raise OptionError(f"words is {words}; {wanted}", "words")

    def with_rules(self, puzzle: Any, said: Said) -> Any:
        """Set the requested number of theme words.

        Raises PermanentError if the board cannot hold as many.
        """
        count = whole_number(said.get("words", ""))
        if count is None:
            return puzzle
        try:
            return replace(puzzle, theme_words=count)
        except InvalidPuzzleError as error:
            raise OptionError(f"words is {error.detail}", "words") from error

    def payloads(
        self,
        levels: Sequence[str],  # noqa: ARG002 - there is one
        start: dt.date,
        days: int,
        seed: int,
    ) -> tuple[Iterator[Payload], list[str]]:
        """Generate one board a day, from the themes in turn."""
        from nightgrid.archive.games.strands.payload import LEVELS
        from nightgrid.archive.games.strands.random_boards import strands_payload

        return dated(start, days, lambda date, day: strands_payload(date, seed, day)), list(LEVELS)


def _hundredths(value: float, option: str, most: float) -> int:
    if not 0 <= value <= most:
        raise OptionError(f"{option} is {value}; expected 0 to {most:g}", option)
    return round(CENTI * value)


PLUG = StrandsServicePlug()

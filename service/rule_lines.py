"""What a person said about rules, as the line of rules that each game reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from solvers.errors import PermanentError, RuleError

CENTI = 100
"""Frequencies are kept in hundredths of the Zipf scale, improbabilities in those of a decade."""
ZIPF_MAX = 10.0
DECADES_MAX = 100.0

Said = Mapping[str, Any]
"""Options by name, those alone that were given."""

_WORDS = ("strands", "letterboxed")
GAMES_OF: dict[str, tuple[str, ...]] = {
    "lexicon": _WORDS,
    "words": _WORDS,
    "min_length": _WORDS,
    "fewest_letters": ("letterboxed",),
    "spangram": ("strands",),
    "crossing": ("strands",),
    "repeats": ("strands",),
    "diagonal": ("strands",),
    "compound_parts": ("strands",),
    "part_zipf": ("strands",),
    "compound_decades": ("strands",),
    "teleports": ("tiles",),
    "no_teleports": ("tiles",),
}
"""The games that each option is for."""

_OPTION_OF = {
    "min_letters": "--min-length",
    "compound_parts": "--compound-parts",
    "chains": "--words",
}
"""The options that set rules whose own error says which values they may have."""


def rule_line(game: str, said: Said) -> str:
    """Write the rules of a game in one line, "" for a game without.

    Raises PermanentError, in the names of the options, for values that the game does not have.
    """
    if game not in _LINES:
        return ""
    try:
        return _LINES[game](said)
    except RuleError as error:
        option = _OPTION_OF.get(error.rule)
        if option is None:
            raise
        raise PermanentError(f"{option} {error.fault}") from error


def _strands(said: Said) -> str:
    from solvers.strands.rules import Rules

    words = said.get("words")
    if words == "fewest":
        raise PermanentError("--words is 'fewest'; expected a number, any or given for Strands")
    given: dict[str, Any] = {
        "spangram": said.get("spangram"),
        "words": "any" if words == "any" else None,
        "crossing": said.get("crossing"),
        "repeats": said.get("repeats"),
        "diagonal": said.get("diagonal"),
        "min_letters": said.get("min_length"),
        "compound_parts": said.get("compound_parts"),
        "part_centizipf": _hundredths(said.get("part_zipf"), "--part-zipf", ZIPF_MAX),
        "compound_centibels": _hundredths(
            said.get("compound_decades"), "--compound-decades", DECADES_MAX
        ),
    }
    return str(Rules(**{name: value for name, value in given.items() if value is not None}))


def _letterboxed(said: Said) -> str:
    from solvers.letterboxed.rules import Rules

    given: dict[str, Any] = {}
    words = said.get("words", "fewest")
    if said.get("fewest_letters"):
        if "words" in said:
            raise PermanentError("--words and --fewest-letters exclude one another; give one")
        given["chains"] = "fewest-letters"
    elif words in ("any", "given"):
        raise PermanentError(f"--words is {words!r}; expected a number or fewest for Letter Boxed")
    elif words != "fewest":
        given["chains"] = int(words)
    if "min_length" in said:
        given["min_letters"] = said["min_length"]
    return str(Rules(**given))


def _tiles(said: Said) -> str:
    from solvers.tiles.rules import Rules

    if "no_teleports" in said:
        if "teleports" in said:
            raise PermanentError("--teleports and --no-teleports exclude one another; give one")
        return str(Rules(teleports="no"))
    return str(Rules(teleports=said.get("teleports", "yes")))


_LINES: dict[str, Callable[[Said], str]] = {
    "strands": _strands,
    "letterboxed": _letterboxed,
    "tiles": _tiles,
}


def _hundredths(value: float | None, option: str, most: float) -> int | None:
    if value is None:
        return None
    if not 0 <= value <= most:
        raise PermanentError(f"{option} is {value}; expected 0 to {most:g}")
    return round(CENTI * value)

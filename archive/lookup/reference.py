"""References: how a person names puzzles of a lake, by id or by game, date and level.

    0123456789abcdef0123456789abcdef   a puzzle id
    0123abcd                           the beginning of one, of at least PREFIX_MIN digits
    pips/2025-10-14/hard               the puzzle of a game, date and level
    pips/2025-10-14                    every level of that date

Parsing needs only the text; nightgrid.archive.lookup.boards looks puzzles up.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from nightgrid.archive.payloads.envelopes import iso_date
from nightgrid.solvers.canonical import ID_HEX_DIGITS
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import GAMES, game_plug

PREFIX_MIN = 4
"""Fewest digits that are accepted as a prefix of a puzzle id."""
FORMS = "a puzzle id, the beginning of one, or GAME/DATE[/LEVEL]"
"""The forms of references, for messages and help."""
_DIGITS = re.compile(r"[0-9a-f]+", re.IGNORECASE)
_DATED = re.compile(r"(?P<game>[^/.]+)/(?P<date>[^/.]+)(?:/(?P<level>[^/.]+))?")
_NEARLY_DATE = re.compile(r"\d[\d-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class IdReference:
    """Every puzzle whose id has this prefix: one, unless the prefix is ambiguous."""

    prefix: str
    """Lower-case hexadecimal digits."""

    def __str__(self) -> str:
        return self.prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class DateReference:
    """The puzzles of a game on a date."""

    game: str
    date: dt.date
    level: str | None = None
    """None: every level."""

    def __str__(self) -> str:
        return reference_text(self.game, self.date, self.level)


Reference = IdReference | DateReference


def reference_text(game: str, date: dt.date, level: str | None) -> str:
    """Format the reference of a game, date and level."""
    return "/".join([game, str(date), *([level] if level else [])])


def looks_like_reference(text: str) -> bool:
    """Return whether a text is meant as a reference, even an invalid one, rather than a file name.

    True for hexadecimal digits, and for two or three names with "/" between them and without dots,
    if the first is a game or the second starts like a date.
    """
    if _DIGITS.fullmatch(text):
        return len(text) >= PREFIX_MIN
    found = _DATED.fullmatch(text)
    return found is not None and (
        found["game"].lower() in GAMES or _NEARLY_DATE.fullmatch(found["date"]) is not None
    )


def read_reference(text: str) -> Reference:
    """Parse a reference. Raises PermanentError, in one sentence, for an invalid one."""
    if _DIGITS.fullmatch(text):
        if not PREFIX_MIN <= len(text) <= ID_HEX_DIGITS:
            raise PermanentError(
                f"puzzle id {text!r:.60} has {len(text)} digits; expected {PREFIX_MIN} to "
                f"{ID_HEX_DIGITS}"
            )
        return IdReference(prefix=text.lower())
    found = _DATED.fullmatch(text)
    if found is None:
        raise PermanentError(f"{text!r:.60} names no puzzle; expected {FORMS}")
    game = game_plug(found["game"].lower()).name
    date = iso_date(found["date"])
    if date is None:
        raise PermanentError(
            f"{text!r:.60} has the date {found['date']!r:.40}; expected a date as YYYY-MM-DD"
        )
    level = found["level"]
    return DateReference(game=game, date=date, level=level and level.lower())

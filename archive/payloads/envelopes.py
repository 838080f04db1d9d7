"""Common fields around the boards of all games' inputs: dates, ids, names, a page, a name."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nightgrid.archive.payloads.published import Fault, Published
from nightgrid.archive.payloads.spans import end_of, first_byte, spans_in
from nightgrid.archive.payloads.strict_json import read_members, shown
from nightgrid.solvers.canonical import is_utf8
from nightgrid.solvers.errors import InvalidPuzzleError, json_kind

MAX_TEXT = 256
"""Most characters of an id, a clue, or the name of an editor or constructor."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
DATE_KEY = "printDate"
OTHER_DATE_KEY = "date"
"""Key of the date in other people's archives; other values under this key are ignored."""


def fault_of(error: InvalidPuzzleError, level: str | None = None) -> Fault:
    """Convert an error into a fault, with the further faults it carries."""
    others = tuple(fault_of(other, level) for other in error.others)
    return Fault(
        level=level, rule=error.rule, place=error.place, message=error.detail, others=others
    )


def iso_date(value: Any) -> dt.date | None:
    """Parse a date as YYYY-MM-DD; None for anything else."""
    try:
        return dt.date.fromisoformat(value) if _DATE.fullmatch(value) else None
    except (ValueError, TypeError):
        return None


def identifier(value: Any, place: str) -> str | None:
    """Validate an id: an integer, a text, or null."""
    return str(value) if type(value) is int else text(value, place)


def text(value: Any, place: str) -> str | None:
    """Validate a text of at most MAX_TEXT characters, or null."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidPuzzleError(
            "not-text", place, f"expected a text or null, got {json_kind(value)}"
        )
    if len(value) > MAX_TEXT:
        raise InvalidPuzzleError(
            "text-too-long", place, f"expected at most {MAX_TEXT} characters, got {len(value)}"
        )
    if not is_utf8(value):
        raise InvalidPuzzleError("not-utf-8", place, "the text holds half of a surrogate pair")
    return value


def print_date(obj: Mapping[str, Any], expected: dt.date | None) -> dt.date | None:
    """Parse the date of a payload; the expected one if it is missing.

    Raises InvalidPuzzleError if it is not a date, or not the expected one.
    """
    key = DATE_KEY if DATE_KEY in obj else OTHER_DATE_KEY
    value = obj.get(key)
    date = iso_date(value)
    if date is None and key == OTHER_DATE_KEY:
        return expected
    if date is None:
        got = repr(shown(value)) if isinstance(value, str) else json_kind(value)
        raise InvalidPuzzleError("bad-date", key, f"expected YYYY-MM-DD, got {got}")
    if expected is not None and date != expected:
        raise InvalidPuzzleError("print-date-mismatch", key, f"expected {expected}, got {date}")
    return date


def date_told(data: bytes) -> dt.date | None:
    """Parse the date of a payload, or of a page with one; None if there is none."""
    start = first_byte(data)
    payload = data if data[start : start + 1] == b"{" else embedded(data) or b"{"
    told = {span.key: payload[span.start + 1 : span.stop - 1] for span in spans_in(payload)}
    date = told.get(DATE_KEY, told.get(OTHER_DATE_KEY, b""))
    return iso_date(date.decode("ascii", "replace"))


Found = list[Published | Fault]


def in_input(
    found: Sequence[Published | Fault], name: str, way_out: Callable[[Fault], str] | None = None
) -> Found:
    """Append the input's name to every fault's message, after the remedy from `way_out`.

    An input without a name adds nothing.
    """
    place = f" (in {shown(name)})" if name else ""

    def named(item: Fault) -> Fault:
        remedy = way_out(item) if way_out else ""
        message = f"{item.message}{remedy}{place}"
        return replace(item, message=message, others=tuple(map(named, item.others)))

    return [named(item) if isinstance(item, Fault) else item for item in found]


def without(*keys: str) -> Callable[[Fault], str]:
    """Return a `way_out`: a board is solved without these keys, however wrong they are."""
    remedy = f"; remove {', '.join(keys)} to solve the board alone"
    return lambda fault: remedy if set(keys) & set(re.split(r"[.\[]", fault.place)) else ""


def read_one(
    data: bytes,
    expected: dt.date | None,
    level: str,
    puzzle_of: Callable[[Mapping[str, Any], dt.date | None, str | None], Published],
    list_key: str = "",
) -> Found:
    """Parse a payload with one puzzle: its members, its date, and the result of `puzzle_of`.

    If a date is expected, the payload must have it, and its puzzle gets the level. `list_key` is
    the key of a board that may be just a list.
    """
    try:
        keyed = members_of(data, list_key)
        date = print_date(keyed, expected)
    except InvalidPuzzleError as error:
        return [fault_of(error)]
    named = level if expected is not None else None
    try:
        return [puzzle_of(keyed, date, named)]
    except InvalidPuzzleError as error:
        return [fault_of(error, named)]


def members_of(data: bytes, list_key: str = "") -> dict[str, Any]:
    """Parse an object; just a list becomes the value of `list_key`, if there is one.

    Raises InvalidPuzzleError for anything else.
    """
    if not list_key or not data.startswith(b"[", first_byte(data)):
        return read_members(data)
    members = read_members(b'{"%s": %s}' % (list_key.encode("ascii"), data))
    if len(members) > 1:
        raise InvalidPuzzleError("trailing-data", "", "expected nothing after the list")
    return members


def check_game(obj: Mapping[str, Any], game: str) -> None:
    """Raise InvalidPuzzleError for an object that names another game."""
    named = obj.get("game", game)
    if named != game:
        got = repr(shown(named)) if isinstance(named, str) else json_kind(named)
        raise InvalidPuzzleError("wrong-game", "game", f"expected {game!r}, got {got}")


_SET = re.compile(rb"window\s*\.\s*gameData\s*=\s*(?=\{)")


def embedded(data: bytes) -> bytes | None:
    """Cut the first object assigned to `window.gameData` out of a page or a script.

    None if there is no assignment. An unterminated object extends to the end of the data.
    """
    found = _SET.search(data)
    return None if found is None else data[found.end() : end_of(data, found.end())]

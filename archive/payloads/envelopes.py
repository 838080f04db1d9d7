"""Common fields around the boards of all games' inputs: dates, ids, names, a page, a name."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nightgrid.archive.payloads.published import Fault, Published, input_fault
from nightgrid.archive.payloads.strict_json import read_members, shown
from nightgrid.solvers.errors import InvalidPuzzleError, json_kind

MAX_TEXT = 256
"""Most characters of an id, a clue, or the name of an editor or constructor."""
DATE_KEY = "printDate"

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def fault_of(error: InvalidPuzzleError, level: str | None = None) -> Fault:
    """Convert an error into a fault, with the further faults it carries."""
    others = tuple(fault_of(other, level) for other in error.others)
    return Fault(
        level=level, rule=error.rule, place=error.place, message=error.detail, others=others
    )


def print_date(obj: Mapping[str, Any], expected: dt.date | None) -> dt.date | None:
    """Parse the date of a payload; None if it is optional and missing.

    Raises InvalidPuzzleError if it is not a date, or not the expected one.
    """
    if DATE_KEY not in obj:
        if expected is None:
            return None
        raise InvalidPuzzleError(
            "missing-key", DATE_KEY, f"expected {expected}, but the key is missing"
        )
    value = obj[DATE_KEY]
    date = iso_date(value)
    if date is None:
        got = repr(shown(value)) if isinstance(value, str) else json_kind(value)
        raise InvalidPuzzleError("bad-date", DATE_KEY, f"expected YYYY-MM-DD, got {got}")
    if expected is not None and date != expected:
        raise InvalidPuzzleError(
            "print-date-mismatch", DATE_KEY, f"expected {expected}, got {date}"
        )
    return date


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
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidPuzzleError("not-utf-8", place, "the text holds half of a surrogate pair")
    return value


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
    return lambda fault: remedy if fault.place.startswith(keys) else ""


def read_one(
    data: bytes,
    expected: dt.date | None,
    level: str,
    puzzle_of: Callable[[Mapping[str, Any], dt.date | None, str | None], Published],
) -> Found:
    """Parse a payload with one puzzle: its members, its date, and the result of `puzzle_of`.

    If a date is expected, the payload must have it, and its puzzle gets the level.
    """
    try:
        keyed = read_members(data)
        date = print_date(keyed, expected)
    except InvalidPuzzleError as error:
        return [fault_of(error)]
    named = level if expected is not None else None
    try:
        return [puzzle_of(keyed, date, named)]
    except InvalidPuzzleError as error:
        return [fault_of(error, named)]


def read_list(
    data: bytes, what: str, key: str, puzzle_of: Callable[[Mapping[str, Any]], Any]
) -> Found:
    """Parse a board that is just a list, as the value of `key`; `what` names its items."""
    try:
        items = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        expected = f"expected a JSON object, or a list of {what} as texts"
        return [input_fault("not-json", f"{expected}: {reason}")]
    try:
        return [Published(date=None, level=None, puzzle=puzzle_of({key: items}))]
    except InvalidPuzzleError as error:
        return [fault_of(error)]


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
    if found is None:
        return None
    text = data[found.end() :].decode("utf-8", "surrogateescape")
    with contextlib.suppress(ValueError, RecursionError):
        text = text[: json.JSONDecoder().raw_decode(text)[1]]
    return text.encode("utf-8", "surrogateescape")

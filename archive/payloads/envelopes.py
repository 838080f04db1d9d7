"""What the inputs of every game have around their boards: dates, ids, names, a page, a name."""

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
"""Characters of an id, a clue, an editor's or a constructor's name."""
DATE_KEY = "printDate"

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def fault_of(error: InvalidPuzzleError, level: str | None = None) -> Fault:
    """Record an error as a fault, with what is wrong beside it."""
    others = tuple(fault_of(other, level) for other in error.others)
    return Fault(
        level=level, rule=error.rule, place=error.place, message=error.detail, others=others
    )


def print_date(obj: Mapping[str, Any], expected: dt.date | None) -> dt.date | None:
    """Read the date that a payload says it is for; None where it may be missing and is.

    Raises InvalidPuzzleError when it is not a date, or not the expected one.
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
    """Read a date as YYYY-MM-DD; None for anything else."""
    try:
        return dt.date.fromisoformat(value) if _DATE.fullmatch(value) else None
    except (ValueError, TypeError):
        return None


def identifier(value: Any, place: str) -> str | None:
    """Read an id: an integer, a text, or null."""
    return str(value) if type(value) is int else text(value, place)


def text(value: Any, place: str) -> str | None:
    """Read a text of at most MAX_TEXT characters, or null."""
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
    """End every fault's message with the input's name, after what `way_out` says of a remedy.

    An input without a name stays unnamed.
    """
    place = f" (in {shown(name)})" if name else ""

    def named(item: Fault) -> Fault:
        remedy = way_out(item) if way_out else ""
        message = f"{item.message}{remedy}{place}"
        return replace(item, message=message, others=tuple(map(named, item.others)))

    return [named(item) if isinstance(item, Fault) else item for item in found]


def without(*keys: str) -> Callable[[Fault], str]:
    """Make a `way_out`: without these keys a board is solved whatever they say wrongly of it."""
    remedy = f"; remove {', '.join(keys)} to solve the board alone"
    return lambda fault: remedy if fault.place.startswith(keys) else ""


def read_one(
    data: bytes,
    expected: dt.date | None,
    level: str,
    puzzle_of: Callable[[Mapping[str, Any], dt.date | None, str | None], Published],
) -> Found:
    """Read a payload that holds one puzzle: its members, its date, and what `puzzle_of` makes.

    With a date that is expected the payload has to be for it, and its puzzle has the level.
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
    """Read a board that is a list by itself, as the value of `key`; `what` are texts in it."""
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
    """Raise InvalidPuzzleError for an object that says it is of another game."""
    named = obj.get("game", game)
    if named != game:
        got = repr(shown(named)) if isinstance(named, str) else json_kind(named)
        raise InvalidPuzzleError("wrong-game", "game", f"expected {game!r}, got {got}")


_SET = re.compile(rb"window\s*\.\s*gameData\s*=\s*(?=\{)")


def embedded(data: bytes) -> bytes | None:
    """Cut the first object that `window.gameData` is set to out of a page or a script.

    None where it is not set. An object without an end goes on to the end of the data.
    """
    found = _SET.search(data)
    if found is None:
        return None
    text = data[found.end() :].decode("utf-8", "surrogateescape")
    with contextlib.suppress(ValueError, RecursionError):
        text = text[: json.JSONDecoder().raw_decode(text)[1]]
    return text.encode("utf-8", "surrogateescape")

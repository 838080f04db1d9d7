"""Read the fields that the payloads of every game have: the date, ids, names."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from nightgrid.archive.payloads.published import Fault
from nightgrid.archive.payloads.strict_json import Member, shown
from nightgrid.solvers.errors import InvalidPuzzleError, json_kind

MAX_TEXT = 256
"""Characters of an id, a clue, an editor's or a constructor's name."""
DATE_KEY = "printDate"

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def member_value(member: Member) -> Any:
    """Take a member's value. Raises what is wrong with it."""
    if member.fault is not None:
        raise member.fault
    return member.value


def fault_of(error: InvalidPuzzleError, level: str | None = None) -> Fault:
    """Record an error as a fault."""
    return Fault(level=level, rule=error.rule, place=error.place, message=error.detail)


def print_date(member: Member | None, expected: dt.date | None) -> dt.date | None:
    """Read the date that a payload says it is for; None where it may be missing and is.

    Raises InvalidPuzzleError when it is not a date, or not the expected one.
    """
    if member is None:
        if expected is None:
            return None
        raise InvalidPuzzleError(
            "missing-key", DATE_KEY, f"expected {expected}, but the key is missing"
        )
    value = member_value(member)
    date = _date(value)
    if date is None:
        got = repr(shown(value)) if isinstance(value, str) else json_kind(value)
        raise InvalidPuzzleError("bad-date", DATE_KEY, f"expected YYYY-MM-DD, got {got}")
    if expected is not None and date != expected:
        raise InvalidPuzzleError(
            "print-date-mismatch", DATE_KEY, f"expected {expected}, got {date}"
        )
    return date


def _date(value: Any) -> dt.date | None:
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return None
    try:
        return dt.date.fromisoformat(value)
    except ValueError:
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

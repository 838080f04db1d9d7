"""Read fields of JSON objects from outside: dates, ids and texts."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from nightgrid.solvers.errors import InvalidPuzzleError, json_kind

MAX_TEXT = 256
"""Most characters of an id, a clue, or the name of an editor or constructor."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


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

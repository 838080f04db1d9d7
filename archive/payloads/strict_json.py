"""Parse JSON strictly.

Rejects anything but UTF-8 without a byte order mark, NaN and infinities (also as 1e999), integers
of more than MAX_DIGITS digits, duplicate keys, and nesting beyond the parser's limit.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from itertools import islice
from typing import Any

from nightgrid.solvers.errors import InvalidPuzzleError, json_kind
from nightgrid.solvers.sentences import plural

MAX_DIGITS = 20
"""Longer integers are rejected: no payload has any, and parsing them is slow."""
MAX_MEMBERS = 10_000
"""Most members of the top-level object: a payload has about ten, a table of boards hundreds."""
MAX_SHOWN = 40
"""Most characters of a foreign text that a message or a place quotes."""
_EXCERPT = 12
_MANY_DIGITS = re.compile(rf"[0-9]{{{MAX_DIGITS}}}")
KEYS_SHOWN = 4
"""Keys of a foreign object that a message names."""
_EMPTY = {list: "list", dict: "object"}


def read_members(data: bytes) -> dict[str, Any]:
    """Parse a JSON object. Raises InvalidPuzzleError for anything else."""
    text = _decode(data)
    decoder = json.JSONDecoder(
        object_pairs_hook=_members,
        # Calling a function for each integer would take several times as long.
        parse_int=_integer if _MANY_DIGITS.search(text) else None,
        parse_float=_number,
        parse_constant=_constant,
    )
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise _no_json(text, error) from None
    except RecursionError:
        message = "lists and objects are nested too deeply"
        raise InvalidPuzzleError("too-deep", "", message) from None
    if type(value) is not dict:
        place, message = "line 1, column 1", f"expected a JSON object, got {json_kind(value)}"
        raise InvalidPuzzleError("not-an-object", place, message)
    if len(value) > MAX_MEMBERS:
        message = f"expected at most {MAX_MEMBERS:,} members, got {len(value):,}"
        raise InvalidPuzzleError("too-many-levels", "", message)
    return value


def shown(text: str, most: int = MAX_SHOWN) -> str:
    """Quote at most `most` characters of a foreign text in a message."""
    safe = text if text.isprintable() else json.dumps(text)[1:-1]
    return safe if len(safe) <= most else f"{safe[: most - 3]}..."


def looks_like(value: Any, inside: bool = True) -> str:
    """Describe a JSON value in the words of messages: "an object with grid (a list of 2 texts)"."""
    if isinstance(value, dict) and value:
        keys = [
            shown(key) + (f" ({looks_like(item, inside=False)})" if inside else "")
            for key, item in islice(value.items(), KEYS_SHOWN)
        ]
        more = f" and {len(value) - len(keys):,} more" if len(value) > len(keys) else ""
        return f"an object with {', '.join(keys)}{more}"
    if isinstance(value, list | dict):
        kinds = {json_kind(item).partition(" ")[2] for item in value}
        kind = kinds.pop() if len(kinds) == 1 and "" not in kinds else "value"
        empty = f"an empty {_EMPTY[type(value)]}"
        return f"a list of {plural(len(value), kind)}" if value else empty
    return json_kind(value)


def _decode(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        place, message = f"byte {error.start}", "the body is not UTF-8"
        raise InvalidPuzzleError("not-utf-8", place, message) from None
    if text.startswith("\ufeff"):
        message = "the text starts with a byte order mark"
        raise InvalidPuzzleError("byte-order-mark", "byte 0", message)
    if not text.strip():
        message = "expected a JSON object, got nothing"
        raise InvalidPuzzleError("empty-body", "byte 0", message)
    return text


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        message = f"expected numbers of at most {MAX_DIGITS} digits, got one of {len(digits)}"
        raise InvalidPuzzleError("number-too-large", "", message)
    return int(digits)


def _number(text: str) -> int | float:
    value = float(text)
    if not math.isfinite(value):
        message = f"expected numbers below 1.8e308, got {shown(text)}"
        raise InvalidPuzzleError("number-too-large", "", message)
    # 3.0 is a whole number, where one is expected.
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _constant(name: str) -> None:
    raise InvalidPuzzleError("not-a-number", "", f"expected a JSON value, got {name}")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        twice = shown(key)
        raise InvalidPuzzleError("duplicate-key", twice, f"the key '{twice}' appears twice")
    return value


def _no_json(text: str, error: json.JSONDecodeError) -> InvalidPuzzleError:
    place = f"line {error.lineno}, column {error.colno}"
    message = (
        f"{error.msg[0].lower()}{error.msg[1:]}".removesuffix(" starting at").removesuffix(" at")
        if text.lstrip()[0] == "{"
        else "expected a JSON object"
    )
    rest = text[error.pos : error.pos + _EXCERPT]
    got = f", got '{shown(rest)}'" if rest.strip() else ", but the text ends"
    if error.msg.startswith("Unterminated") or (
        rest.strip() and any(word.startswith(rest.strip()) for word in ("true", "false", "null"))
    ):
        got = ", but the text ends: it was cut off"
    return InvalidPuzzleError("not-json", place, f"{message}{got}")

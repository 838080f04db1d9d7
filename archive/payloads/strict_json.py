"""Read JSON strictly: one bad value of the top object does not take the others with it.

Refused are anything that is not UTF-8 without a byte order mark, NaN and infinities (also as
1e999), integers of more than MAX_DIGITS digits, keys that appear twice and nesting beyond the
parser's bound. A document that is no JSON, or nested too deep, is refused as a whole.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nightgrid.solvers.errors import InvalidPuzzleError

MAX_DIGITS = 20
"""Longer integers are refused: no number of any payload comes near, and reading them is slow."""
MAX_MEMBERS = 10_000
"""Members of the top object, at most: a payload has about ten, a table of boards hundreds."""
MAX_SHOWN = 40
"""Characters of a foreign text that a message or a place repeats."""
_EXCERPT = 12
_MANY_DIGITS = re.compile(rf"[0-9]{{{MAX_DIGITS}}}")
_KINDS = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of the top object: its value, or why it cannot be read."""

    key: str
    value: Any = None
    fault: InvalidPuzzleError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flaw:
    """Takes the place of a value that is refused, in a tree of values."""

    rule: str
    message: str


def read_members(data: bytes) -> dict[str, Member]:
    """Read the members of a JSON object by their keys.

    What is wrong inside of one value is the fault of that member. Raises InvalidPuzzleError for
    what is no JSON object.
    """
    text = _decode(data)
    flaws: list[_Flaw] = []
    try:
        value = _decoder(flaws, with_digits=_MANY_DIGITS.search(text) is not None).decode(text)
    except json.JSONDecodeError as error:
        raise _no_json(text, error) from None
    except RecursionError:
        message = "lists and objects are nested too deeply"
        raise InvalidPuzzleError("too-deep", "", message) from None
    if type(value) is not dict:
        got = _KINDS.get(type(value), "a number")
        place, message = "line 1, column 1", f"expected a JSON object, got {got}"
        raise InvalidPuzzleError("not-an-object", place, message)
    if len(value) > MAX_MEMBERS:
        message = f"expected at most {MAX_MEMBERS:,} members, got {len(value):,}"
        raise InvalidPuzzleError("too-many-levels", "", message)
    if not flaws:
        return {key: Member(key=key, value=item) for key, item in value.items()}
    return {key: _member(key, item) for key, item in value.items()}


def shown(text: str, most: int = MAX_SHOWN) -> str:
    """Show a foreign text of any length in a message, at most `most` characters of it."""
    safe = text if text.isprintable() else json.dumps(text)[1:-1]
    return safe if len(safe) <= most else f"{safe[: most - 3]}..."


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


def _decoder(flaws: list[_Flaw], *, with_digits: bool) -> json.JSONDecoder:
    """Make a decoder that puts flaws into the tree, so that their places can be named."""

    def flaw(rule: str, message: str) -> _Flaw:
        flaws.append(_Flaw(rule=rule, message=message))
        return flaws[-1]

    def integer(digits: str) -> int | _Flaw:
        if len(digits) <= MAX_DIGITS:
            return int(digits)
        message = f"expected at most {MAX_DIGITS} digits, got {len(digits)}"
        return flaw("number-too-large", message)

    def number(text: str) -> float | _Flaw:
        value = float(text)
        if math.isfinite(value):
            return value
        return flaw("number-too-large", f"expected less than 1.8e308, got {shown(text)}")

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    value[key] = flaw("duplicate-key", f"the key '{shown(key)}' appears twice")
                seen.add(key)
        return value

    return json.JSONDecoder(
        object_pairs_hook=members,
        # A call for each integer would take several times as long.
        parse_int=integer if with_digits else None,
        parse_float=number,
        parse_constant=lambda name: flaw("not-a-number", f"expected a JSON value, got {name}"),
    )


def _no_json(text: str, error: json.JSONDecodeError) -> InvalidPuzzleError:
    place = f"line {error.lineno}, column {error.colno}"
    message = (
        f"{error.msg[0].lower()}{error.msg[1:]}".removesuffix(" starting at")
        if text.lstrip()[0] == "{"
        else "expected a JSON object"
    )
    rest = text[error.pos : error.pos + _EXCERPT]
    got = f", got '{shown(rest)}'" if rest.strip() else ", but the text ends"
    return InvalidPuzzleError("not-json", place, f"{message}{got}")


def _member(key: str, value: Any) -> Member:
    fault = next(_faults(value, shown(key)), None)
    return Member(key=key, fault=fault) if fault else Member(key=key, value=value)


def _faults(value: Any, place: str) -> Iterator[InvalidPuzzleError]:
    rest: list[tuple[Any, str]] = [(value, place)]
    while rest:
        node, at = rest.pop()
        if isinstance(node, _Flaw):
            yield InvalidPuzzleError(node.rule, at, node.message)
        elif isinstance(node, dict):
            rest += [(item, f"{at}.{shown(key)}") for key, item in reversed(node.items())]
        elif isinstance(node, list):
            rest += [(node[i], f"{at}[{i}]") for i in reversed(range(len(node)))]

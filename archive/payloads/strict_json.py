"""Read hostile JSON: one bad member of the top object does not take the others with it."""

from __future__ import annotations

import itertools
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
"""Members of the top object that are read: a payload has about ten, a table of boards hundreds."""
MAX_SHOWN = 40
"""Characters of a foreign text that a message or a place repeats."""

_UTF8_BOM = b"\xef\xbb\xbf"
_MANY_DIGITS = re.compile(rb"[0-9]{%d}" % MAX_DIGITS)
_SPACE = re.compile(r"[ \t\r\n]*+")
# A string that never ends is one token up to the end of the text, so that skipping stays linear.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[^,}\]]*+', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of the top object: its value, or why it cannot be read."""

    key: str | None
    """None for what is wrong between the members or with the document as a whole."""
    value: Any = None
    fault: InvalidPuzzleError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flaw:
    """Stands in a tree for a value that JSON does not allow or that is refused."""

    rule: str
    message: str


def read_members(data: bytes) -> Iterator[Member]:
    """Read the members of a JSON object one by one, each value strictly.

    Refused are: anything that is not UTF-8 without a byte order mark, syntax errors, NaN and
    infinities, also as 1e999, integers of more than MAX_DIGITS digits, duplicate keys and nesting
    beyond what the parser bears. What is wrong inside of one value is the fault of that member;
    after a fault between members, or a value without an end, there are no further members.
    """
    sound = _sound_object(data)
    if sound is not None:
        for key, value in sound.items():
            yield Member(key=key, value=value)
        return
    if data.startswith(_UTF8_BOM):
        yield _whole("byte-order-mark", "byte 0", "the text starts with a byte order mark")
        return
    # Undecodable bytes become lone surrogates, which count against the member they stand in.
    text = data.decode("utf-8", "surrogateescape")
    at = _after_space(text, 0)
    if at == len(text):
        yield _whole("empty-body", "byte 0", "expected a JSON object, got nothing")
        return
    if text[at] != "{":
        yield _no_object(text, at)
        return
    at = _after_space(text, at + 1)
    if text[at : at + 1] != "}":
        for number in itertools.count():
            if number == MAX_MEMBERS:
                yield _whole(
                    "too-many-levels",
                    _position(text, at),
                    f"expected at most {MAX_MEMBERS:,} members",
                )
                return
            step = _member(text, at)
            yield step[0]
            if step[1] is None:
                return
            at = _after_space(text, step[1])
            if text[at : at + 1] == "}":
                break
            if text[at : at + 1] != ",":
                yield _syntax(text, at, "expected ',' or '}'")
                return
            at = _after_space(text, at + 1)
    at = _after_space(text, at + 1)
    if at < len(text):
        fault = _syntax(text, at, "expected nothing after the object").fault
        assert fault is not None
        yield _whole("trailing-data", fault.place, fault.detail)


def _sound_object(data: bytes) -> dict[str, Any] | None:
    """Read an object in which nothing is refused, in a sixth of the time; None for all else.

    It may return None for an object that is sound, never a value for one that is not.
    """
    # An integer that is too long, or nearly so: the careful way counts its digits.
    if _MANY_DIGITS.search(data):
        return None
    try:
        value = _SOUND.decode(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return value if type(value) is dict and len(value) <= MAX_MEMBERS else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key stands twice")
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is too large")
    return value


_SOUND = json.JSONDecoder(object_pairs_hook=_once, parse_float=_finite, parse_constant=_refuse)


def shown(text: str, most: int = MAX_SHOWN) -> str:
    """Show a foreign text of any length in a message, at most `most` characters of it."""
    safe = text if text.isprintable() else json.dumps(text)[1:-1]
    return safe if len(safe) <= most else f"{safe[: most - 3]}..."


class _Decoder:
    """A JSON decoder that leaves flaws in the tree, so that their places can be named."""

    def __init__(self) -> None:
        self.flawed = False
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._integer,
            parse_float=self._float,
            parse_constant=lambda name: self._flaw(
                "not-a-number", f"expected a JSON value, got {name}"
            ),
        )

    def decode(self, text: str, at: int) -> tuple[Any, int]:
        return self._decoder.raw_decode(text, at)

    def _flaw(self, rule: str, message: str) -> _Flaw:
        self.flawed = True
        return _Flaw(rule=rule, message=message)

    def _integer(self, digits: str) -> int | _Flaw:
        if len(digits) <= MAX_DIGITS:
            return int(digits)
        return self._flaw(
            "number-too-large", f"expected at most {MAX_DIGITS} digits, got {len(digits)}"
        )

    def _float(self, text: str) -> float | _Flaw:
        value = float(text)
        if math.isfinite(value):
            return value
        return self._flaw("number-too-large", f"expected less than 1.8e308, got {shown(text)}")

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    value[key] = self._flaw("duplicate-key", f"key '{shown(key)}' stands twice")
                seen.add(key)
        return value


def _member(text: str, at: int) -> tuple[Member, int | None]:
    """Read `"key": value` at a position; the second value is None when nothing can follow."""
    if text[at : at + 1] != '"':
        return _syntax(text, at, "expected a key in double quotes"), None
    try:
        key, end = _Decoder().decode(text, at)
    except json.JSONDecodeError as error:
        return _syntax(text, at, error.msg), None
    colon = _after_space(text, end)
    if text[colon : colon + 1] != ":":
        return _syntax(text, colon, "expected ':'"), None
    start = _after_space(text, colon + 1)
    if start == len(text):
        return _at_key(key, "truncated", "the text ends where a value is expected"), None
    decoder = _Decoder()
    try:
        value, end = decoder.decode(text, start)
    except RecursionError:
        fault = _at_key(key, "too-deep", "lists and objects are nested too deeply")
        return fault, _skip(text, start)
    except json.JSONDecodeError as error:
        return _bad_value(text, key, start, error)
    byte = _undecodable(text, start, end)
    if byte is not None:
        return _at_key(key, "not-utf-8", f"byte {byte} of the body is not UTF-8"), end
    if decoder.flawed:
        place, flaw = next(_flaws(value, shown(key)))
        return Member(key=key, fault=InvalidPuzzleError(flaw.rule, place, flaw.message)), end
    return Member(key=key, value=value), end


def _bad_value(
    text: str, key: str, start: int, error: json.JSONDecodeError
) -> tuple[Member, int | None]:
    end = _skip(text, start)
    if end is None:
        return _at_key(key, "truncated", "the text ends before the value does"), None
    place = _position(text, error.pos)
    return _at_key(key, "not-json", f"{error.msg} at {place}"), end


def _skip(text: str, start: int) -> int | None:
    """Find the end of a value that cannot be read, by its brackets; None when it has none."""
    if text[start] not in "[{":
        scalar = _SCALAR.match(text, start)
        assert scalar is not None
        return scalar.end() if scalar.end() < len(text) else None
    depth = 0
    for token in _TOKEN.finditer(text, start):
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
            if depth == 0:
                return token.end()
    return None


def _flaws(value: Any, place: str) -> Iterator[tuple[str, _Flaw]]:
    rest: list[tuple[Any, str]] = [(value, place)]
    while rest:
        node, at = rest.pop()
        if isinstance(node, _Flaw):
            yield at, node
        elif isinstance(node, dict):
            rest += [(item, f"{at}.{shown(key)}") for key, item in reversed(node.items())]
        elif isinstance(node, list):
            rest += [(node[i], f"{at}[{i}]") for i in reversed(range(len(node)))]


def _undecodable(text: str, start: int, end: int) -> int | None:
    """Find the first byte of the body, within a part of the text, that is not UTF-8."""
    part = text[start:end]
    if part.isascii():
        return None
    try:
        part.encode("utf-8")
    except UnicodeEncodeError as error:
        return len(text[: start + error.start].encode("utf-8", "surrogateescape"))
    return None


def _no_object(text: str, at: int) -> Member:
    byte = _undecodable(text, 0, len(text))
    if byte is not None:
        return _whole("not-utf-8", f"byte {byte}", "the body is not UTF-8")
    try:
        value, end = _Decoder().decode(text, at)
    except (ValueError, RecursionError):
        value, end = None, at
    if end == at or _after_space(text, end) < len(text):
        return _syntax(text, at, "expected a JSON object")
    kind = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    got = kind.get(type(value), "a number")
    return _whole("not-an-object", _position(text, at), f"expected a JSON object, got {got}")


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _position(text: str, at: int) -> str:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return f"line {line}, column {column}"


def _whole(rule: str, place: str, message: str) -> Member:
    return Member(key=None, fault=InvalidPuzzleError(rule, place, message))


def _syntax(text: str, at: int, expected: str) -> Member:
    if at >= len(text):
        return _whole("truncated", _position(text, at), f"{expected}, but the text ends")
    got = shown(text[at : at + 12].encode("utf-8", "replace").decode("utf-8"))
    return _whole("not-json", _position(text, at), f"{expected}, got '{got}'")


def _at_key(key: str, rule: str, message: str) -> Member:
    return Member(key=key, fault=InvalidPuzzleError(rule, shown(key), message))


def members_by_key(data: bytes) -> tuple[dict[str, Member], list[InvalidPuzzleError]]:
    """Read the members of a JSON object by their keys, and the faults that belong to no single key.

    A key that stands twice is one member with a fault, whatever its values are.
    """
    keyed: dict[str, Member] = {}
    loose: list[InvalidPuzzleError] = []
    for member in read_members(data):
        if member.key is None:
            assert member.fault is not None
            loose.append(member.fault)
        elif member.key in keyed:
            message = "the key stands twice in the payload; expected once"
            keyed[member.key] = _at_key(member.key, "duplicate-key", message)
        else:
            keyed[member.key] = member
    return keyed, loose

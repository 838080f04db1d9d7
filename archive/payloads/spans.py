"""Where the values of a JSON text lie, so that they are cut out as received; nothing is parsed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

# Possessive, so that a text without an end is looked through once.
_TEXT = rb'"(?:[^"\\]++|\\.)*+"'
_QUOTED = re.compile(_TEXT, re.DOTALL)
_TO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|%s)*+[\[\]{}]' % _TEXT, re.DOTALL)
_SCALAR = re.compile(rb'[^\s,\[\]{}"]+')
_SPACE = re.compile(rb"\s*")
_COLON = re.compile(rb"\s*:\s*")


class Span(NamedTuple):
    """A value: data[start:stop]."""

    key: str | None
    """Its name in an object, "" for anything but a member; None in a list."""
    start: int
    stop: int


def spans_in(data: bytes, start: int = 0) -> Iterator[Span]:
    """Yield the values of the list or object that begins at `start`, after blanks.

    Anything but a value, or a value without an end, is yielded last and reaches to the end of the
    data; it is empty if the data ends between two values.
    """
    at = first_byte(data, start)
    no_key = "" if data[at : at + 1] == b"{" else None
    at = first_byte(data, at + 1)
    if data[at : at + 1] in (b"]", b"}"):
        return
    while True:
        key = no_key
        if key is not None:
            quoted = _QUOTED.match(data, at)
            colon = quoted and _COLON.match(data, quoted.end())
            if quoted is None or colon is None:
                yield Span(no_key, at, len(data))
                return
            key, at = _text(quoted[0]), colon.end()
        stop = end_of(data, at)
        yield Span(key, at, len(data) if stop is None else stop)
        if stop is None:
            return
        at = first_byte(data, stop)
        if data[at : at + 1] in (b"]", b"}"):
            return
        if data[at : at + 1] != b",":
            yield Span(no_key, at, len(data))
            return
        at = first_byte(data, at + 1)


def first_byte(data: bytes, start: int = 0) -> int:
    """Return the index of the first byte that is not blank."""
    found = _SPACE.match(data, start)
    return found.end() if found else start


def end_of(data: bytes, at: int) -> int | None:
    """Return the end of the value at `at`; None if it has none."""
    if data[at : at + 1] not in (b"[", b"{"):
        scalar = _QUOTED.match(data, at) or _SCALAR.match(data, at)
        return scalar and scalar.end()
    depth = 0
    while found := _TO_BRACKET.match(data, at):
        at = found.end()
        depth += 1 if data[at - 1] in b"[{" else -1
        if not depth:
            return at
    return None


def _text(quoted: bytes) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return ""

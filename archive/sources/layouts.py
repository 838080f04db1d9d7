"""The payloads of an archive, one after another, however it is laid out; the layout is looked at.

A file holds one payload, or many (nightgrid.solvers.json_text.documents). Sources of nights,
corpora, and commands that take files all read archives through this module.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from nightgrid.archive.games import claimed_game, claims_key, foreign, reader
from nightgrid.archive.payloads.published import Fault, Published, input_fault
from nightgrid.archive.sources.archive_files import (
    LINES_SUFFIXES,
    date_named,
)
from nightgrid.solvers.json_text.documents import Form, documents_in
from nightgrid.solvers.json_text.strict_json import shown
from nightgrid.solvers.registry import DEFAULT_GAME, game_named

PAYLOAD_BYTES_MAX = 16 * 1024**2
"""Bytes of a payload; published ones have at most some 20 KB."""
NO_PUZZLE = "no-puzzle"
"""Rule of an input that no game claims."""
_DAYS = Form(
    is_document=lambda data: len(data) <= PAYLOAD_BYTES_MAX and claimed_game(data) is not None,
    is_label=lambda key: date_named(key) is not None,
    has_key=claims_key,
)


class Item(NamedTuple):
    """A payload of a file."""

    body: bytes
    place: str = ""
    """Where it is in the file, for messages: ", line 3", "[3]", ".2026-01-05"."""
    game: str | None = None
    date: dt.date | None = None
    """Game and date according to the name of its file or its key."""


def items_in(
    data: bytes, name: str, game: str | None = None, date: dt.date | None = None
) -> Iterator[Item]:
    """Yield the payloads of a file; `game` and `date` are those that its name says.

    What is no archive is one payload.
    """
    are_lines = name.lower().removesuffix(".gz").endswith(LINES_SUFFIXES)
    for body, place, keys in documents_in(data, _DAYS, are_lines=are_lines):
        named = next(filter(None, map(game_named, reversed(keys))), game)
        dated = date_named(keys[-1]) if keys else None
        yield Item(body, place, named, dated if place else date)


def read_item(
    item: Item, name: str, game: str | None = None
) -> tuple[str, list[Published | Fault]]:
    """Read a payload of any game, or of `game`; return its game, "" if nothing tells it.

    `name` is what messages call its file. A puzzle for another day than the name of its file, or
    its key, says is a fault.
    """
    body, name = item.body, f"{name}{item.place}"
    if len(body) > PAYLOAD_BYTES_MAX:
        message = f"{shown(name)} is larger than {PAYLOAD_BYTES_MAX:,} bytes"
        return game or "", [input_fault("body-too-large", message)]
    of = game or claimed_game(body) or item.game
    if of is None and (what := foreign(body)):
        return "", [input_fault(NO_PUZZLE, f"{what} (in {shown(name)})")]
    found = reader(of or DEFAULT_GAME).read_puzzles(body, name)
    if any(isinstance(each, Published) for each in found):
        of = of or DEFAULT_GAME
    return of or "", [_dated(each, item.date, name) for each in found]


def game_found_in(item: Item) -> str | None:
    """Return the game of a payload with a valid puzzle, or None."""
    game, found = read_item(item, "")
    return game if any(isinstance(each, Published) for each in found) else None


def _dated(found: Published | Fault, date: dt.date | None, name: str) -> Published | Fault:
    if isinstance(found, Fault) or date is None or found.date == date:
        return found
    if found.date is None:
        return replace(found, date=date)
    message = f"expected {date}, as its name says, got {found.date} (in {shown(name)})"
    return Fault(level=found.level, rule="print-date-mismatch", place="printDate", message=message)

"""Yield the payloads of one file of an archive, in any layout, which is detected.

A file holds one payload, or many, each cut out byte by byte: one a line, a list, an object by
label, or either of these as the value of a key. Sources of nights, corpora, and commands that take
files all read archives through this module.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import NamedTuple

from nightgrid.archive.games import claimed_game, claims_key, foreign, reader
from nightgrid.archive.payloads.published import Fault, Published, input_fault
from nightgrid.archive.payloads.spans import Span, first_byte, spans_in
from nightgrid.archive.payloads.strict_json import MAX_MEMBERS, shown
from nightgrid.archive.sources.folder_layouts import LINES_SUFFIXES, date_named
from nightgrid.solvers.registry import DEFAULT_GAME, game_named

PAYLOAD_BYTES_MAX = 16 * 1024**2
"""Bytes of a payload; published ones have at most some 20 KB."""
NO_PUZZLE = "no-puzzle"
"""Rule of an input that no game claims."""
HEAD = 8
"""Values of a list that are checked to detect payloads."""
WRAPPERS = 2
"""Most nested keys above payloads."""
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_NO_OBJECT = re.compile(rb"^(?:[^\s{]|[ \t]+\S)", re.MULTILINE)


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
    """Yield the payloads of a file; `game` and `date` are those in its name.

    Anything else is one payload. Lines are payloads if each begins an object in its first column;
    of a file with the suffix of lines, the first one decides.
    """
    are_lines = name.lower().removesuffix(".gz").endswith(LINES_SUFFIXES)
    whole = Item(data, game=game, date=date)
    several = _values(data, first_byte(data), whole, 0)
    if data[:1] == b"{" and (are_lines or not _NO_OBJECT.search(data)):
        numbered = enumerate(_LINE.finditer(data), 1)
        lines = (
            Item(line[0].strip(), f", line {n}", game) for n, line in numbered if line[0].strip()
        )
        if len(first := [*islice(lines, 2)]) > 1:
            several = chain(first, lines)
    yield from chain([next(several, whole)], several)


def _values(data: bytes, at: int, under: Item, depth: int) -> Iterator[Item]:
    """Yield the payloads in the list or object that begins at `at`; nothing if it has none."""
    begin, values = data[at : at + 1], spans_in(data, at)
    head = [*islice(values, HEAD)]
    dated = under.date if depth else None

    def is_one(span: Span, begins: tuple[bytes, ...]) -> bool:
        if span.stop - span.start > PAYLOAD_BYTES_MAX or not data.startswith(begins, span.start):
            return False
        return claimed_game(data[span.start : span.stop]) is not None

    if begin == b"[" and any(is_one(span, (b"{",)) for span in head):
        for number, (_, start, stop) in enumerate(chain(head, values)):
            yield Item(data[start:stop], f"{under.place}[{number}]", under.game, dated)
    members = [*head, *islice(values, MAX_MEMBERS)] if begin == b"{" else []
    if len(members) > MAX_MEMBERS:
        return
    labelled = [span for span in members if not span.key or date_named(span.key)]
    is_any = any(is_one(span, (b"{", b"[")) for span in labelled if span.key)
    is_one_payload = any(claims_key(span.key or "") for span in members)
    if is_any or (depth < WRAPPERS and not is_one_payload):
        for key, start, stop in labelled if is_any else members:
            name = key or "end"
            game, place = game_named(name) or under.game, f"{under.place}.{shown(name)}"
            inner = Item(data[start:stop], place, game, date_named(name))
            yield from [inner] if is_any else _values(data, start, inner, depth + 1)


def read_item(
    item: Item, name: str, game: str | None = None
) -> tuple[str, list[Published | Fault]]:
    """Read a payload of any game, or of `game`; return its game, "" if unknown.

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

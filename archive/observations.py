"""Observations: where current editions contradict one another, told without harm to any of them."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from archive.columns import arrays_of
from archive.editions import current_editions
from archive.lake import Lake
from archive.puzzles import read_puzzle_table
from archive.raw import RawArchive
from archive.strict_json import shown
from archive.tables import OBSERVATIONS
from solvers.lexicon.spelling import upper

OBSERVED = frozenset({"letterboxed"})
"""Games whose payloads say something about other days."""
_DAY = dt.timedelta(days=1)
_Row = Mapping[str, Any]
_Remark = tuple[_Row, str, str, str]
"""An edition, the rule that it breaks, the place in its payload, a message."""


def observations_path(game: str) -> str:
    """Name the table of a game's observations."""
    return f"observations/{game}.parquet"


def write_observations(lake: Lake, raw: RawArchive) -> int:
    """Make a game's observations anew from its current editions; return how many there are.

    An unchanged table is not written, and a game whose payloads speak of their own day alone has
    none. Drafts are left out: they may still change.
    """
    if raw.game not in OBSERVED:
        return 0
    editions = {row["date"]: row for row in current_editions(lake, raw.game).to_pylist()}
    sides = _sides(lake, raw.game)
    found = [*_yesterdays(editions, sides), *_ids(editions)]
    rows = [_row(raw, *remark) for remark in found]
    rows.sort(key=lambda row: (row["date"], row["place"], row["rule"]))
    table = pa.Table.from_pylist(rows, schema=OBSERVATIONS)
    path = observations_path(raw.game)
    before = lake.read_table(path, OBSERVATIONS)
    if not table.equals(before):
        lake.write_table(path, table)
    return table.num_rows


def _yesterdays(
    editions: Mapping[dt.date, _Row], sides: Mapping[str, tuple[str, ...]]
) -> Iterator[_Remark]:
    """Compare what each payload says of the day before with that day's own edition."""
    for date, row in sorted(editions.items()):
        if row["yesterday"] is None:
            continue
        told = json.loads(row["yesterday"])
        before = editions.get(date - _DAY)
        for name, value in sorted(told.items()):
            place = f"yesterdays{name.title()}"
            if value is None:
                yield row, "yesterday-unreadable", place, "expected a list of short texts"
                continue
            if before is None:
                continue
            there = sides[before["puzzle_id"]] if name == "sides" else _words(before)
            if there is not None and _form(name, value) != _form(name, there):
                says, is_ = (shown(" ".join(words)) for words in (value, there))
                message = f"{says!r}; the edition of {before['date']} has {is_!r}"
                yield row, f"yesterday-{name}", place, message


def _ids(editions: Mapping[dt.date, _Row]) -> Iterator[_Remark]:
    """Name the editions with an id that an earlier one bears."""
    first: dict[str, dt.date] = {}
    for date, row in sorted(editions.items()):
        name = row["source_id"]
        if name is None:
            continue
        if name in first:
            message = f"{shown(name)!r}, which the edition of {first[name]} bears as well"
            yield row, "id-twice", "id", message
        first.setdefault(name, date)


def _sides(lake: Lake, game: str) -> dict[str, tuple[str, ...]]:
    from solvers.letterboxed.columns import sides_of

    table = read_puzzle_table(lake, game)
    arrays = arrays_of(table)
    ids = table.column("puzzle_id").to_pylist()
    return {name: sides_of(arrays, row) for row, name in enumerate(ids)}


def _words(edition: _Row) -> list[str] | None:
    official = edition["official_solution"]
    words: list[str] | None = None if official is None else json.loads(official)["words"]
    return words


def _form(name: str, texts: Any) -> list[str]:
    """Write sides or words so that those that are the same are equal: sides in any order."""
    texts = list(map(upper, texts))
    return sorted("".join(sorted(text)) for text in texts) if name == "sides" else texts


def _row(raw: RawArchive, edition: _Row, rule: str, place: str, message: str) -> dict[str, Any]:
    seen = raw.of(edition["date"])
    url = next((s.url for s in seen if s.sha256 == edition["raw_sha256"]), "")
    names = ("game", "date", "level", "raw_sha256", "seen_at")
    told = {name: edition[name] for name in names}
    return {**told, "url": url, "rule": rule, "place": place, "message": message}

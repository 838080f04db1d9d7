"""Facts in payloads of Letter Boxed about other days, compared with those days' own editions."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games.plug import Edition, Remark
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.payloads.strict_json import shown
from nightgrid.solvers.letterboxed.columns import sides_of
from nightgrid.solvers.lexicon.spelling import upper

_DAY = dt.timedelta(days=1)


def remarks(puzzles: Callable[[], pa.Table], editions: pa.Table) -> Iterator[Remark]:
    """Find wrong facts about the previous day, and ids shared by two editions."""
    if editions.column("yesterday").null_count < len(editions):
        boards = puzzles()
        wanted = pc.is_in(boards.column("puzzle_id"), value_set=editions.column("puzzle_id"))
        rows = {row["date"]: row for row in editions.to_pylist()}
        yield from _yesterdays(rows, _sides(boards.filter(wanted)))
    names = pc.value_counts(editions.column("source_id").drop_null().combine_chunks())
    repeated = names.filter(pc.greater(names.field("counts"), 1)).field("values")
    if len(repeated):
        bearers = editions.filter(pc.is_in(editions.column("source_id"), value_set=repeated))
        yield from _ids({row["date"]: row for row in bearers.to_pylist()})


def _yesterdays(
    editions: Mapping[dt.date, Edition], sides: Mapping[str, tuple[str, ...]]
) -> Iterator[Remark]:
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


def _ids(editions: Mapping[dt.date, Edition]) -> Iterator[Remark]:
    first: dict[str, dt.date] = {}
    for date, row in sorted(editions.items()):
        name = row["source_id"]
        if name is None:
            continue
        if name in first:
            message = f"'{shown(name)}', which the edition of {first[name]} has as well"
            yield row, "id-twice", "id", message
        first.setdefault(name, date)


def _sides(table: pa.Table) -> dict[str, tuple[str, ...]]:
    arrays = arrays_of(table)
    ids = table.column("puzzle_id").to_pylist()
    return {name: sides_of(arrays, row) for row, name in enumerate(ids)}


def _words(edition: Edition) -> list[str] | None:
    official = edition["official_solution"]
    words: list[str] | None = None if official is None else json.loads(official)["words"]
    return words


def _form(name: str, texts: Any) -> list[str]:
    """Normalise sides or words so that equal ones compare equal: sides in any order."""
    texts = list(map(upper, texts))
    return sorted("".join(sorted(text)) for text in texts) if name == "sides" else texts

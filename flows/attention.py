"""Findings of a night or a count that need attention: puzzles without an answer, broken rules."""

from __future__ import annotations

import datetime as dt
import itertools
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from nightgrid.archive.games import archive_plug
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.listing import list_quarantine, list_results
from nightgrid.archive.lookup.row_filter import RowFilter
from nightgrid.archive.results.contradictions import Contradiction
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.sentences import plural

KEPT = 1_000
"""Most items of a kind that a report and --json keep."""
SHOWN = 10
"""Most items of a kind that a terminal shows; `nightgrid list` has all."""
QUARANTINE = "quarantine"
"""Kind of a broken rule; the other kinds of KINDS are statuses."""
CONTRADICTION = "contradiction"
"""Kind of an answer that differs from that of another version of the solver."""
SKIPPED = "skipped"
"""Kind of a file in a source that is not a payload: reported, without changing the exit code."""
MISSING = "missing"
"""Kind of days without a payload between two that have one: reported like SKIPPED."""
SKIPPED_SHOWN = 3
"""Most names of these two kinds that are shown to people, in one line."""
KINDS = (Status.POISON, Status.INVALID, Status.OVER_BUDGET, Status.UNSOLVABLE, QUARANTINE)
"""Every kind with a list, in the order of the report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionItem:
    """A puzzle or a payload that needs attention, and why."""

    kind: str
    """One of KINDS, CONTRADICTION, SKIPPED or MISSING."""
    name: str
    """A puzzle's reference or id; the date of a payload with its file; a row of a corpus."""
    why: str
    """One sentence; for a broken rule, the rule comes first."""
    puzzle_id: str | None = None
    ask: str | None = None
    rule: str | None = None
    place: str | None = None


def unanswered(
    lake: Lake,
    wanted: RowFilter,
    figures: Mapping[str, int],
    within: Callable[[pa.Table], pa.Table] = lambda table: table,
) -> tuple[AttentionItem, ...]:
    """List the jobs that did not end as solved, at most KEPT of each status.

    `figures` counts the jobs of each status; nothing is read for a status without jobs. `within`
    filters the rows that are listed.
    """
    found: list[AttentionItem] = []
    for status in (kind for kind in KINDS if figures.get(kind)):
        listed = list_results(lake, wanted.ended(status))
        rows = (row for table in listed for row in within(table).to_pylist())
        found += [_job(row) for row in itertools.islice(rows, KEPT)]
    return tuple(found)


def _job(row: Mapping[str, Any]) -> AttentionItem:
    why = row["reason"] or "proven to have no solution"
    if row["hint"]:
        why = f"{row['hint']}; {archive_plug(row['game']).other_words}"
    return AttentionItem(
        kind=row["status"],
        name=row["puzzle"],
        why=why,
        puzzle_id=row["puzzle_id"],
        ask=row["ask"],
    )


def in_quarantine(rows: Iterable[Mapping[str, Any]]) -> tuple[AttentionItem, ...]:
    """List rows of a quarantine with the rule that each broke, at most KEPT of them."""
    return tuple(
        AttentionItem(
            kind=QUARANTINE,
            name=_source(row),
            why=": ".join(filter(None, (row["rule"], row["place"], _message(row)))),
            rule=row["rule"],
            place=row["place"],
        )
        for row in itertools.islice(rows, KEPT)
    )


def contradicting(found: Iterable[Contradiction], ask: str) -> tuple[AttentionItem, ...]:
    """List the puzzles that two versions of a solver answer differently."""
    return tuple(
        AttentionItem(
            kind=CONTRADICTION,
            name=one.puzzle_id,
            why=one.sentence(),
            puzzle_id=one.puzzle_id,
            ask=ask,
        )
        for one in found
    )


def skipped_names(names: Sequence[str]) -> tuple[AttentionItem, ...]:
    """List files and folders of a source that are not read, at most KEPT of them."""
    why = "not read: no payload of a day, or another one for a day that is there"
    return tuple(AttentionItem(kind=SKIPPED, name=name, why=why) for name in names[:KEPT])


def missing_dates(dates: Sequence[dt.date]) -> tuple[AttentionItem, ...]:
    """List the gaps between sorted dates of a source, at most KEPT of them."""
    gaps = ((day, (after - day).days - 1) for day, after in itertools.pairwise(dates))
    names = (f"{plural(days, 'day')} after {day}" for day, days in gaps if days)
    why = "the source has no payload for them"
    items = (AttentionItem(kind=MISSING, name=name, why=why) for name in names)
    return tuple(itertools.islice(items, KEPT))


def quarantine_of(lake: Lake, game: str) -> tuple[AttentionItem, ...]:
    """List what is in the quarantine of a game's nights."""
    tables = list_quarantine(lake, RowFilter(games=(game,)))
    return in_quarantine(row for table in tables for row in table.to_pylist() if not row["corpus"])


def _source(row: Mapping[str, Any]) -> str:
    """Return the origin of a row of a quarantine: its date, its level and its file."""
    file = _file(row)
    number = row.get("source_row")
    if number is not None:
        return f"{row['source']} {row['level'] or f'row {number}'}"
    parts = (
        row.get("date") and str(row["date"]),
        row.get("level"),
        file and f"({file})",
    )
    return " ".join(filter(None, parts))


def _file(row: Mapping[str, Any]) -> str:
    return str(row.get("source") or row.get("url") or "").rsplit("/", 1)[-1]


def _message(row: Mapping[str, Any]) -> str:
    """Return what is wrong without the file's name, which the line already has."""
    return str(row["message"]).removesuffix(f" (in {_file(row)})")


_HEADINGS = {
    QUARANTINE: "in quarantine",
    CONTRADICTION: "answered differently by another version of the solver",
}


def attention_sections(
    items: Sequence[AttentionItem], figures: Mapping[str, int], game: str, lake: str
) -> list[tuple[str, list[str]]]:
    """Return what needs attention: a heading for each kind, and a line for each of its items.

    A list ends after SHOWN lines with the command that lists all. Names in a source that are no
    payloads are one heading without lines.
    """
    sections = []
    for kind in (CONTRADICTION, *KINDS):
        mine = [item for item in items if item.kind == kind]
        if not mine:
            continue
        number = max(figures.get(kind, 0), len(mine))
        name = _HEADINGS.get(kind, kind.replace("_", " "))
        lines = [" ".join(f"{item.name}: {item.why}".split()) for item in mine[:SHOWN]]
        if number > SHOWN and kind == CONTRADICTION:
            lines.append(f"and {number - SHOWN:,} more, which --json has")
        elif number > SHOWN:
            which = "" if kind == QUARANTINE else f" --status {kind}"
            what = "quarantine" if kind == QUARANTINE else "results"
            lines.append(
                f"and {number - SHOWN:,} more: nightgrid list {what} --game {game}{which} "
                f"--lake {shlex.quote(lake)}"
            )
        sections.append((f"{game}: {number:,} {name}", lines))
    for kind, noun, what in (
        (SKIPPED, "name", "in the source skipped ({}): no day of this game, or a second payload"),
        (MISSING, "gap", "between the dates of the source ({})"),
    ):
        names = [item.name for item in items if item.kind == kind]
        if names:
            number = max(figures.get(kind, 0), len(names))
            first = ", ".join(names[:SKIPPED_SHOWN]) + (", …" if number > SKIPPED_SHOWN else "")
            sections.append((f"{game}: {plural(number, noun)} {what.format(first)}", []))
    return sections

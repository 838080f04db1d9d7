"""Parts of a listing: ranges of the canonical order of a job's solutions.

How many solutions a range has is known before it is listed, because they were counted, and so are
their ranks. Each range is listed into solution files by itself, and nothing is left to merge.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nightgrid.solvers.algebra import COST_COLUMNS, Outcome, Statistics, Status
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import PermanentError


class Piece(NamedTuple):
    """Some solutions of one part of a job, as the game names parts; None is the whole job."""

    part: Any
    skip: int
    """Solutions of the part that stand before."""
    take: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPart:
    """The solutions of the ranks `first` to `stop` - 1."""

    first: int
    stop: int
    pieces: tuple[Piece, ...]
    """What holds them, in canonical order."""
    value: int | None = None
    """What the best solution of the job is worth, in games that compare solutions."""
    is_open: bool = False
    """Whether the job may end before: it was not counted, and has a limit."""
    truncated: bool = False
    """Whether the job has more solutions than are listed."""

    def to_json(self) -> dict[str, Any]:
        """Write the part as it travels."""
        told: dict[str, Any] = {
            "ranks": [self.first, self.stop],
            "pieces": [list(piece) for piece in self.pieces],
        }
        if self.value is not None:
            told["value"] = self.value
        if self.is_open:
            told["open"] = True
        if self.truncated:
            told["truncated"] = True
        return told


def listed_part(text: str) -> ListedPart | None:
    """Read a manifest row's part, or None if it is no part of a listing."""
    value = json.loads(text) if text else None
    if not isinstance(value, dict) or "ranks" not in value:
        return None
    first, stop = value["ranks"]
    return ListedPart(
        first=first,
        stop=stop,
        pieces=tuple(Piece(*piece) for piece in value["pieces"]),
        value=value.get("value"),
        is_open=value.get("open", False),
        truncated=value.get("truncated", False),
    )


def packed(pieces: Iterable[Piece], rows: int) -> list[list[Piece]]:
    """Put pieces that follow on one another together, to at most `rows` solutions at a time.

    A larger piece stays alone; one without solutions is left out.
    """
    found: list[list[Piece]] = []
    size = rows
    for piece in pieces:
        if not piece.take:
            continue
        if size + piece.take > rows:
            found.append([])
            size = 0
        found[-1].append(piece)
        size += piece.take
    return found


def sliced(piece: Piece, rows: int) -> list[Piece]:
    """Cut a piece into some of at most `rows` solutions: those before are searched for as well."""
    return [
        Piece(piece.part, piece.skip + at, min(rows, piece.take - at))
        for at in range(0, piece.take, rows)
    ]


def windows(piece: Piece, parts: Sequence[Any], counts: Sequence[int]) -> list[Piece]:
    """Return which solutions of a piece lie in each of the parts that its own is divided into."""
    found = []
    before = 0
    for part, count in zip(parts, counts, strict=True):
        first = max(piece.skip - before, 0)
        stop = min(piece.skip + piece.take - before, count)
        if first < stop:
            found.append(Piece(part, first, stop - first))
        before += count
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class InFiles:
    """What a result row says in `children` of solutions that were listed into files."""

    first: int
    stop: int

    def to_json(self) -> str:
        """Write it as it stands in the column."""
        return canonical_json({"ranks": [self.first, self.stop]})

    @classmethod
    def from_json(cls, text: str | None) -> InFiles | None:
        """Read it again; None for a row whose solutions are not in files."""
        value = json.loads(text) if text else None
        if not isinstance(value, dict) or "ranks" not in value:
            return None
        first, stop = value["ranks"]
        return cls(first=first, stop=stop)


def merged_ranks(run_id: str, rows: Sequence[Mapping[str, Any]]) -> Outcome[Any] | None:
    """Merge PARTS rows of one job whose solutions are in files, all of which are solved.

    None where a row is of another kind: it is merged as the game does. Raises PermanentError where
    ranks are missing or doubled.
    """
    ranks = [InFiles.from_json(row["children"]) for row in rows]
    if not all(ranks) or any(row["status"] != Status.SOLVED for row in rows):
        return None
    at = 0
    for part in sorted((r.first, r.stop) for r in ranks if r is not None and r.first < r.stop):
        if part[0] != at:
            raise PermanentError(
                f"run {run_id}: job {rows[0]['job_id']} has solutions of rank {part[0]} next; "
                f"expected {at}"
            )
        at = part[1]
    return Outcome(
        status=Status.SOLVED,
        count=at,
        truncated=any(row["truncated"] for row in rows),
        value=min((row["value"] for row in rows if row["value"] is not None), default=None),
        statistics=statistics_of(rows),
    )


def statistics_of(rows: Iterable[Mapping[str, Any]]) -> Statistics:
    """Add up what PARTS rows have cost."""
    costs = (Statistics(**{name: row[name] for name in COST_COLUMNS}) for row in rows)
    return sum(costs, Statistics())

"""The places of official solutions among ranked covers: the gold table, and shares by month.

The official answer is only used to measure: no job of `meant` ever sees it.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games import ranking_plug
from nightgrid.archive.ingest.editions import current_editions, editions_path
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.schemas import RANK_ACCURACY
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import find_results, solutions_of
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import MEANT
from nightgrid.solvers.question import clued_subject, question_of

PATH = "gold/rank_accuracy.parquet"
_KEY = RANK_ACCURACY.names[: RANK_ACCURACY.names.index("job_id") + 1]
BOUNDS = (0.0, 0.3, 0.5, 0.7, 0.85, 0.95, 1.0)
"""Bin edges of the stated confidence; .85 to .95 is stated as about 90 %."""
MEASURED_AT_ONCE = 32
"""Jobs whose covers are held in memory together: a hundred covers are some 200 kB of JSON."""


def write_accuracy(lake: Lake) -> str:
    """Update the gold table for the installed ranker, for all ranked boards; return its path.

    Keeps rows for the same edition and job, and those of other rankers.
    """
    ranks = ranking_plug()
    question = question_of(bind_game(ranks.GAME, ask=MEANT), MEANT)
    ranker = question.solver_version
    try:
        before = lake.read_table(PATH, RANK_ACCURACY)
    except DamagedFileError:
        before = RANK_ACCURACY.empty_table()
    known = {_key(row): row for row in before.to_pylist() if row["ranker"] == ranker}
    found, left = [], []
    for edition in _editions(lake, ranks.GAME):
        subject = clued_subject(edition["puzzle_id"], edition["clue"])
        key = {**edition, "job_id": question.job_id(subject)}
        row = known.get(_key(key))
        if row is None:
            left.append(key)
        else:
            found.append(row)
    found += _measured(lake, left)
    others = before.filter(pc.not_equal(before.column("ranker"), ranker))
    table = pa.concat_tables([others, pa.Table.from_pylist(found, RANK_ACCURACY)])
    table = table.sort_by([("ranker", "ascending"), ("date", "ascending")])
    if not (lake.exists(PATH) and table.equals(before)):
        lake.write_table(PATH, table)
    return PATH


def _editions(lake: Lake, game: str) -> list[dict[str, Any]]:
    """Read the current editions that have an official solution, drafts left out."""
    if not lake.exists(editions_path(game)):
        return []
    table = current_editions(lake, game, [*_KEY[:-1], "clue", "official_solution"])
    rows: list[dict[str, Any]] = table.to_pylist()
    return [row for row in rows if row["official_solution"] is not None]


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _KEY)


def _measured(lake: Lake, editions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Find official solutions among the covers of finished jobs."""
    rows = {r["job_id"]: r for r in find_results(lake, {e["job_id"] for e in editions}).to_pylist()}
    done = [edition for edition in editions if edition["job_id"] in rows]
    found = []
    for start in range(0, len(done), MEASURED_AT_ONCE):
        batch = done[start : start + MEASURED_AT_ONCE]
        runs = {edition["job_id"]: rows[edition["job_id"]]["run_id"] for edition in batch}
        texts = solutions_of(lake, runs)
        for edition in batch:
            covers = [json.loads(text) for text in texts.get(edition["job_id"], ())]
            found.append(_row(edition, rows[edition["job_id"]], covers))
    return found


def _row(
    edition: Mapping[str, Any], result: Mapping[str, Any], covers: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    place, miss = ranking_plug().measure(json.loads(edition["official_solution"]), covers)
    return {
        **{name: edition[name] for name in _KEY},
        "ranker": result["solver_version"],
        "status": result["status"],
        "official_place": place,
        "cover_count": len(covers),
        "confidence": covers[0]["confidence"] if covers else None,
        "official_confidence": covers[place - 1]["confidence"] if place else None,
        "seconds": result["kernel_ns"] / 1e9,
        "miss": miss,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Boards with a stated confidence from `low` to below `high`; 1 is in the last bin."""

    low: float
    high: float
    boards: int
    said: float
    """Mean stated confidence."""
    right: float
    """Share of the boards whose first cover is right."""


def bins(said: Sequence[float], right: Sequence[bool]) -> list[Bin]:
    """Sort boards into bins by stated confidence; empty bins are left out."""
    shares, hits = np.array(said, np.float64), np.array(right, np.bool_)
    at = np.clip(np.searchsorted(BOUNDS, shares, side="right") - 1, 0, len(BOUNDS) - 2)
    return [
        Bin(
            low=low, high=high, boards=int((at == i).sum()),
            said=float(shares[at == i].mean()), right=float(hits[at == i].mean()),
        )
        for i, (low, high) in enumerate(pairwise(BOUNDS)) if (at == i).any()
    ]  # fmt: skip


def calibration(rows: Iterable[Mapping[str, Any]]) -> list[Bin]:
    """Compare the confidence of first covers with how often they are right, in bins with boards.

    `rows` are of the gold table; one without covers has no confidence and counts in no bin.
    """
    sure = [row for row in rows if row["confidence"] is not None]
    return bins([row["confidence"] for row in sure], [row["official_place"] == 1 for row in sure])


def miss_counts(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Count the misses of rows of the gold table by code, in the order of the classes."""
    told = Counter(row["miss"] for row in rows)
    return {miss: told[miss] for miss in ranking_plug().MISSES if told[miss]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """How often the official cover ranked first in a month."""

    month: str
    """YYYY-MM."""
    boards: int
    first: int
    in_five: int
    listed: int
    misses: Mapping[str, int]
    """By class code."""


def accuracy_by_month(lake: Lake, ranker: str) -> list[Month]:
    """Sum the gold table of a ranker up by month, the earliest first."""
    table = lake.read_table(PATH, RANK_ACCURACY)
    months: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in table.filter(pc.equal(table.column("ranker"), ranker)).to_pylist():
        months[f"{row['date']:%Y-%m}"].append(row)
    return [_month(name, rows) for name, rows in sorted(months.items())]


def _month(name: str, rows: Sequence[Mapping[str, Any]]) -> Month:
    places = [row["official_place"] for row in rows]
    return Month(
        month=name,
        boards=len(rows),
        first=sum(place == 1 for place in places),
        in_five=sum(place is not None and place <= 5 for place in places),
        listed=sum(place is not None for place in places),
        misses=miss_counts(rows),
    )


def whole(months: Sequence[Month]) -> Month:
    """Sum months up."""
    classes = ranking_plug().MISSES
    counts = {miss: sum(one.misses.get(miss, 0) for one in months) for miss in classes}
    return Month(
        month="all",
        boards=sum(one.boards for one in months),
        first=sum(one.first for one in months),
        in_five=sum(one.in_five for one in months),
        listed=sum(one.listed for one in months),
        misses={miss: count for miss, count in counts.items() if count},
    )

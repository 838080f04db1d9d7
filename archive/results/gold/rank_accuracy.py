"""Where official solutions stand among ranked covers: the gold table, and shares by month.

The official answer only measures here: a ranking is read as it was filed, without it.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games import ranking_plug
from nightgrid.archive.ingest.editions import current_editions, editions_path
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RANK_ACCURACY
from nightgrid.archive.results.gold.calibration import Bin, bins
from nightgrid.archive.results.rankings import RankingRequest, find_ranking
from nightgrid.solvers.errors import InvalidPuzzleError

PATH = "gold/rank_accuracy.parquet"
COLUMNS = RANK_ACCURACY
"""Columns of this table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """A current edition with its board."""

    key: Mapping[str, Any]
    """Its columns of the gold table: game, date, level, revision, puzzle_id."""
    request: RankingRequest
    official: str | None
    """The official solution as JSON. Nothing that ranks ever sees it."""


def editions(lake: Lake) -> Iterator[Edition]:
    """Read the current editions of a lake in the order of their dates, drafts left out."""
    ranks = ranking_plug()
    if not lake.exists(editions_path(ranks.GAME)):
        return
    table = current_editions(lake, ranks.GAME)
    boards = read_puzzle_table(lake, ranks.GAME)
    arrays = arrays_of(boards)
    row_of = {name: i for i, name in enumerate(boards.column("puzzle_id").to_pylist())}
    for row in table.sort_by("date").to_pylist():
        try:
            puzzle = ranks.board_at(arrays, row_of[row["puzzle_id"]])
        except InvalidPuzzleError:
            # It breaks a rule that is newer than its row.
            continue
        yield Edition(
            key={name: row[name] for name in RANK_ACCURACY.names[:5]},
            request=RankingRequest(puzzle=puzzle, clue=row["clue"]),
            official=row["official_solution"],
        )


def read_accuracy(lake: Lake, columns: Sequence[str] | None = None) -> pa.Table:
    """Read the gold table, of all columns or those wanted; misses are codes, whatever wrote them.

    A class that is not used any more stays as it is.
    """
    return _with_codes(lake.read_table(PATH, RANK_ACCURACY, columns))


def _with_codes(table: pa.Table) -> pa.Table:
    """Put codes where an earlier version wrote phrases."""
    if "miss" not in table.column_names:
        return table
    code_of = ranking_plug().EARLIER_MISSES
    phrases, misses = pa.array(list(code_of), pa.string()), table.column("miss")
    at = pc.index_in(misses, value_set=phrases)
    if at.null_count == len(table):
        return table
    codes = pa.array([str(code) for code in code_of.values()]).take(at.combine_chunks())
    place = table.column_names.index("miss")
    return table.set_column(place, table.schema.field(place), pc.coalesce(codes, misses))


def write_accuracy(lake: Lake, ranker: str, known: Collection[str]) -> str:
    """Write the gold table anew for one ranker, as far as boards are ranked; return its path.

    Rows that the table has for the same edition and ranking are kept, unless their miss has a class
    that is not used any more: it is told anew. Rows of other rankers stay.
    """
    try:
        written = lake.read_table(PATH, RANK_ACCURACY)
    except DamagedFileError:
        written = RANK_ACCURACY.empty_table()
    before = _with_codes(written)
    classes = {None, *ranking_plug().MISSES}
    rows = {
        _key(row): row
        for row in before.to_pylist()
        if row["ranker"] == ranker and row["miss"] in classes
    }
    found = []
    for edition in editions(lake):
        ranking_id = edition.request.ranking_id(ranker)
        if edition.official is None or ranking_id not in known:
            continue
        key = {**edition.key, "ranking_id": ranking_id}
        row = rows.get(_key(key)) or _measured(lake, edition, key)
        if row is not None:
            found.append(row)
    others = before.filter(pc.not_equal(before.column("ranker"), ranker))
    table = pa.concat_tables([others, pa.Table.from_pylist(found, RANK_ACCURACY)])
    table = table.sort_by([("ranker", "ascending"), ("date", "ascending")])
    if not (lake.exists(PATH) and table.equals(written)):
        lake.write_table(PATH, table)
    return PATH


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in RANK_ACCURACY.names[:6])


def _measured(lake: Lake, edition: Edition, key: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        ranking = find_ranking(lake, key["ranking_id"])
    except DamagedFileError:
        # It has no row until nightgrid lake repair has moved it away and it is made again.
        return None
    if ranking is None or edition.official is None:
        return None
    covers = ranking["covers"]
    place, miss = ranking_plug().measure(json.loads(edition.official), covers)
    return {
        **key,
        "ranker": ranking["ranker"],
        "status": ranking["status"],
        "official_place": place,
        "cover_count": ranking["cover_count"],
        "confidence": covers[0]["confidence"] if covers else None,
        "official_confidence": covers[place - 1]["confidence"] if place else None,
        "seconds": ranking["seconds"],
        "processor_s": ranking["processor_s"],
        "miss": miss,
    }


def calibration(rows: Iterable[Mapping[str, Any]]) -> list[Bin]:
    """Compare the confidence of first covers with how often they are right, in bins with boards.

    `rows` are of the gold table; one without covers has no confidence and counts in no bin.
    """
    sure = [row for row in rows if row["confidence"] is not None]
    return bins([row["confidence"] for row in sure], [row["official_place"] == 1 for row in sure])


def miss_counts(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Count the misses of rows of the gold table by code, in the order of the classes.

    Classes that are not used any more come last.
    """
    told = Counter(row["miss"] for row in rows if row["miss"] is not None)
    known = ranking_plug().MISSES
    order = [*known, *sorted(told.keys() - set(known))]
    return {miss: told[miss] for miss in order if told[miss]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """How often the official cover came first in a month."""

    month: str
    """YYYY-MM."""
    boards: int
    first: int
    in_five: int
    listed: int
    misses: Mapping[str, int]
    """By the code of the class."""


def miss_phrase(miss: str) -> str:
    """Say a class of misses to people; one that is not used any more as it stands in the table."""
    return ranking_plug().MISSES.get(miss, miss)


def accuracy_by_month(lake: Lake, ranker: str) -> list[Month]:
    """Sum the gold table of a ranker up by month, the earliest first."""
    table = read_accuracy(lake)
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
    had = {miss for one in months for miss in one.misses}
    known = ranking_plug().MISSES
    classes = [*filter(had.__contains__, known), *sorted(had - set(known))]
    return Month(
        month="all",
        boards=sum(one.boards for one in months),
        first=sum(one.first for one in months),
        in_five=sum(one.in_five for one in months),
        listed=sum(one.listed for one in months),
        misses={miss: sum(one.misses.get(miss, 0) for one in months) for miss in classes},
    )

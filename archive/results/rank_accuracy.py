"""Where official solutions stand among ranked covers: the gold table, and shares by month.

The official answer only measures here: a ranking is read as it was filed, without it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.ingest.editions import current_editions, editions_path
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import STRANDS_RANKINGS
from nightgrid.archive.results.rankings import GAME, Wanted, find_ranking
from nightgrid.solvers.errors import InvalidPuzzleError
from nightgrid.solvers.strands.columns import from_arrays
from nightgrid.solvers.strands.solution import Cover, cover_from_json

PATH = "gold/strands_rankings.parquet"
COLUMNS = STRANDS_RANKINGS
"""Columns of this table."""
NOT_LISTED = "not in the list"
ANAGRAM = "other words on the same cells"
SPANGRAM_ALONE = "another spangram, the same theme words"
SWAP = "letters or words between spangram and theme words"
ONE_WORD = "one word"
SEVERAL_WORDS = "several words"
MISSES = (NOT_LISTED, ANAGRAM, SPANGRAM_ALONE, SWAP, ONE_WORD, SEVERAL_WORDS)
"""Classes of boards whose first cover is not the official one, in the order in which they are
looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """A current edition with its board."""

    key: Mapping[str, Any]
    """Its columns of the gold table: game, date, level, revision, puzzle_id."""
    wanted: Wanted
    official: str | None
    """The official solution as JSON. Nothing that ranks ever sees it."""


def editions(lake: Lake) -> Iterator[Edition]:
    """Read the current editions of a lake in the order of their dates, drafts left out."""
    if not lake.exists(editions_path(GAME)):
        return
    table = current_editions(lake, GAME)
    boards = read_puzzle_table(lake, GAME)
    arrays = arrays_of(boards)
    row_of = {name: i for i, name in enumerate(boards.column("puzzle_id").to_pylist())}
    for row in table.sort_by("date").to_pylist():
        try:
            puzzle = from_arrays(arrays, row_of[row["puzzle_id"]])
        except InvalidPuzzleError:
            # It breaks a rule that is newer than its row.
            continue
        yield Edition(
            key={name: row[name] for name in STRANDS_RANKINGS.names[:5]},
            wanted=Wanted(puzzle=puzzle, clue=row["clue"]),
            official=row["official_solution"],
        )


def write_accuracy(lake: Lake, ranker: str, known: Collection[str]) -> str:
    """Write the gold table anew for one ranker, as far as boards are ranked; return its path.

    Rows that the table has for the same edition and ranking are kept; rows of other rankers stay.
    """
    try:
        before = lake.read_table(PATH, STRANDS_RANKINGS)
    except DamagedFileError:
        before = STRANDS_RANKINGS.empty_table()
    rows = {_key(row): row for row in before.to_pylist() if row["ranker"] == ranker}
    found = []
    for edition in editions(lake):
        ranking_id = edition.wanted.ranking_id(ranker)
        if edition.official is None or ranking_id not in known:
            continue
        key = {**edition.key, "ranking_id": ranking_id}
        row = rows.get(_key(key)) or _measured(lake, edition, key)
        if row is not None:
            found.append(row)
    others = before.filter(pc.not_equal(before.column("ranker"), ranker))
    table = pa.concat_tables([others, pa.Table.from_pylist(found, STRANDS_RANKINGS)])
    table = table.sort_by([("ranker", "ascending"), ("date", "ascending")])
    if not (lake.exists(PATH) and table.equals(before)):
        lake.write_table(PATH, table)
    return PATH


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in STRANDS_RANKINGS.names[:6])


def _measured(lake: Lake, edition: Edition, key: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        ranking = find_ranking(lake, key["ranking_id"])
    except DamagedFileError:
        # It has no row until nightgrid lake repair has moved it away and it is made again.
        return None
    if ranking is None or edition.official is None:
        return None
    official = cover_from_json(json.loads(edition.official))
    place = place_of(official, ranking["covers"])
    covers = ranking["covers"]
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
        "miss": miss_of(official, covers, place),
    }


def place_of(official: Cover, covers: Sequence[Mapping[str, Any]]) -> int | None:
    """Find the place, from 1 on, of the first cover with the official set of words."""
    words = {entry.word for entry in official.entries}
    for place, cover in enumerate(covers, 1):
        if words_of(cover) == words:
            return place
    return None


def words_of(cover: Mapping[str, Any]) -> set[str]:
    """List the words of a ranked cover."""
    return {cover["spangram"], *cover["theme_words"]}


def miss_of(official: Cover, covers: Sequence[Mapping[str, Any]], place: int | None) -> str | None:
    """Say in which class a first cover differs from the official one; None where it does not."""
    if place == 1:
        return None
    if place is None:
        return NOT_LISTED
    assert official.spangram is not None
    first = covers[0]
    missing = {entry.word for entry in official.entries} - words_of(first)
    if _cells(first) == _cells(covers[place - 1]):
        return ANAGRAM
    if first["spangram"] != official.spangram.word:
        return SPANGRAM_ALONE if missing == {official.spangram.word} else SWAP
    return ONE_WORD if len(missing) == 1 else SEVERAL_WORDS


def _cells(cover: Mapping[str, Any]) -> set[frozenset[Any]]:
    return {entry.cells for entry in cover_from_json(cover["cover"]).entries}


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


def accuracy_by_month(lake: Lake, ranker: str) -> list[Month]:
    """Sum the gold table of a ranker up by month, the earliest first."""
    table = lake.read_table(PATH, STRANDS_RANKINGS)
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
        misses=_counted(row["miss"] for row in rows),
    )


def _counted(misses: Iterable[str | None]) -> dict[str, int]:
    told = list(misses)
    return {miss: told.count(miss) for miss in MISSES if miss in told}


def whole(months: Sequence[Month]) -> Month:
    """Sum months up."""
    return Month(
        month="all",
        boards=sum(one.boards for one in months),
        first=sum(one.first for one in months),
        in_five=sum(one.in_five for one in months),
        listed=sum(one.listed for one in months),
        misses={
            miss: count
            for miss in MISSES
            if (count := sum(one.misses.get(miss, 0) for one in months))
        },
    )

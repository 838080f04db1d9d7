"""Normalise raw payloads into editions with revisions, puzzles and quarantine.

The rows of a date are a function of its payloads, and are always rebuilt as a whole. So it does not
matter where an earlier run was killed, and the tables can be rebuilt from the raw payloads alone.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games import reader
from nightgrid.archive.games.plug import PayloadReader
from nightgrid.archive.ingest.editions import editions_path, observations, quarantine_path
from nightgrid.archive.ingest.puzzles import (
    PUZZLE_ID,
    add_puzzles,
    puzzles_folder,
    puzzles_table,
    read_puzzle_table,
    readable_puzzle_ids,
)
from nightgrid.archive.ingest.raw import (
    RAW_DAMAGED,
    Found,
    RawArchive,
    day_of,
    days_of,
    index_path,
    read_date,
    unindexed_dates,
)
from nightgrid.archive.lake.schemas import EDITIONS, QUARANTINE
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.payloads.published import EDITION_FACTS, Fault, Published
from nightgrid.archive.state import InputFingerprint
from nightgrid.archive.words.dictionaries import (
    DICTIONARY_FILES,
    KEY,
    add_dictionaries,
    dictionary_ids,
    words_of,
)
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.registry import DEFAULT_GAME, game_plug
from nightgrid.solvers.registry import game as game_named

FAULTS_KEPT = 1_000
"""Most rows of quarantine in a report."""
BATCH_DATES = 2_000
"""Dates whose payloads are held in memory and committed together."""


@dataclass(slots=True, kw_only=True)
class NormaliseReport:
    """The outcome of one normalisation."""

    payloads: int = 0
    """Sightings that were not normalised before."""
    editions_added: int = 0
    """New (date, level) pairs."""
    revisions_added: int = 0
    """Boards that replaced another one on their date and level."""
    quarantined: dict[str, int] = field(default_factory=dict)
    """New quarantine rows by rule."""
    faults: list[dict[str, Any]] = field(default_factory=list)
    """These rows, at most FAULTS_KEPT of them."""
    edition_count: int = 0
    """Current (date, level) pairs in the lake afterwards."""
    quarantine_count: int = 0
    """Quarantine rows in the lake afterwards."""
    observation_count: int = 0
    """Contradictions between current editions afterwards."""
    dates_lost: int = 0
    """Dates that were rebuilt because tables had lost their rows."""


def normalise(
    lake: Lake,
    *,
    game: str = DEFAULT_GAME,
    rebuild: bool = False,
    again: Collection[dt.date] = (),
    check: Callable[[], None] = lambda: None,
) -> NormaliseReport:
    """Bring editions, puzzles and quarantine up to date with the raw payloads.

    Only dates with a new sighting, dates lost from the tables, and the dates of `again` are
    processed; all dates if `rebuild` is set. Batches of dates are committed one after the other, so
    that the next call resumes an interrupted one. `check` is called before each commit, and raises
    if another process has taken over. Without new payloads, tables that have not changed since
    nothing was left to do are not read.
    """
    before = None if rebuild or again else _fingerprint(lake, game)
    counts = None if before is None else before.saved_result()
    if counts is not None:
        return NormaliseReport(**counts)
    raw = RawArchive(lake, game, whole=rebuild)
    tables = _Tables(lake, game_named(game))
    reads = reader(game)
    report = NormaliseReport(payloads=len(raw.new))
    report.dates_lost = len(lost := lost_dates(lake, raw, tables.editions, tables.quarantine))
    changed = {sighting.date for sighting in raw.new}
    dates = raw.dates() if rebuild else sorted(changed | lost | {*again})
    for start in range(0, len(dates), BATCH_DATES):
        batch = dates[start : start + BATCH_DATES]
        check()
        _normalise_batch(raw, reads, tables, batch, report)
        fresh = [sighting for sighting in raw.new if batch[0] <= sighting.date <= batch[-1]]
        if fresh:
            check()
            # Last: a date is rebuilt until the index has its sighting.
            raw.commit_index(fresh)
    # A damaged body may be written again, which changes no table.
    damaged = pc.any(pc.equal(tables.quarantine.column("rule"), RAW_DAMAGED)).as_py()
    is_left = bool(dates) or not raw.is_settled or damaged
    if not (raw.is_settled or raw.is_empty):
        check()
        raw.commit_index([])
    report.observation_count = len(observations(lake, raw, tables.editions))
    # Every date and level has exactly one first revision.
    report.edition_count = pc.sum(pc.equal(tables.editions.column("revision"), 1)).as_py() or 0
    report.quarantine_count = len(tables.quarantine)
    now = None if is_left or before is None else _fingerprint(lake, game)
    if before is not None and now is not None and now.digest == before.digest:
        now.save({name: getattr(report, name) for name in _COUNTS})
    return report


def _fingerprint(lake: Lake, game: str) -> InputFingerprint | None:
    """Hash the tables of a game, before any is read; None while payloads are to be normalised."""
    if unindexed_dates(lake, game) != set():
        return None
    paths = (index_path, editions_path, quarantine_path)
    files = [path(game) for path in paths]
    folders = [puzzles_folder(game)]
    if game_plug(game).own_words:
        folders.append(DICTIONARY_FILES.path)
    return InputFingerprint(lake, game, "normalised", {}, folders=folders, files=files)


_COUNTS = ("edition_count", "quarantine_count", "observation_count")
"""Figures that describe the tables, not the work of this call."""


def lost_dates(
    lake: Lake, raw: RawArchive, editions: pa.Table, quarantine: pa.Table
) -> set[dt.date]:
    """Return the dates whose rows do not match the raw payloads.

    Either their boards are in no puzzles segment, because a damaged one was set aside; or the words
    of these boards are missing; or they have neither an edition nor a quarantine row, because two
    processes wrote a table at once or a file was damaged; or a payload that was missing is back.
    """
    ids = readable_puzzle_ids(lake, raw.game)
    known = pc.is_in(editions.column(PUZZLE_ID), value_set=ids)
    if game_plug(raw.game).own_words:
        wordless = _boards_without_words(lake, raw.game)
        known = pc.and_not(known, pc.is_in(editions.column(PUZZLE_ID), value_set=wordless))
    lost = editions.filter(pc.invert(known)).column("date")
    told = pa.concat_arrays(
        [pc.unique(table.column("date")).cast(pa.date32()) for table in (editions, quarantine)]
    )
    seen = pc.unique(raw.index.column("date"))
    untold = seen.filter(pc.invert(pc.is_in(seen, value_set=told)))
    missed = quarantine.filter(pc.equal(quarantine.column("rule"), RAW_DAMAGED)).to_pylist()
    bodies = {(row["date"], row["raw_sha256"]) for row in missed}
    back = {
        date
        for date, sha256 in bodies
        if any(seen.sha256 == sha256 and raw.has_body(seen) for seen in raw.of(date))
    }
    return {*lost.to_pylist(), *untold.to_pylist(), *back}


def _boards_without_words(lake: Lake, game: str) -> pa.ChunkedArray:
    """Return the boards whose dictionary is missing from the lake."""
    boards = read_puzzle_table(lake, game, [PUZZLE_ID, KEY])
    # After the boards: a dictionary is written before its board.
    has_words = pc.is_in(boards.column(KEY), value_set=dictionary_ids(lake))
    return boards.filter(pc.invert(has_words)).column(PUZZLE_ID)


class _Tables:
    def __init__(self, lake: Lake, game: Game[Any, Any]) -> None:
        self.lake = lake
        self.game = game
        self.editions = lake.read_table(editions_path(game.name), EDITIONS)
        self.quarantine = lake.read_table(quarantine_path(game.name), QUARANTINE)


_Edition = tuple[Any, dict[str, Any]]
"""A board and its row of the editions table."""


def _normalise_batch(
    raw: RawArchive,
    reads: PayloadReader,
    tables: _Tables,
    dates: Sequence[dt.date],
    report: NormaliseReport,
) -> None:
    editions: list[_Edition] = []
    faults: list[dict[str, Any]] = []
    for date in dates:
        found = read_date(raw, reads, date)
        published = (item for item in found if isinstance(item[1], Published))
        editions += _revisions(published, tables.game)
        faults += _quarantine_rows(item for item in found if isinstance(item[1], Fault))
    boards = {row["puzzle_id"]: puzzle for puzzle, row in editions}
    # Words before puzzles before editions: nothing ever refers to a missing row.
    add_dictionaries(tables.lake, words_of(boards.values()))
    rows = puzzles_table(tables.game, list(boards.values()))
    add_puzzles(tables.lake, tables.game.name, rows)
    path = quarantine_path(tables.game.name)
    tables.quarantine, added = _commit(
        tables.lake, path, tables.quarantine, dates, faults, _QUARANTINE_KEY
    )
    for key in added:
        rule = str(key[_QUARANTINE_KEY.index("rule")])
        report.quarantined[rule] = report.quarantined.get(rule, 0) + 1
    if added and len(report.faults) < FAULTS_KEPT:
        keys = set(added)
        fresh = [row for row in faults if tuple(row[name] for name in _QUARANTINE_KEY) in keys]
        report.faults += fresh[: FAULTS_KEPT - len(report.faults)]
    told = [row for _, row in editions]
    path = editions_path(tables.game.name)
    tables.editions, added = _commit(tables.lake, path, tables.editions, dates, told, _EDITIONS_KEY)
    first = sum(1 for key in added if key[_EDITIONS_KEY.index("revision")] == 1)
    report.editions_added += first
    report.revisions_added += len(added) - first


_EDITIONS_KEY = ("date", "level", "revision")
_QUARANTINE_KEY = ("date", "raw_sha256", "level", "place", "rule", "message")


def _revisions(found: Iterator[Found], game: Game[Any, Any]) -> list[_Edition]:
    """Turn the puzzles seen for one date into revisions.

    A revision starts whenever a level shows another board than before, even an older one. Facts
    about a board (ids, names, the official solution) may be published or corrected later: within a
    revision the last non-null value counts, while `seen_at` and `raw_sha256` are those of the first
    sighting. It is a draft until it is seen on its date.
    """
    by_level: dict[str, list[_Edition]] = {}
    for sighting, published in found:
        assert isinstance(published, Published)
        assert published.level is not None
        revisions = by_level.setdefault(published.level, [])
        told = _edition_columns(published, game)
        draft = sighting.is_draft
        if revisions and revisions[-1][0] == published.puzzle:
            row = revisions[-1][1]
            row |= {name: value for name, value in told.items() if value is not None}
            row["draft"] = draft and row["draft"]
            continue
        row = {
            "game": sighting.game,
            "date": sighting.date,
            "level": published.level,
            "revision": len(revisions) + 1,
            "puzzle_id": published.puzzle.puzzle_id,
            "seen_at": sighting.fetched_at,
            "raw_sha256": sighting.sha256,
            "draft": draft,
        }
        revisions.append((published.puzzle, row | told))
    return [edition for revisions in by_level.values() for edition in revisions]


def _edition_columns(published: Published, game: Game[Any, Any]) -> dict[str, str | int | None]:
    solution = published.solution
    official = None if solution is None else canonical_json(game.solution_to_json(solution))
    told = {name: getattr(published, name) for name in EDITION_FACTS}
    return {**told, "official_solution": official}


def _quarantine_rows(found: Iterator[Found]) -> list[dict[str, Any]]:
    """Return one row per fault, under the first sighting of its body."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for sighting, fault in found:
        assert isinstance(fault, Fault)
        row = {
            "game": sighting.game,
            "date": sighting.date,
            "raw_sha256": sighting.sha256,
            "url": sighting.url,
            "seen_at": sighting.fetched_at,
            "level": fault.level,
            "rule": fault.rule,
            "place": fault.place,
            "message": fault.message,
        }
        rows.setdefault(tuple(row[name] for name in _QUARANTINE_KEY), row)
    return list(rows.values())


def _commit(
    lake: Lake,
    path: str,
    table: pa.Table,
    dates: Sequence[dt.date],
    rows: list[dict[str, Any]],
    key: tuple[str, ...],
) -> tuple[pa.Table, list[tuple[Any, ...]]]:
    """Replace all rows of some dates; write the table only if that changes it.

    Returns the new table, and the keys of the new rows.
    """
    # Rows of earlier dates do not move: a night changes only the last of many.
    earlier = int(np.searchsorted(days_of(table), day_of(min(dates))))
    head, later = table.slice(0, earlier), table.slice(earlier)
    redone = pc.is_in(later.column("date"), value_set=pa.array(dates, pa.date32()))
    before = _keys(later.filter(redone), key)
    made = pa.Table.from_pylist(rows, schema=table.schema)
    merged = pa.concat_tables([later.filter(pc.invert(redone)), made])
    merged = merged.sort_by([(name, "ascending") for name in key])
    merged = pa.concat_tables([head, merged]).combine_chunks()
    if not merged.equals(table):
        lake.write_table(path, merged)
    return merged, sorted(_keys(made, key) - before, key=str)


def _keys(table: pa.Table, key: tuple[str, ...]) -> set[tuple[Any, ...]]:
    return set(zip(*(table.column(name).to_pylist() for name in key), strict=True))

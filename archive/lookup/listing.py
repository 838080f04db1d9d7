"""Lists of a lake's contents: puzzles, results and quarantine, one table of rows at a time.

Rows are streamed in batches; besides a batch, only the editions of one game are in memory.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.corpus.corpora import corpora_in, corpus_folder
from nightgrid.archive.games import archived_games, missing_words_hint
from nightgrid.archive.ingest.editions import editions_path, last_revisions, quarantine_path
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.lake.schemas import (
    CORPUS_ROWS,
    EDITIONS,
    QUARANTINE,
    fields,
)
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.row_filter import RowFilter
from nightgrid.archive.results.files import RESULT_FILES, ranges_where
from nightgrid.archive.results.results import answers_to, once_a_job
from nightgrid.archive.results.statuses import is_among
from nightgrid.archive.words.binding import open_game
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.errors import NightgridError

BATCH_ROWS = 16_384
SORTED_ROWS = 65_536
"""Lists up to this many rows are sorted by game, date and level; longer ones are in lake order."""

PUZZLES = pa.schema(
    fields(
        "puzzle string, game string, date date32, level string, revision int32, draft bool, "
        "size int32?, puzzle_id string"
    )
)
RESULT_ROWS = pa.schema(
    fields(
        "puzzle string, game string, date date32?, level string?, ask string, status string, "
        "count count?, value int64?, seconds double, reason_code string?, reason string, "
        "hint string, rules string, lexicon_id string, solver_version string, puzzle_id string, "
        "job_id string, run_id string"
    )
)
QUARANTINE_ROWS = pa.schema(
    fields(
        "game string, date date32?, level string?, source string, source_row int64?, rule string, "
        "place string, message string, corpus string"
    )
)
_OPEN = (str(Status.OVER_BUDGET), str(Status.POISON))
"""Statuses that a later run may replace by an answer."""
_ORDER = ("game", "date", "level")
_STANDS = ("puzzle_id", "date", "level", "official_solution")


def list_puzzles(lake: Lake, row_filter: RowFilter) -> Iterator[pa.Table]:
    """List the puzzles currently published on dates, drafts included, by game, date and level.

    A puzzle with several dates has a row for each. Those of corpora have no dates.
    """
    columns = ("game", "date", "level", "revision", "draft", "puzzle_id")
    for game in _games(row_filter):
        known = read_puzzle_table(lake, game, ["puzzle_id", "size"])
        editions = last_revisions(lake.read_table(editions_path(game), EDITIONS, columns))
        for batch in _cut(row_filter.on_dates(editions)):
            at = pc.index_in(batch.column("puzzle_id"), value_set=known.column("puzzle_id"))
            made = {name: batch.column(name) for name in columns}
            made["size"] = known.column("size").take(at)
            made["draft"] = pc.fill_null(made["draft"], False)
            made["puzzle"] = _names(batch)
            yield _laid(made, PUZZLES)


def list_results(lake: Lake, row_filter: RowFilter) -> Iterator[pa.Table]:
    """List the results of jobs, with the current date and level of their puzzle.

    A puzzle with several dates has a row for each, one without dates a row without a date. Of a job
    with results of several runs, the one that counts among those matching the filter is listed; an
    unanswered result is left out if another run has an answer.
    """
    return _sorted(_results(lake, row_filter), RESULT_ROWS)


def _results(lake: Lake, row_filter: RowFilter) -> Iterator[pa.Table]:
    games = _games(row_filter)
    stands = {game: _editions(lake, game) for game in games}
    condition = pc.field("game").isin(games)
    among = {"ask": row_filter.asks, "job_id": row_filter.jobs, "puzzle_id": row_filter.puzzles}
    for name, values in among.items():
        if values is not None:
            condition &= pc.field(name).isin(sorted(values))
    if row_filter.question is not None:
        condition &= answers_to(row_filter.question)
    for ended in ranges_where(lake, RESULT_FILES, condition):
        rows = _that_count(ended, row_filter)
        for game in games:
            for batch in _cut(rows.filter(pc.equal(rows.column("game"), game))):
                yield from _joined(lake, batch, stands[game], row_filter)


def _that_count(ended: pa.Table, row_filter: RowFilter) -> pa.Table:
    """Select for each job the result that counts, given all its results."""
    rows = once_a_job(ended)
    if row_filter.runs is not None:
        counts = rows
        rows = once_a_job(ended.filter(is_among(ended.column("run_id"), row_filter.runs)))
        at = pc.index_in(rows.column("job_id"), value_set=counts.column("job_id"))
        is_same = pc.equal(rows.column("status"), counts.column("status").take(at))
        rows = rows.filter(pc.or_(is_same, pc.invert(is_among(rows.column("status"), _OPEN))))
    return rows.filter(is_among(rows.column("status"), row_filter.statuses))


def _joined(
    lake: Lake, rows: pa.Table, stands: pa.Table, row_filter: RowFilter
) -> Iterator[pa.Table]:
    ids = pc.unique(rows.column("puzzle_id"))
    here = stands.filter(pc.is_in(stands.column("puzzle_id"), value_set=ids))
    # The official solutions bypass the join, as texts of few rows.
    table = rows.join(here, "puzzle_id", join_type="left outer")
    table = row_filter.on_dates(table)
    table = table.sort_by([(name, "ascending") for name in (*_ORDER, "ask", "job_id")])
    if not len(table):
        return
    made = {name: table.column(name) for name in table.column_names if name in RESULT_ROWS.names}
    made["puzzle"] = _names(table)
    made["seconds"] = pc.divide(pc.cast(table.column("kernel_ns"), pa.float64()), 1e9)
    made["hint"] = pa.array(_hints(lake, table), pa.string())
    yield _laid(made, RESULT_ROWS)


def _hints(lake: Lake, table: pa.Table) -> list[str]:
    """Explain unsolvable rows by words that may be missing from their lexicons."""
    told = [""] * len(table)
    stuck = pc.and_(
        pc.equal(table.column("status"), str(Status.UNSOLVABLE)),
        pc.is_valid(table.column("official_solution")),
    )
    names = ("game", "rules", "lexicon_id", "official_solution")
    for row in pc.indices_nonzero(stuck).to_pylist():
        values = {name: table.column(name)[row].as_py() for name in names}
        told[row] = _hint_of(lake, **values)
    return told


def list_quarantine(lake: Lake, row_filter: RowFilter) -> Iterator[pa.Table]:
    """List broken rules, first of nights by game and date, then of each corpus."""
    for game in _games(row_filter):
        names = [name for name in QUARANTINE.names if name in QUARANTINE_ROWS.names]
        for rows in lake.scan(quarantine_path(game), QUARANTINE, [*names, "url"]):
            table = row_filter.on_dates(rows)
            made = {name: table.column(name) for name in names}
            made["source"] = pa.array([_path(url) for url in table.column("url").to_pylist()])
            yield from _cut(_laid(made | _alike(table, corpus=""), QUARANTINE_ROWS))
    if row_filter.dated:
        return
    for corpus in corpora_in(lake):
        if corpus.game not in row_filter.games or corpus.rows == corpus.puzzles:
            continue
        for table in lake.scan(corpus_folder(corpus.corpus_id), CORPUS_ROWS, CORPUS_ROWS.names):
            rows = table.filter(pc.is_valid(table.column("rule")))
            made = {name: rows.column(name) for name in rows.column_names}
            told = _alike(rows, corpus=corpus.name, game=corpus.game)
            yield from _cut(_laid(made | told, QUARANTINE_ROWS))


LISTS: dict[str, tuple[pa.Schema, Callable[[Lake, RowFilter], Iterator[pa.Table]]]] = {
    "puzzles": (PUZZLES, list_puzzles),
    "results": (RESULT_ROWS, list_results),
    "quarantine": (QUARANTINE_ROWS, list_quarantine),
}
"""The lists: the columns of their rows, and the function that reads them."""


def _games(row_filter: RowFilter) -> list[str]:
    return [game for game in row_filter.games if game in archived_games()]


def _editions(lake: Lake, game: str) -> pa.Table:
    """Read the current dates of the puzzles of a game."""
    table = lake.read_table(editions_path(game), EDITIONS, (*_STANDS, "revision"))
    return last_revisions(table).select(list(_STANDS))


def _sorted(tables: Iterator[pa.Table], schema: pa.Schema) -> Iterator[pa.Table]:
    """Sort a list of at most SORTED_ROWS; stream a longer one unsorted."""
    held: list[pa.Table] = []
    rows = 0
    for table in tables:
        held.append(table)
        rows += len(table)
        if rows > SORTED_ROWS:
            yield from held
            yield from tables
            return
    if rows:
        table = pa.concat_tables(held)
        yield table.sort_by([(name, "ascending") for name in (*_ORDER, "ask", "job_id")])
    else:
        yield schema.empty_table()


def _cut(table: pa.Table) -> Iterator[pa.Table]:
    for start in range(0, len(table), BATCH_ROWS):
        yield table.slice(start, BATCH_ROWS)


def _names(table: pa.Table) -> pa.Array:
    """Return the reference of each row: game, date and level, or the puzzle's id without a date."""
    columns = (table.column(name).to_pylist() for name in (*_ORDER, "puzzle_id"))
    return pa.array(
        [
            puzzle_id if date is None else f"{game}/{date}/{level}"
            for game, date, level, puzzle_id in zip(*columns, strict=True)
        ],
        pa.string(),
    )


def _alike(table: pa.Table, **values: str) -> dict[str, pa.Array]:
    return {name: pa.repeat(pa.scalar(text), len(table)) for name, text in values.items()}


def _path(url: str) -> str:
    """Format the origin of a payload: a file by its path."""
    return unquote(url.removeprefix("file://")) if url.startswith("file:///") else url


def _laid(columns: dict[str, pa.Array], schema: pa.Schema) -> pa.Table:
    rows = len(next(iter(columns.values())))
    return pa.table(
        [
            pa.chunked_array([pa.nulls(rows, field.type)])
            if field.name not in columns
            else columns[field.name].cast(field.type)
            for field in schema
        ],
        schema=schema,
    )


def _hint_of(lake: Lake, *, game: str, rules: str, lexicon_id: str, official_solution: str) -> str:
    """Explain why a board with a known solution may have none: words missing from its lexicon.

    "" if its words cannot be opened.
    """
    if not lexicon_id:
        return ""
    try:
        bound = open_game(lake, game, rules, lexicon_id)
        official = bound.solution_from_json(json.loads(official_solution))
        return missing_words_hint(bound, official)
    except NightgridError:
        # A hint is optional: if its data are missing, the list continues without it.
        return ""

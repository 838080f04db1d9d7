"""Read the rows of views: those that count today, each once, and only the columns wanted.

Every reader gives tables with at least the columns that it is asked for. It calls `held` with each
table that it keeps: that may raise, where the rows become too many or the time is up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.corpus.corpora import corpora_in, corpus_folder
from nightgrid.archive.games import archive_plug, has_plug
from nightgrid.archive.ingest.editions import current_editions, editions_path, observations
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import (
    BUDGET_COLUMNS,
    CORPUS_ROWS,
    COUNTS_BY_DATE,
    EDITIONS,
    RUNTIMES,
    SOLUTIONS,
    fields,
    ranks_schema,
)
from nightgrid.archive.lookup.listing import list_quarantine
from nightgrid.archive.lookup.row_filter import RowFilter
from nightgrid.archive.merging.files import read_each
from nightgrid.archive.merging.merge import without_repeats
from nightgrid.archive.results.contradictions import contradicting_answers
from nightgrid.archive.results.files import SOLUTION_FILES
from nightgrid.archive.results.gold.gold import COUNTS_PATH, RUNTIMES_PATH, ranks_path
from nightgrid.archive.results.gold.rank_accuracy import read_accuracy
from nightgrid.archive.results.results import once_a_job, scan_results
from nightgrid.solvers.registry import GAMES

Held: TypeAlias = Callable[[pa.Table], None]
"""Called with every table that is kept in memory."""
Rows: TypeAlias = Callable[[Lake, Sequence[str], Held], Iterator[pa.Table]]
"""Reads the rows of a view."""
_CHOOSE = ("job_id", "status", "run_id", *BUDGET_COLUMNS)
"""Columns by which one of several results of a job is chosen."""
_OF_SOLUTION = ("job_id", "run_id", "rank")
CORPORA_ROWS = pa.schema([*fields("corpus_id string, corpus string, game string"), *CORPUS_ROWS])
"""Rows of corpora, each beside the id of its corpus, what named the corpus, and its game."""


def games_kept() -> tuple[str, ...]:
    """Name the games that a lake can have."""
    return tuple(filter(has_plug, GAMES))


def games_ranked() -> tuple[str, ...]:
    """Name the games whose official solutions have ranks."""
    return tuple(game for game in games_kept() if archive_plug(game).ranked)


def puzzle_rows(*games: str) -> Rows:
    """Read the boards that nights have brought, of these games."""

    def read(lake: Lake, columns: Sequence[str], held: Held) -> Iterator[pa.Table]:
        for game in games:
            table = read_puzzle_table(lake, game, [*dict.fromkeys((*columns, "puzzle_id"))])
            held(table)
            yield table

    return read


def edition_rows(lake: Lake, columns: Sequence[str], held: Held) -> Iterator[pa.Table]:
    """Read the current edition of each date and level; drafts are left out."""
    yield from _current(lake, columns, held, drafts=False)


def draft_rows(lake: Lake, columns: Sequence[str], held: Held) -> Iterator[pa.Table]:
    """Read the current editions that are drafts."""
    yield from _current(lake, columns, held, drafts=True)


def revision_rows(lake: Lake, columns: Sequence[str], held: Held) -> Iterator[pa.Table]:
    """Read every edition, replaced ones and drafts included."""
    for game in games_kept():
        table = lake.read_table(editions_path(game), EDITIONS, columns)
        held(table)
        yield table


def _current(lake: Lake, columns: Sequence[str], held: Held, *, drafts: bool) -> Iterator[pa.Table]:
    for game in games_kept():
        table = current_editions(lake, game, columns, drafts=drafts)
        held(table)
        yield table


def result_rows(lake: Lake, columns: Sequence[str], held: Held) -> Iterator[pa.Table]:
    """Read the result of each job that counts; a job may have ended several times."""
    names = list(dict.fromkeys((*columns, *_CHOOSE)))
    found = []
    for table in scan_results(lake, names):
        held(table)
        found.append(table)
    if found:
        yield once_a_job(pa.concat_tables(found))


def solution_rows(lake: Lake, columns: Sequence[str], held: Held) -> Iterator[pa.Table]:
    """Read the solutions that belong to the result that counts of their job."""
    names = list(dict.fromkeys((*columns, *_OF_SOLUTION)))
    found = []
    for rows in read_each(
        lake, SOLUTION_FILES, lambda path: lake.scan_file(path, SOLUTIONS, names)
    ):
        held(rows)
        found.append(rows)
    if not found:
        return
    solutions = pa.concat_tables(found)
    keys = [pc.cast(solutions.column(name), pa.string()) for name in _OF_SOLUTION]
    if len(pc.unique(pc.binary_join_element_wise(*keys, "/"))) < len(solutions):
        solutions = without_repeats(SOLUTION_FILES, solutions)
    of_result = ("job_id", "run_id")
    none = pa.schema([(name, pa.string()) for name in of_result]).empty_table()
    results = pa.concat_tables(list(result_rows(lake, of_result, held)) or [none])
    at = pc.index_in(solutions.column("job_id"), value_set=results.column("job_id"))
    run_ids = results.column("run_id").take(at)
    yield solutions.filter(pc.fill_null(pc.equal(run_ids, solutions.column("run_id")), False))


def count_rows(lake: Lake, columns: Sequence[str], held: Held) -> Iterator[pa.Table]:
    """Read the counts by date, as the last night of each game has written them."""
    yield _counted_against_bounds(lake.read_table(COUNTS_PATH, COUNTS_BY_DATE, columns), held)


def runtime_rows(lake: Lake, columns: Sequence[str], held: Held) -> Iterator[pa.Table]:
    """Read what the kernels cost, as the last night of each game has written it."""
    yield _counted_against_bounds(lake.read_table(RUNTIMES_PATH, RUNTIMES, columns), held)


def rank_rows(lake: Lake, columns: Sequence[str], held: Held) -> Iterator[pa.Table]:
    """Read where official solutions stand, as the last night of each game has written it."""
    for game in games_ranked():
        table = lake.read_table(ranks_path(game), ranks_schema(game), columns)
        yield _counted_against_bounds(table.replace_schema_metadata(None), held)


def ranking_rows(lake: Lake, columns: Sequence[str], held: Held) -> Iterator[pa.Table]:
    """Read which places official solutions take among ranked covers."""
    yield _counted_against_bounds(read_accuracy(lake, columns), held)


def quarantine_rows(lake: Lake, columns: Sequence[str], held: Held) -> Iterator[pa.Table]:
    """Read what broke a rule, of nights and of corpora."""
    for table in list_quarantine(lake, RowFilter()):
        yield _counted_against_bounds(table.select(list(columns)), held)


def corpus_rows(lake: Lake, columns: Sequence[str], held: Held) -> Iterator[pa.Table]:
    """Read what became of each row of every corpus that is complete."""
    # Where columns of the corpus alone are wanted, one of its rows counts them.
    wanted = [name for name in columns if name in CORPUS_ROWS.names] or ["source_row"]
    for corpus in corpora_in(lake):
        same = {"corpus_id": corpus.corpus_id, "corpus": corpus.name, "game": corpus.game}
        for rows in lake.scan(corpus_folder(corpus.corpus_id), CORPUS_ROWS, wanted):
            made = {name: rows.column(name) for name in wanted}
            made |= {name: pa.repeat(pa.scalar(text), len(rows)) for name, text in same.items()}
            yield _counted_against_bounds(pa.table({name: made[name] for name in columns}), held)


def observation_rows(lake: Lake, columns: Sequence[str], held: Held) -> Iterator[pa.Table]:
    """Read where current editions contradict one another."""
    for game in games_kept():
        found = observations(lake, RawArchive(lake, game))
        yield _counted_against_bounds(found.select(list(columns)), held)


def contradiction_rows(lake: Lake, columns: Sequence[str], held: Held) -> Iterator[pa.Table]:
    """Read the proven answers to one question about one board that differ."""
    yield contradicting_answers(lake, held).select(list(columns))


def _counted_against_bounds(table: pa.Table, held: Held) -> pa.Table:
    held(table)
    return table

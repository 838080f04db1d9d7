"""Read the rows of views: current ones, each once, and only the requested columns.

Every reader returns tables with at least the requested columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.corpus.corpora import corpora_in, corpus_folder
from nightgrid.archive.games import archived_games
from nightgrid.archive.ingest.editions import current_editions, editions_path, observations
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.ingest.raw import RawArchive
from nightgrid.archive.lake.schemas import (
    BUDGET_COLUMNS,
    CORPUS_ROWS,
    EDITIONS,
    fields,
)
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.listing import list_quarantine
from nightgrid.archive.lookup.row_filter import RowFilter
from nightgrid.archive.results.contradictions import contradicting_answers
from nightgrid.archive.results.files import RESULT_FILES, SOLUTION_FILES, ranges_where
from nightgrid.archive.results.results import once_a_job

Rows: TypeAlias = Callable[[Lake, Sequence[str]], Iterator[pa.Table]]
"""Reads the rows of a view."""
_CHOOSE = ("job_id", "status", "run_id", *BUDGET_COLUMNS)
"""Columns for choosing one of several results of a job."""
CORPORA_ROWS = pa.schema([*fields("corpus_id string, corpus string, game string"), *CORPUS_ROWS])
"""Rows of corpora, each with the id, the spec and the game of its corpus."""


def rows_of_file(path: str, schema: pa.Schema) -> Rows:
    """Read the rows of one file or folder."""
    return lambda lake, columns: iter([lake.read_table(path, schema, columns)])


def rows_of_games(read: Callable[[Lake, str, Sequence[str]], pa.Table], *games: str) -> Rows:
    """Return a reader for the rows of some games, or of all games if none are named."""
    return lambda lake, columns: (read(lake, game, columns) for game in games or archived_games())


def read_puzzles(lake: Lake, game: str, columns: Sequence[str]) -> pa.Table:
    """Read the boards that nights have fetched."""
    return read_puzzle_table(lake, game, [*dict.fromkeys((*columns, "puzzle_id"))])


def read_drafts(lake: Lake, game: str, columns: Sequence[str]) -> pa.Table:
    """Read the current editions that are drafts."""
    return current_editions(lake, game, columns, drafts=True)


def read_revisions(lake: Lake, game: str, columns: Sequence[str]) -> pa.Table:
    """Read every edition, including replaced ones and drafts."""
    return lake.read_table(editions_path(game), EDITIONS, columns)


def read_observations(lake: Lake, game: str, columns: Sequence[str]) -> pa.Table:
    """Read contradictions between current editions."""
    return observations(lake, RawArchive(lake, game)).select(list(columns))


def result_rows(lake: Lake, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read the result that counts of each job; a job may have ended several times."""
    for ended in ranges_where(lake, RESULT_FILES, columns=(*columns, *_CHOOSE)):
        yield once_a_job(ended)


def solution_rows(lake: Lake, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read the solutions of each job's result that counts."""
    results = pa.concat_tables([*result_rows(lake, ())])
    for solutions in ranges_where(lake, SOLUTION_FILES, columns=columns):
        at = pc.index_in(solutions.column("job_id"), value_set=results.column("job_id"))
        run_ids = results.column("run_id").take(at)
        yield solutions.filter(pc.fill_null(pc.equal(run_ids, solutions.column("run_id")), False))


def quarantine_rows(lake: Lake, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read broken rules, of nights and of corpora."""
    for table in list_quarantine(lake, RowFilter()):
        yield table.select(list(columns))


def corpus_rows(lake: Lake, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read the outcome of each row of every complete corpus."""
    # If only columns of the corpus itself are requested, one column of its rows is read to count
    # them.
    wanted = [name for name in columns if name in CORPUS_ROWS.names] or ["source_row"]
    for corpus in corpora_in(lake):
        same = {"corpus_id": corpus.corpus_id, "corpus": corpus.name, "game": corpus.game}
        for rows in lake.scan(corpus_folder(corpus.corpus_id), CORPUS_ROWS, wanted):
            made = {name: rows.column(name) for name in wanted}
            made |= {name: pa.repeat(pa.scalar(text), len(rows)) for name, text in same.items()}
            yield pa.table({name: made[name] for name in columns})


def contradiction_rows(lake: Lake, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read the proven answers to one question about one board that differ."""
    yield contradicting_answers(lake).select(list(columns))

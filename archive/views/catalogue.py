"""The views of a lake by name: their columns, and the functions that read them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache

import pyarrow as pa

from nightgrid.archive.games import archive_plug, archived_games
from nightgrid.archive.ingest.editions import current_editions
from nightgrid.archive.lake.conforming import select
from nightgrid.archive.lake.schemas import (
    COUNTS_BY_DATE,
    EDITIONS,
    QUARANTINE,
    RANK_ACCURACY,
    RANKS,
    RESULTS,
    RUNTIMES,
    SOLUTIONS,
)
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.listing import QUARANTINE_ROWS
from nightgrid.archive.results.contradictions import ANSWER_COLUMNS
from nightgrid.archive.results.gold.rank_accuracy import PATH as ACCURACY_PATH
from nightgrid.archive.results.gold.rebuild import COUNTS_PATH, RANKS_PATH, RUNTIMES_PATH
from nightgrid.archive.views.rows import (
    CORPORA_ROWS,
    Rows,
    contradiction_rows,
    corpus_rows,
    quarantine_rows,
    read_drafts,
    read_observations,
    read_puzzles,
    read_revisions,
    result_rows,
    rows_of_file,
    rows_of_games,
    solution_rows,
)
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game_plug

_DRAWN_FROM = ("puzzle_id", "game", "size")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One view."""

    name: str
    line: str
    """Its rows, described in one sentence."""
    schema: pa.Schema
    """Its columns in their order; the schema has no metadata."""
    rows: Rows
    """Reads its rows."""

    def read(
        self,
        lake: Lake,
        columns: Collection[str] | None = None,
        held: Callable[[pa.Table], None] = lambda _: None,
    ) -> pa.Table:
        """Read the rows, with all or some columns, in the column order of the view.

        `held` is called with each table that is kept in memory. The order of rows is undefined.
        Raises PermanentError for an unknown column.
        """
        wanted = self.schema.names if columns is None else columns
        if unknown := [name for name in wanted if name not in self.schema.names]:
            raise PermanentError(
                f"view {self.name} has no column {unknown[0]!r:.60}; expected "
                f"{', '.join(self.schema.names)}"
            )
        schema = select(self.schema, [name for name in self.schema.names if name in wanted])
        # A table without columns has no rows, so one column is read to count them.
        names = schema.names or [self.schema.names[0]]
        tables = []
        for table in self.rows(lake, names):
            if len(table):
                tables.append(table.select(schema.names).cast(schema))
                held(tables[-1])
        return pa.concat_tables(tables) if tables else schema.empty_table()


@cache
def views() -> dict[str, View]:
    """Return the views by name, in listing order."""
    found = [
        _view(
            "counts",
            "how many solutions each published board has, by date and level",
            COUNTS_BY_DATE,
            rows_of_file(COUNTS_PATH, COUNTS_BY_DATE),
        ),
        _view(
            "editions",
            "the current board of each date and level, without drafts",
            _without(EDITIONS, "draft"),
            rows_of_games(current_editions),
        ),
        _view(
            "results",
            "how each job ended: one row a job, however often it was run",
            RESULTS,
            result_rows,
        ),
        _view(
            "solutions",
            "solutions of jobs with few of them; nightgrid result prints the others",
            SOLUTIONS,
            solution_rows,
        ),
        _view(
            "corpora",
            "every row of each corpus that was counted, with the id of its board",
            CORPORA_ROWS,
            corpus_rows,
        ),
        _view(
            "runtimes",
            "cost of the kernels, by game, ask and level",
            RUNTIMES,
            rows_of_file(RUNTIMES_PATH, RUNTIMES),
        ),
        _view(
            "ranks",
            "ranks of the official solutions among the best ones",
            RANKS,
            rows_of_file(RANKS_PATH, RANKS),
        ),
        _view(
            "rank_accuracy",
            "place of the published solution among ranked covers, by ranker",
            RANK_ACCURACY,
            rows_of_file(ACCURACY_PATH, RANK_ACCURACY),
        ),
        _view(
            "quarantine",
            "which rule each payload or row of a corpus broke, and where",
            QUARANTINE_ROWS,
            quarantine_rows,
        ),
        _view(
            "observations",
            "contradictions between the payloads of two days",
            QUARANTINE,
            rows_of_games(read_observations),
        ),
        _view(
            "contradictions",
            "differing proven answers to one question about one board, from any solver",
            select(RESULTS, ANSWER_COLUMNS),
            contradiction_rows,
        ),
        _view(
            "drafts",
            "boards only seen before their date, which may still change",
            _without(EDITIONS, "draft"),
            rows_of_games(read_drafts),
        ),
        _view(
            "revisions",
            "every board ever published on a date and level, including replaced ones and drafts",
            EDITIONS,
            rows_of_games(read_revisions),
        ),
        _view(
            "puzzles",
            "every distinct board that nights have fetched",
            select(archive_plug(archived_games()[0]).puzzles(), _DRAWN_FROM),
            rows_of_games(read_puzzles),
        ),
        *(
            _view(
                f"puzzles_{game}",
                f"the boards of {game_plug(game).title}, as numbers",
                archive_plug(game).puzzles(),
                rows_of_games(read_puzzles, game),
            )
            for game in archived_games()
        ),
    ]
    return {view.name: view for view in found}


def view_named(name: str) -> View:
    """Return a view. Raises PermanentError for an unknown name."""
    if name not in views():
        raise PermanentError(f"there is no view {name!r:.60}; expected one of {', '.join(views())}")
    return views()[name]


def _view(name: str, line: str, schema: pa.Schema, rows: Rows) -> View:
    return View(name=name, line=line, schema=schema.remove_metadata(), rows=rows)


def _without(schema: pa.Schema, *names: str) -> pa.Schema:
    return select(schema, [name for name in schema.names if name not in names])


def column_line(view: str, column: str) -> str:
    """Return the description of a column; "" if it has none."""
    return _LINES.get(f"{view}.{column}", _LINES.get(column, ""))


@cache
def sql_type(kind: pa.DataType) -> str:
    """Return DuckDB's name of an Arrow type."""
    import duckdb

    return str(duckdb.from_arrow(pa.schema([("a", kind)]).empty_table()).types[0])


def listed() -> Sequence[tuple[str, str, str, str]]:
    """List every column of every view: view, column, type, description."""
    return [
        (view.name, field.name, sql_type(field.type), column_line(view.name, field.name))
        for view in views().values()
        for field in view.schema
    ]


_LINES = {
    "game": f"one of {', '.join(archived_games())}",
    "date": "the day that the board is for",
    "level": "easy, medium or hard, or daily where a day has one board",
    "revision": "1 for the first board of a date and level, one more for each that replaced it",
    "puzzle_id": "hash of the board: the same board on two dates has one id",
    "size": "grows with the board: how many pieces, cells or letters it has",
    "status": "solved, unsolvable, over_budget, invalid or poison",
    "counts.status": "as in results, or pending if there is no result yet",
    "ranks.status": "as in results, or pending if there is no result yet",
    "count": "how many solutions there are; null if they were not counted",
    "value": "the fewest words, letters or moves; null in games that compare nothing",
    "states": "states that the search has kept",
    "nodes": "steps that the search has taken",
    "kernel_ns": "time of the kernels, nanoseconds",
    "official_solution_valid": "whether the published solution solves the board; null without one",
    "official_solution_best": "whether the published solution attains the minimum",
    "seen_at": "when the payload was first seen, UTC",
    "raw_sha256": "the payload, under raw/",
    "source_id": "the publisher's id of the board",
    "backend_id": "another id of the publisher's",
    "editor": "who edited the board",
    "constructors": "who made the board",
    "clue": "text shown to the player with the board",
    "official_solution": "the published solution, as JSON",
    "draft": "whether it was only seen before its date",
    "par": "the number of words that the board is to be solved in",
    "yesterday": "the payload's description of the previous day, as JSON",
    "job_id": "hash of the board and the question",
    "ask": "first, count, all, all(LIMIT), best(K) or meant(K)",
    "rules": "all rules in effect, in one line; empty for a game without options",
    "lexicon_id": "hash of the lexicon; empty in games without words",
    "solver_version": "version of the game's solver",
    "reason_code": "why a job did not end as asked, for programs; null if it did",
    "reason": "the same in a sentence",
    "parts": "number of parts that the job was divided into",
    "table_bytes": "bytes of the search's tables",
    "puzzle": "the board of a job on demand, as JSON; null for other jobs",
    "run_id": "the run that ended the job",
    "budget_nodes": "steps that each part could take",
    "budget_table_bytes": "bytes of tables that each part could take",
    "budget_seconds": "seconds that each part could take",
    "total_seconds": "seconds that the whole job could take",
    "total_bytes": "bytes of tables that the whole job could take",
    "budget_solution_bytes": "bytes of solutions that the job could have",
    "rank": "0 for the first solution in canonical order, or for the best one",
    "solution": "the solution, as JSON",
    "runtimes.level": "as in counts, or unpublished for boards without a date",
    "job_count": "jobs that ended",
    "solved_count": "those of them with an answer",
    "kernel_ns_p50": "median nanoseconds of a job",
    "kernel_ns_p99": "99th percentile of nanoseconds",
    "kernel_ns_max": "nanoseconds of the longest job",
    "kernel_ns_total": "nanoseconds of all jobs together",
    "states_total": "states of all jobs together",
    "best_count": "how many of the best solutions were kept",
    "official_rank": "rank of the published solution, from 1; null if it is not among the best",
    "ranker": "name of the ranker",
    "official_place": "place of the published solution, from 1; null if no ranked cover is it",
    "cover_count": "how many covers were ranked",
    "confidence": "how likely the first cover is the one that was meant, from 0 to 1",
    "official_confidence": "the same of the published solution",
    "seconds": "time that ranking took, seconds",
    "miss": "code of how the first cover differs from the published one; null if it does not",
    "source": "origin: a file or an address",
    "source_row": "the row of a corpus, from 0; null for nights",
    "url": "origin: a file or an address",
    "rule": "which rule was broken: docs/reference/lake.md",
    "place": "where in the payload",
    "message": "what is there, and what was expected",
    "corpus": "the corpus; empty for nights",
    "corpus_id": "hash of the corpus, which the report of a count names",
    "corpora.corpus": "the corpus as it was given: a folder, a file, or a generator spec",
    "corpora.source": "the file within the corpus, or the generator spec",
    "corpora.source_row": "the puzzle of a payload, row of a file or board of a generator, from 0",
    "corpora.date": "the day that the payload names; null if it names none",
    "corpora.level": "the level that the payload or the generator names; null if none is named",
    "corpora.puzzle_id": "hash of the board; null for a row in quarantine",
    "cell_row": "rows of the cells, from 0",
    "cell_col": "columns of the cells, from 0",
    "cell_region": "the region of each cell, from 0",
    "region_type": "0 empty, 1 sum, 2 less, 3 greater, 4 equals, 5 unequal",
    "region_target": "the number of each region, 0 if it has none",
    "domino_a": "one half of each domino",
    "domino_b": "the other half of each domino",
    "row_count": "rows of the board",
    "column_count": "columns of the board",
    "letter": "the letters as code points, row by row or side by side",
    "theme_word_count": "theme words without the spangram, -1 if unknown",
    "side_size": "letters of each side",
    "dictionary_id": "hash of the board's own words; empty if it has none",
    "feature": "features of the pieces, one piece after the other",
    "tile_size": "how many features each piece has",
    "name_letter": "names of the features, as code points",
    "name_size": "letters of each name",
}
"""Descriptions of columns; VIEW.COLUMN for a column that means something else in one view."""

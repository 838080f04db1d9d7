"""The views of a lake by name: what each has, column by column, and what reads it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache

import pyarrow as pa

from nightgrid.archive.games import archive_plug
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
from nightgrid.archive.results.gold.gold import COUNTS_PATH, RANKS_PATH, RUNTIMES_PATH
from nightgrid.archive.results.gold.rank_accuracy import PATH as ACCURACY_PATH
from nightgrid.archive.views.rows import (
    CORPORA_ROWS,
    Rows,
    contradiction_rows,
    corpus_rows,
    games_kept,
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
    """What its rows are, in one sentence."""
    schema: pa.Schema
    """Its columns in their order; the schema has no metadata."""
    rows: Rows
    """What reads it."""

    def read(
        self,
        lake: Lake,
        columns: Collection[str] | None = None,
        held: Callable[[pa.Table], None] = lambda _: None,
    ) -> pa.Table:
        """Read the rows, of all columns or of those wanted, in the order of the view.

        `held` is called with each table that is kept. The order of rows is not defined. Raises
        PermanentError for a column that the view lacks.
        """
        wanted = self.schema.names if columns is None else columns
        if unknown := [name for name in wanted if name not in self.schema.names]:
            raise PermanentError(
                f"view {self.name} has no column {unknown[0]!r:.60}; expected "
                f"{', '.join(self.schema.names)}"
            )
        schema = select(self.schema, [name for name in self.schema.names if name in wanted])
        # A table of no column would have no rows: one column counts them.
        names = schema.names or [self.schema.names[0]]
        tables = []
        for table in self.rows(lake, names):
            if len(table):
                tables.append(table.select(schema.names).cast(schema))
                held(tables[-1])
        return pa.concat_tables(tables) if tables else schema.empty_table()


@cache
def views() -> dict[str, View]:
    """Name the views, in the order in which they are listed."""
    found = [
        _view(
            "counts",
            "how many solutions each published board has, by date and level",
            COUNTS_BY_DATE,
            rows_of_file(COUNTS_PATH, COUNTS_BY_DATE),
        ),
        _view(
            "editions",
            "which board stands on which date and level today, drafts left out",
            _without(EDITIONS, "draft"),
            rows_of_games(current_editions),
        ),
        _view(
            "results",
            "how each job ended: one row a job, whatever ran it and how often",
            RESULTS,
            result_rows,
        ),
        _view(
            "solutions",
            "solutions of jobs that asked for some and have few; nightgrid result has the others",
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
            "what kernels cost, by game, ask and level",
            RUNTIMES,
            rows_of_file(RUNTIMES_PATH, RUNTIMES),
        ),
        _view(
            "ranks",
            "where official solutions stand among the best",
            RANKS,
            rows_of_file(RANKS_PATH, RANKS),
        ),
        _view(
            "rank_accuracy",
            "which place the published solution takes when covers are ranked, by ranker",
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
            "where payloads of two days contradict one another",
            QUARANTINE,
            rows_of_games(read_observations),
        ),
        _view(
            "contradictions",
            "proven answers to one question about one board that differ, of whichever solver",
            select(RESULTS, ANSWER_COLUMNS),
            contradiction_rows,
        ),
        _view(
            "drafts",
            "boards seen before their date only, which may still change",
            _without(EDITIONS, "draft"),
            rows_of_games(read_drafts),
        ),
        _view(
            "revisions",
            "every board that ever stood on a date and level, replaced ones and drafts too",
            EDITIONS,
            rows_of_games(read_revisions),
        ),
        _view(
            "puzzles",
            "every different board that nights have brought",
            select(archive_plug(games_kept()[0]).puzzles(), _DRAWN_FROM),
            rows_of_games(read_puzzles),
        ),
        *(
            _view(
                f"puzzles_{game}",
                f"the boards of {game_plug(game).title}, as numbers",
                archive_plug(game).puzzles(),
                rows_of_games(read_puzzles, game),
            )
            for game in games_kept()
        ),
    ]
    return {view.name: view for view in found}


def view_named(name: str) -> View:
    """Find a view. Raises PermanentError for another name."""
    if name not in views():
        raise PermanentError(f"there is no view {name!r:.60}; expected one of {', '.join(views())}")
    return views()[name]


def _view(name: str, line: str, schema: pa.Schema, rows: Rows) -> View:
    return View(name=name, line=line, schema=schema.remove_metadata(), rows=rows)


def _without(schema: pa.Schema, *names: str) -> pa.Schema:
    return select(schema, [name for name in schema.names if name not in names])


def column_line(view: str, column: str) -> str:
    """Describe a column in one line; "" for a column without a description."""
    return _LINES.get(f"{view}.{column}", _LINES.get(column, ""))


@cache
def sql_type(kind: pa.DataType) -> str:
    """Name an Arrow type as DuckDB does."""
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
    "game": f"one of {', '.join(games_kept())}",
    "date": "the day that the board is for",
    "level": "easy, medium or hard, or daily where a day has one board",
    "revision": "1 for the first board of a date and level, one more for each that replaced it",
    "puzzle_id": "hash of the board: the same board on two dates has one id",
    "size": "grows with the board: how many pieces, cells or letters it has",
    "status": "solved, unsolvable, over_budget, invalid or poison",
    "counts.status": "as in results, or pending where there is no result yet",
    "ranks.status": "as in results, or pending where there is no result yet",
    "count": "how many solutions there are; null where nothing counted them",
    "value": "the fewest words, letters or moves; null in games that compare nothing",
    "states": "states that the search has kept",
    "nodes": "steps that the search has taken",
    "kernel_ns": "time of the kernels, nanoseconds",
    "official_solution_valid": "whether the published solution solves the board; null without one",
    "official_solution_best": "whether the published solution needs no more than the fewest",
    "seen_at": "when the payload was first seen, UTC",
    "raw_sha256": "the payload, under raw/",
    "source_id": "the publisher's id of the board",
    "backend_id": "another id of the publisher's",
    "editor": "who edited the board",
    "constructors": "who made the board",
    "clue": "what the player is told beside the board",
    "official_solution": "the published solution, as JSON",
    "draft": "whether it was seen before its date only",
    "par": "the number of words that the board is to be solved in",
    "yesterday": "what the payload says of the day before, as JSON",
    "job_id": "hash of the board and all that is asked of it",
    "ask": "first, count, all, all(LIMIT), best(K) or meant(K)",
    "rules": "all rules played by, in one line; empty for a game that has none to choose",
    "lexicon_id": "hash of the words played with; empty in games without words",
    "solver_version": "version of the game's solver",
    "reason_code": "why a job did not end as asked, for programs; null where it did",
    "reason": "the same in a sentence",
    "parts": "parts that the job was worked in",
    "table_bytes": "bytes of the search's tables",
    "run_id": "the run that ended the job",
    "budget_nodes": "steps that each part could take",
    "budget_table_bytes": "bytes of tables that each part could take",
    "budget_seconds": "seconds that each part could take",
    "total_seconds": "seconds that the whole job could take",
    "total_bytes": "bytes of tables that the whole job could take",
    "budget_solution_bytes": "bytes of solutions that the job could have",
    "rank": "0 for the first solution in canonical order, or for the best one",
    "solution": "the solution, as JSON",
    "runtimes.level": "as in counts, or unpublished for boards that stand on no date",
    "job_count": "jobs that ended",
    "solved_count": "those of them with an answer",
    "kernel_ns_p50": "nanoseconds that half of the jobs stay below",
    "kernel_ns_p99": "nanoseconds that 99 of 100 jobs stay below",
    "kernel_ns_max": "nanoseconds of the longest job",
    "kernel_ns_total": "nanoseconds of all jobs together",
    "states_total": "states of all jobs together",
    "best_count": "how many of the best solutions were kept",
    "official_rank": "1 where the best solution is the published one; null where none kept is",
    "ranker": "what ranked the covers",
    "official_place": "1 where the first cover is the published one; null where none ranked is",
    "cover_count": "how many covers were ranked",
    "confidence": "how likely the first cover is the one that was meant, from 0 to 1",
    "official_confidence": "the same of the published solution",
    "seconds": "time that ranking took, seconds",
    "miss": "code of how the first cover differs from the published one; null where it does not",
    "source": "the file or address that it came from",
    "source_row": "the row of a corpus, from 0; null for nights",
    "url": "the file or address that it came from",
    "rule": "which rule was broken: docs/reference/lake.md",
    "place": "where in the payload",
    "message": "what stands there, and what was expected",
    "corpus": "the corpus; empty for nights",
    "corpus_id": "hash of the corpus, which the report of a count names",
    "corpora.corpus": "the corpus as it was given: a folder, a file, or a generator spec",
    "corpora.source": "the file within the corpus, or the generator spec",
    "corpora.source_row": "the puzzle of a payload, row of a file or board of a generator, from 0",
    "corpora.date": "the day that the payload names; null where it names none",
    "corpora.level": "the level that the payload or the generator names; null where none is named",
    "corpora.puzzle_id": "hash of the board; null for a row in quarantine",
    "cell_row": "rows of the cells, from 0",
    "cell_col": "columns of the cells, from 0",
    "cell_region": "the region of each cell, from 0",
    "region_type": "0 empty, 1 sum, 2 less, 3 greater, 4 equals, 5 unequal",
    "region_target": "the number of each region, 0 where it has none",
    "domino_a": "one half of each domino",
    "domino_b": "the other half of each domino",
    "row_count": "rows of the board",
    "column_count": "columns of the board",
    "letter": "the letters as code points, row by row or side by side",
    "theme_word_count": "theme words beside the spangram, -1 where not known",
    "side_size": "letters of each side",
    "dictionary_id": "hash of the words that the board brings; empty for a board without",
    "feature": "features of the pieces, one piece after the other",
    "tile_size": "how many features each piece has",
    "name_letter": "names of the features, as code points",
    "name_size": "letters of each name",
}
"""Descriptions of columns; VIEW.COLUMN for a column that means something else in one view."""

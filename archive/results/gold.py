"""Gold: small tables for people, made anew from editions, puzzles and results.

Counts by date, runtimes, and ranks: where official solutions stand among the best ones.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import cached_property, partial, reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games import archive_plug
from nightgrid.archive.ingest.editions import current_editions, editions_path
from nightgrid.archive.ingest.puzzles import read_puzzle_table
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.conforming import select
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import (
    COUNTS_BY_DATE,
    EDITIONS,
    RESULTS,
    RUNTIMES,
    ranks_schema,
)
from nightgrid.archive.results.checked import Check, Checked
from nightgrid.archive.results.results import (
    RANKED_STATUSES,
    find_results,
    scan_results,
    solutions_of,
)
from nightgrid.solvers.algebra import Arrays, Ask, Game, Status
from nightgrid.solvers.errors import InvalidPuzzleError
from nightgrid.solvers.question import Question, question_of

COUNTS_PATH = "gold/counts_by_date.parquet"
RUNTIMES_PATH = "gold/runtimes.parquet"
PENDING = "pending"
"""Status of an edition whose puzzle has no result yet."""
UNPUBLISHED = "unpublished"
"""Level under which runtimes file puzzles that stand in no edition."""
COUNT = Ask(kind="count")


def write_gold(lake: Lake, game: Game[Any, Any], asks: Sequence[Ask] = (COUNT,)) -> tuple[str, ...]:
    """Make the gold tables anew from what the lake holds; unchanged tables are not written.

    Returns a sentence for each table that was damaged. It holds the rows of this game again; those
    of another game come back with its next night.

    Results count when they answer one of the asks by this solver version, under the rules and with
    the lexicon that the game is bound to. Counts are told whether they were asked for now or
    earlier, or came with the best; ranks are read from the first `best(k)`. Drafts appear in no
    table.
    """
    editions = current_editions(lake, game.name)
    tables = {
        COUNTS_PATH: counts_by_date(lake, game, editions, asks),
        RUNTIMES_PATH: runtimes(lake, game, asks),
    }
    best = next((ask for ask in asks if ask.kind == "best"), None)
    if best is not None and archive_plug(game.name).ranked:
        tables[ranks_path(game.name)] = official_ranks(lake, game, editions, best)
    told = [_put(lake, path, table, game.name) for path, table in tables.items()]
    return tuple(filter(None, told))


def counts_by_date(
    lake: Lake, game: Game[Any, Any], editions: pa.Table, asks: Sequence[Ask] = (COUNT,)
) -> pa.Table:
    """Join editions with their counts; an edition without one is pending.

    A count comes from the ask for it, else from the first `best(k)` of `asks` that has an answer.
    """
    rows = editions.select(_OF_EDITION).to_pylist()
    counting = [COUNT, *(ask for ask in asks if ask.kind == "best")]
    questions = [question_of(game, ask) for ask in counting]
    jobs = {
        row["puzzle_id"]: [question.job_id(row["puzzle_id"]) for question in questions]
        for row in rows
    }
    wanted = [job for of_puzzle in jobs.values() for job in of_puzzle]
    results = find_results(lake, wanted)
    at = {job: i for i, job in enumerate(results.column("job_id").to_pylist())}
    counted = results.column("count").is_valid().to_pylist()
    boards = _Boards(lake, game)
    checked = Checked(lake, game, "official")
    answered: list[int | None] = []
    checks: list[Check] = []
    for edition in rows:
        answers = [at[job] for job in jobs[edition["puzzle_id"]] if job in at]
        answered.append(next((i for i in answers if counted[i]), answers[0] if answers else None))
        check = Check(None)
        if edition["official_solution"] is not None:
            names = edition["puzzle_id"], edition["official_solution"]
            check = checked.find(*names, look=partial(boards.check, *names))
        checks.append(check)
    checked.keep()
    told = results.take(pa.array(answered, pa.int64()))
    columns: dict[str, Any] = {name: editions.column(name) for name in _EDITION}
    columns |= {name: told.column(name) for name in ("status", "count", "value")}
    columns |= {name: pc.fill_null(told.column(name), 0) for name in ("states", "kernel_ns")}
    columns["status"] = pc.fill_null(columns["status"], PENDING)
    columns["size"] = pa.array([boards.size(row["puzzle_id"]) for row in rows], pa.int32())
    columns["official_solution_valid"] = pa.array([c.valid for c in checks], pa.bool_())
    best = map(_is_best, checks, told.column("value").to_pylist())
    columns["official_solution_best"] = pa.array(list(best), pa.bool_())
    return pa.table([columns[name] for name in COUNTS_BY_DATE.names], schema=COUNTS_BY_DATE)


_EDITION = ("game", "date", "level", "revision", "puzzle_id")
_OF_EDITION = [*_EDITION, "official_solution"]


def _by_job(
    lake: Lake, job_ids: Collection[str], columns: Sequence[str]
) -> dict[str, dict[str, Any]]:
    rows = find_results(lake, job_ids).select(["job_id", *columns]).to_pylist()
    return {row["job_id"]: row for row in rows}


def runtimes(lake: Lake, game: Game[Any, Any], asks: Sequence[Ask]) -> pa.Table:
    """Sum up what the kernels cost, per ask and level.

    A puzzle counts in every level that it ever stood in. The answer of `find_results` counts
    for a job that ended several times.
    """
    # Imported here: a worker, which writes no gold, need not load it.
    import duckdb

    levels = lake.read_table(editions_path(game.name), EDITIONS, ["puzzle_id", "level"])
    found = [RUNTIMES.empty_table()]
    with duckdb.connect() as base:
        base.register("levels", levels)
        for ask in asks:
            base.register("results", _times(lake, question_of(game, ask)))
            names: dict[str, Any] = {"game": game.name, "ask": str(ask)}
            names |= {"unpublished": UNPUBLISHED, "statuses": RANKED_STATUSES}
            rows = base.sql(_RUNTIMES, params=names)
            found.append(rows.to_arrow_table().cast(RUNTIMES))
            base.unregister("results")
    return pa.concat_tables(found)


def _times(lake: Lake, question: Question) -> pa.Table:
    """Read what runtimes need of the answers to a question."""
    schema, asked = select(RESULTS, _TIMES), question.to_json()
    found = [schema.empty_table()]
    for table in scan_results(lake, [*_TIMES, *asked]):
        same = (pc.equal(table.column(name), text) for name, text in asked.items())
        found.append(table.filter(reduce(pc.and_, same)).select(schema.names).cast(schema))
    return pa.concat_tables(found)


_TIMES = ("job_id", "run_id", "puzzle_id", "status", "kernel_ns", "states")
_RUNTIMES = """
    with told as (
        from results
        qualify 1 = row_number() over (
            partition by job_id order by list_position($statuses, status), run_id
        )
    )
    select
        $game as game,
        $ask as ask,
        coalesce(level, $unpublished) as level,
        count(*) as job_count,
        count(*) filter (status = 'solved') as solved_count,
        quantile_disc(kernel_ns, 0.50) as kernel_ns_p50,
        quantile_disc(kernel_ns, 0.99) as kernel_ns_p99,
        max(kernel_ns) as kernel_ns_max,
        sum(kernel_ns) as kernel_ns_total,
        sum(states) as states_total
    from told left join (select distinct * from levels) using (puzzle_id)
    group by 3
    order by 3
"""
"""Percentiles are discrete: a time that a job really took."""


class _Boards:
    """The boards of a game, which are read as wholes only where one is to be checked."""

    def __init__(self, lake: Lake, game: Game[Any, Any]) -> None:
        self._lake, self._game = lake, game
        columns = read_puzzle_table(lake, game.name, ["puzzle_id", "size"]).to_pydict()
        self._sizes = dict(zip(columns["puzzle_id"], columns["size"], strict=True))

    def size(self, puzzle_id: str) -> int:
        return int(self._sizes[puzzle_id])

    @cached_property
    def _boards(self) -> tuple[Arrays, dict[str, int]]:
        table = read_puzzle_table(self._lake, self._game.name)
        rows = {name: i for i, name in enumerate(table.column("puzzle_id").to_pylist())}
        return arrays_of(table), rows

    def check(self, puzzle_id: str, official: str) -> Check:
        """Check an official solution, as JSON, against the board as the lake has it.

        None for a board that breaks a rule which is newer than its row.
        """
        arrays, rows = self._boards
        try:
            puzzle = self._game.from_arrays(arrays, rows[puzzle_id])
        except InvalidPuzzleError:
            return Check(None)
        plug = archive_plug(self._game.name)
        solution = self._game.solution_from_json(json.loads(official))
        valid = plug.is_official(self._game, puzzle, solution)
        return Check(valid, plug.worth(self._game, solution) if valid else None)


def _is_best(check: Check, value: int | None) -> bool | None:
    """Tell whether a solution is worth as much as the best; None where nothing is compared."""
    if check.valid is None or value is None:
        return None
    return check.valid and check.number == value


def _put(lake: Lake, path: str, table: pa.Table, game: str) -> str:
    """Put a game's rows in the place of those that a gold table has, if that changes it.

    Gold is made of other tables, so that a damaged file is replaced; returns a sentence about it.
    """
    try:
        before, told = lake.read_table(path, table.schema), ""
    except DamagedFileError as error:
        before = table.schema.empty_table()
        told = f"{error}; it was made anew with the rows of {game}"
    others = before.filter(pc.not_equal(before.column("game"), game))
    merged = pa.concat_tables([others, table]).sort_by("game")
    if told or not (lake.exists(path) and merged.equals(before)):
        lake.write_table(path, merged)
    return told


def ranks_path(game: str) -> str:
    """Name the table of a game's ranks."""
    return f"gold/{game}_ranks.parquet"


def official_ranks(lake: Lake, game: Game[Any, Any], editions: pa.Table, ask: Ask) -> pa.Table:
    """Look every official solution up among those that `best(k)` found, 1 for the first.

    The game tells which solutions are the same. An edition whose board was not solved has no rank
    and its status says why.
    """
    rows = editions.select(_OF_EDITION).to_pylist()
    rows = [row for row in rows if row["official_solution"] is not None]
    question = question_of(game, ask)
    jobs = {row["puzzle_id"]: question.job_id(row["puzzle_id"]) for row in rows}
    results = _by_job(lake, jobs.values(), ("status", "run_id"))
    checked = Checked(lake, game, "ranks")

    def names(edition: dict[str, Any]) -> tuple[str, ...]:
        run_id = results.get(jobs[edition["puzzle_id"]], {}).get("run_id", "")
        return jobs[edition["puzzle_id"]], run_id, edition["official_solution"]

    new = {jobs[row["puzzle_id"]] for row in rows if not checked.knows(*names(row))}
    runs = {job: row["run_id"] for job, row in results.items() if job in new}
    solutions = solutions_of(lake, runs)
    found = []
    for edition in rows:
        job = jobs[edition["puzzle_id"]]
        status = results[job]["status"] if job in results else PENDING
        best = solutions.get(job, [])
        official = edition["official_solution"]
        rank = checked.find(*names(edition), look=partial(_look, game, official, best))
        row = {name: edition[name] for name in ("game", "date", "level", "revision", "puzzle_id")}
        row |= {
            "ask": str(ask),
            "status": status,
            "best_count": rank.best if status in (Status.SOLVED, Status.UNSOLVABLE) else None,
            "official_rank": rank.number,
        }
        found.append(row)
    checked.keep()
    return pa.Table.from_pylist(found, schema=ranks_schema(game.name))


def _look(game: Game[Any, Any], official: str, best: list[str]) -> Check:
    return Check(None, _rank(game, json.loads(official), best), len(best))


def _rank(game: Game[Any, Any], official: Any, best: list[str]) -> int | None:
    wanted = game.solution_from_json(official)
    is_same = archive_plug(game.name).is_same
    for rank, text in enumerate(best, 1):
        if is_same(wanted, game.solution_from_json(json.loads(text))):
            return rank
    return None

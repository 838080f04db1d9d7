"""The gold tables that a night rebuilds: counts by date, runtimes and ranks.

Ranks are the places of official solutions among the best ones.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.games import archive_plug
from nightgrid.archive.ingest.editions import current_of, editions_path
from nightgrid.archive.ingest.puzzles import puzzles_folder, read_boards, read_puzzle_table
from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.conforming import select
from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.schemas import COUNTS_BY_DATE, EDITIONS, RANKS, RESULTS, RUNTIMES
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import RESULTS_FOLDER, SOLUTIONS_FOLDER
from nightgrid.archive.results.results import once_a_job, scan_results, solutions_of
from nightgrid.archive.results.statuses import PROVEN, is_among
from nightgrid.archive.state import InputFingerprint
from nightgrid.solvers.algebra import Arrays, Ask, Status
from nightgrid.solvers.errors import InvalidPuzzleError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import question_of

COUNT = Ask(kind="count")
ANSWER = (
    "job_id", "run_id", "puzzle_id", "status", "count", "value", "states", "kernel_ns",
    "budget_seconds",
)  # fmt: skip
"""Columns of an answer."""
UNPUBLISHED = "unpublished"
"""Level of puzzles without an edition."""
COUNTS_PATH = "gold/counts_by_date.parquet"
RUNTIMES_PATH = "gold/runtimes.parquet"
RANKS_PATH = "gold/ranks.parquet"
PENDING = "pending"
"""Status of an edition whose puzzle has no result yet."""


class Answers:
    """The results that answer a game's asks, read once for all tables."""

    def __init__(self, lake: Lake, game: Game[Any, Any], asks: Collection[Ask]) -> None:
        self._questions = {ask: question_of(game, ask) for ask in asks}
        fields = next(iter(self._questions.values())).to_json() if asks else {}
        names = [*ANSWER, *(name for name in fields if name not in ANSWER)]
        asked = pa.array(sorted(map(str, asks)), pa.string())
        found = [select(RESULTS, names).empty_table()]
        for table in scan_results(lake, names):
            same = [pc.equal(table.column(n), text) for n, text in fields.items() if n != "ask"]
            same.append(pc.is_in(table.column("ask"), value_set=asked))
            found.append(table.filter(reduce(pc.and_, same)))
        self._rows = pa.concat_tables(found).select([*ANSWER, "ask"])

    def __len__(self) -> int:
        return len(self._rows)

    def all_to(self, ask: Ask) -> pa.Table:
        """Return all rows that answer an ask; a job may have several."""
        rows = self._rows.filter(pc.equal(self._rows.column("ask"), str(ask)))
        return rows.select(list(ANSWER))

    def to(self, ask: Ask, puzzle_ids: pa.ChunkedArray) -> pa.Table:
        """Return the answer that counts for each of these puzzles; null if there is none."""
        rows = self.all_to(ask)
        rows = once_a_job(rows.filter(pc.is_in(rows.column("puzzle_id"), value_set=puzzle_ids)))
        return rows.take(pc.index_in(puzzle_ids, value_set=rows.column("puzzle_id")))


def write_gold(lake: Lake, game: Game[Any, Any], asks: Sequence[Ask] = (COUNT,)) -> tuple[str, ...]:
    """Rebuild the gold tables from the lake; unchanged tables are not written.

    Returns a sentence for each table that was damaged. Such a table is rebuilt with the rows of
    this game; those of another game return with its next night.

    Results count if they answer one of the asks by this solver version, under the rules and with
    the lexicon that the game is bound to. Counts are reported whether they were asked for now or
    earlier, or came with the best; ranks are read from the first `best(k)`. Drafts appear in no
    table.
    """
    asks = [ask for ask in asks if ask.kind != "meant"]
    if not asks:
        return ()
    best = next((ask for ask in asks if ask.kind == "best"), None)
    ranked = best is not None and archive_plug(game.name).ranked
    outputs = [COUNTS_PATH, RUNTIMES_PATH, *([RANKS_PATH] * ranked)]
    fingerprint = _fingerprint(lake, game, asks)
    saved = fingerprint.saved_result()
    if saved is not None and saved.get("made") == _made(lake, outputs):
        return ()
    stands = lake.read_table(editions_path(game.name), EDITIONS, [*_OF_EDITION, "draft"])
    editions = current_of(stands, _OF_EDITION)
    answers = Answers(lake, game, {*asks, *_counting(asks)})
    tables = {
        COUNTS_PATH: counts_by_date(lake, game, editions, asks, answers),
        RUNTIMES_PATH: runtimes(game.name, asks, answers, stands),
    }
    if best is not None and ranked:
        tables[RANKS_PATH] = official_ranks(lake, game, editions, best, answers)
    told = [_put(lake, path, table, game.name) for path, table in tables.items()]
    fingerprint.save({"made": _made(lake, outputs)})
    return tuple(filter(None, told))


def _fingerprint(lake: Lake, game: Game[Any, Any], asks: Sequence[Ask]) -> InputFingerprint:
    """Fingerprint the inputs of gold, before reading any of them."""
    about = {
        "rules": game.rules,
        "lexicon": game.lexicon_id,
        "solver": game.solver_version,
        "asks": list(map(str, asks)),
    }
    folders = [RESULTS_FOLDER, SOLUTIONS_FOLDER, puzzles_folder(game.name)]
    files = [editions_path(game.name)]
    return InputFingerprint(lake, game.name, "gold", about, folders=folders, files=files)


def _made(lake: Lake, outputs: Sequence[str]) -> list[list[Any]]:
    """List gold tables with their sizes and times, to notice lost or changed ones."""
    there = lake.stamps("gold")
    return [[path, *there.get(path, ())] for path in outputs]


def _counting(asks: Sequence[Ask]) -> list[Ask]:
    return [COUNT, *(ask for ask in asks if ask.kind == "best")]


def counts_by_date(
    lake: Lake,
    game: Game[Any, Any],
    editions: pa.Table,
    asks: Sequence[Ask],
    answers: Answers,
) -> pa.Table:
    """Join editions with their counts; an edition without one is pending.

    A count comes from an ask for it, else from the first `best(k)` of `asks` with an answer.
    """
    puzzle_ids = editions.column("puzzle_id")
    columns: dict[str, Any] = {name: editions.column(name) for name in _EDITION}
    columns |= _counted([answers.to(ask, puzzle_ids) for ask in _counting(asks)])
    columns["size"] = _sizes(lake, game.name, puzzle_ids)
    checks = _official_checks(lake, game, editions)
    columns["official_solution_valid"] = pa.array([valid for valid, _ in checks], pa.bool_())
    columns["official_solution_best"] = pa.array(
        [
            None if valid is None or value is None else valid and worth == value
            for (valid, worth), value in zip(checks, columns["value"].to_pylist(), strict=True)
        ],
        pa.bool_(),
    )
    return pa.table([columns[name] for name in COUNTS_BY_DATE.names], schema=COUNTS_BY_DATE)


_EDITION = ("game", "date", "level", "revision", "puzzle_id")
_OF_EDITION = [*_EDITION, "official_solution"]


def _counted(answers: Sequence[pa.Table]) -> dict[str, pa.ChunkedArray]:
    """Select for each row the first answer with a count, else the first one."""
    chosen = answers[0]
    for other in answers[1:]:
        no_count = pc.invert(pc.is_valid(chosen.column("count")))
        is_better = pc.and_(no_count, pc.is_valid(other.column("count")))
        is_first = pc.invert(pc.is_valid(chosen.column("status")))
        takes = pc.or_(is_better, is_first)
        columns = [pc.if_else(takes, other.column(name), chosen.column(name)) for name in _COUNTED]
        chosen = pa.table(columns, names=list(_COUNTED))
    found = {name: chosen.column(name) for name in ("count", "value")}
    found |= {name: pc.fill_null(chosen.column(name), 0) for name in ("states", "kernel_ns")}
    return {**found, "status": pc.fill_null(chosen.column("status"), PENDING)}


_COUNTED = ("status", "count", "value", "states", "kernel_ns")


def _sizes(lake: Lake, game: str, puzzle_ids: pa.ChunkedArray) -> pa.ChunkedArray:
    table = read_puzzle_table(lake, game, ["puzzle_id", "size"])
    at = pc.index_in(puzzle_ids, value_set=table.column("puzzle_id"))
    if at.null_count:
        lost = pc.filter(puzzle_ids, pc.is_null(at))[0].as_py()
        raise KeyError(lost)
    return table.column("size").take(at)


def _official_checks(
    lake: Lake, game: Game[Any, Any], editions: pa.Table
) -> list[tuple[bool | None, int | None]]:
    """Check each official solution against its board: whether it is valid, and its value.

    None without a solution, and for a board that breaks a rule newer than its row.
    """
    boards = read_boards(lake, game.name, editions.column("puzzle_id").combine_chunks())
    arrays = arrays_of(boards)
    rows = {name: i for i, name in enumerate(boards.column("puzzle_id").to_pylist())}
    columns = (editions.column(name).to_pylist() for name in ("puzzle_id", "official_solution"))
    return [
        (None, None) if official is None else _check(game, arrays, rows[puzzle_id], official)
        for puzzle_id, official in zip(*columns, strict=True)
    ]


def _check(
    game: Game[Any, Any], arrays: Arrays, row: int, official: str
) -> tuple[bool | None, int | None]:
    try:
        puzzle = game.from_arrays(arrays, row)
    except InvalidPuzzleError:
        return None, None
    plug = archive_plug(game.name)
    solution = game.solution_from_json(json.loads(official))
    valid = plug.is_official(game, puzzle, solution)
    return valid, plug.worth(game, solution) if valid else None


def _put(lake: Lake, path: str, table: pa.Table, game: str) -> str:
    """Replace a game's rows in a gold table, if they differ.

    A damaged file is replaced, since gold can be rebuilt; returns a sentence about it.
    """
    try:
        before, told = lake.read_table(path, table.schema), ""
    except DamagedFileError as error:
        before = table.schema.empty_table()
        told = f"{error}; it was rebuilt with the rows of {game}"
    others = before.filter(pc.not_equal(before.column("game"), game))
    merged = pa.concat_tables([others, table]).sort_by("game")
    if told or not (lake.exists(path) and merged.equals(before)):
        lake.write_table(path, merged)
    return told


def official_ranks(
    lake: Lake,
    game: Game[Any, Any],
    editions: pa.Table,
    ask: Ask,
    answers: Answers,
) -> pa.Table:
    """Rank every official solution among the solutions of `best(k)`, 1 for the first.

    The game decides which solutions are equal. An edition whose board was not solved has no rank;
    its status says why.
    """
    official = editions.select(_OF_EDITION)
    official = official.filter(pc.is_valid(official.column("official_solution")))
    found = answers.to(ask, official.column("puzzle_id"))
    question = question_of(game, ask)
    jobs = [question.job_id(name) for name in official.column("puzzle_id").to_pylist()]
    run_ids = found.column("run_id").to_pylist()
    runs = {job: run for job, run in zip(jobs, run_ids, strict=True) if run}
    solutions = solutions_of(lake, runs)
    best = [solutions.get(job, []) for job in jobs]
    texts = official.column("official_solution").to_pylist()
    ranks = [_rank(game, json.loads(o), b) for o, b in zip(texts, best, strict=True)]
    status = pc.fill_null(found.column("status"), PENDING)
    is_ranked = is_among(status, PROVEN)
    columns = {name: official.column(name) for name in _EDITION}
    columns["ask"] = pa.repeat(pa.scalar(str(ask)), len(official))
    columns["status"] = status
    columns["best_count"] = pc.if_else(
        is_ranked, pa.array(list(map(len, best)), pa.int64()), pa.scalar(None, pa.int64())
    )
    columns["official_rank"] = pa.chunked_array([pa.array(ranks, pa.int64())])
    return pa.table([columns[field.name].cast(field.type) for field in RANKS], schema=RANKS)


def _rank(game: Game[Any, Any], official: Any, best: list[str]) -> int | None:
    wanted = game.solution_from_json(official)
    is_same = archive_plug(game.name).is_same
    for rank, text in enumerate(best, 1):
        if is_same(wanted, game.solution_from_json(json.loads(text))):
            return rank
    return None


def runtimes(game: str, asks: Sequence[Ask], answers: Answers, stands: pa.Table) -> pa.Table:
    """Sum up the costs of kernels, per ask and level; `stands` has all editions of the game.

    A puzzle counts in every level that it was ever published in. For a job that ended several
    times, the answer of `find_results` counts. Percentiles are actual times of jobs.
    """
    found = [
        {"game": game, "ask": str(ask), "level": level, **_summed(times)}
        for ask in asks
        for level, times in _by_level(once_a_job(answers.all_to(ask)), stands)
    ]
    return pa.Table.from_pylist(found, schema=RUNTIMES)


def _by_level(rows: pa.Table, stands: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Yield each level that has rows, by name, with its rows."""
    ids, levels = rows.column("puzzle_id"), stands.column("level")
    is_in = {
        level: pc.is_in(ids, value_set=stands.column("puzzle_id").filter(pc.equal(levels, level)))
        for level in pc.unique(levels).to_pylist()
    }
    is_in[UNPUBLISHED] = pc.invert(pc.is_in(ids, value_set=stands.column("puzzle_id")))
    for level in sorted(is_in):
        if len(here := rows.filter(is_in[level])):
            yield level, here


def _summed(rows: pa.Table) -> dict[str, int]:
    times = np.sort(rows.column("kernel_ns").to_numpy())
    # Nearest rank: the least time that this share of the jobs did not exceed.
    p50, p99 = (int(times[-(-len(times) * share // 100) - 1]) for share in (50, 99))
    return {
        "job_count": len(rows),
        "solved_count": pc.sum(pc.equal(rows.column("status"), str(Status.SOLVED))).as_py(),
        "kernel_ns_p50": p50,
        "kernel_ns_p99": p99,
        "kernel_ns_max": int(times[-1]),
        "kernel_ns_total": int(times.sum()),
        "states_total": pc.sum(rows.column("states")).as_py(),
    }

"""Solve one chunk: from its row group in the manifest to its part file."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import PARTS, UNASKED
from nightgrid.archive.words.binding import game_of
from nightgrid.archive.words.dictionaries import MissingDictionaryError
from nightgrid.solvers.algebra import (
    Ask,
    Budget,
    Game,
    Outcome,
    Status,
    canonical_json,
)
from nightgrid.solvers.errors import (
    InvalidPuzzleError,
    NightgridError,
    PermanentError,
    RefusalError,
)
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.workers.chunks.count_batch import count_batch
from nightgrid.workers.chunks.few_solutions import Few
from nightgrid.workers.chunks.listing import list_row
from nightgrid.workers.chunks.result_rows import (
    Row,
    heads_of,
    outcome_row,
    result_row,
)
from nightgrid.workers.chunks.stage_part import carry, kept_tables
from nightgrid.workers.figures import note_rows
from nightgrid.workers.logs import bind
from nightgrid.workers.runs.finish import path_key
from nightgrid.workers.runs.frontier import drop_frontiers
from nightgrid.workers.runs.gathering import SPLIT
from nightgrid.workers.runs.listed import listed_part
from nightgrid.workers.runs.listed_files import tidy_files
from nightgrid.workers.runs.manifest import ChunkRef, Run, open_run, read_done
from nightgrid.workers.runs.notes import (
    drops_states,
    is_cancelled,
    read_attempts,
    read_start,
    write_start,
)
from nightgrid.workers.runs.stages import first_stage, stage_part
from nightgrid.workers.settings import Settings
from nightgrid.workers.stopping import Watcher, run_look, watching
from nightgrid.workers.tracing import span

AGAIN = "[null]"
"""Children of a row that only needs a chunk of its own: the same job or part once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkReport:
    """What became of a chunk."""

    ref: ChunkRef
    rows: int
    state: str
    """`solved`: worked now. `done`: its part was there already. `stale`: not wanted any more."""


def solve_chunk(
    lake: Lake, ref: ChunkRef, settings: Settings, worker: str, watcher: Watcher | None = None
) -> ChunkReport:
    """Solve every row of a chunk and write its part, unless another execution was faster.

    What comes back split depends on time, so the first part stands: a driver may have read it.
    `worker` is noted in the lake before the work begins; the watcher stops it when its run is
    cancelled meanwhile, and then there is no part. Raises TransientError when the lake
    fails, RefusalError when this process cannot work the run (it is not in its lake, which it
    cannot write, or of another solver version, or words are missing), and whatever a solver raises
    that is not about one puzzle. What is worked stays bound to lines of the log.
    """
    bind(run=ref.run_id, chunk=ref.name)
    with watching(watcher, ref.run_id, run_look(lake, ref.run_id)) as stop:
        try:
            return _worked(lake, ref, settings, worker, stop)
        except RefusalError:
            _take_note_back(lake, ref, worker)
            raise
        except Exception:
            if stop is None or stop.reason_code is None:
                raise
            # What a search raises that was stopped says nothing of the puzzle.
            return _stopped(lake, ref, worker)


def _name_work(game: Game[Any, Any], rows: pa.Table) -> None:
    """Let every line of the log say what is worked: the game, and the job of a chunk of one row."""
    bind(game=game.name)
    if rows.num_rows == 1:
        bind(job=rows.column("job_id")[0].as_py())
        with suppress(PermanentError):
            bind(puzzle=game.puzzle_id(game.from_arrays(arrays_of(rows), 0)))


def _take_note_back(lake: Lake, ref: ChunkRef, worker: str) -> None:
    """Delete the note of a worker that is not at work: it would count as a death."""
    with suppress(NightgridError):
        start = read_start(lake, ref)
        if start is not None and start.worker == worker:
            lake.delete(ref.started_path, durable=False)


def _stopped(lake: Lake, ref: ChunkRef, worker: str) -> ChunkReport:
    if drops_states(lake, ref.run_id):
        drop_frontiers(lake, ref.run_id, [ref.place])
    _take_note_back(lake, ref, worker)
    return ChunkReport(ref=ref, rows=0, state="stale")


def _worked(
    lake: Lake, ref: ChunkRef, settings: Settings, worker: str, stop: Stop | None
) -> ChunkReport:
    with refusing():
        state = _superseded(lake, ref)
        if state is not None:
            return ChunkReport(ref=ref, rows=0, state=state)
        head = open_run_head(lake, ref.run_id)
        run = replace(head, budget=replace(head.budget, stop=stop))
        rows = lake.read_row_groups(ref.manifest_path, [ref.chunk], without=UNASKED)
        game = _planned_for(game_of(lake, run.question), run)
        _name_work(game, rows)
        write_start(lake, ref, worker, time.time())
    stage = stage_part(rows.column("part")[0].as_py())
    if stage is None:
        kept_tables.drop()
        kernel = span("kernel", game=game.name, rows=rows.num_rows)
        with refusing(MissingDictionaryError), kernel:
            if run.question.ask.kind == "all" and rows.num_rows == 1:
                part = list_solutions(lake, game, run, rows, settings)
            else:
                part = solve_rows(game, run, rows, settings)
    else:
        with refusing(), span("kernel", game=game.name, rows=rows.num_rows, staged=True):
            part = carry(lake, ref, run, game, rows, stage)
        if drops_states(lake, ref.run_id):
            # The process that cancelled the run has deleted all states but these.
            drop_frontiers(lake, ref.run_id, [ref.place])
            return ChunkReport(ref=ref, rows=0, state="stale")
    if part is None:
        return ChunkReport(ref=ref, rows=0, state="done")
    if run.budget.stopped is not None:
        return _stopped(lake, ref, worker)
    with refusing():
        with span("file", rows=rows.num_rows):
            created = lake.create_table(ref.result_path, part)
        if created:
            _note_figures(game.name, part)
        if not created and read_done(lake, ref.run_id) is not None:
            # Too late for any process to take on what this one has left, or to delete it.
            if stage is not None:
                drop_frontiers(lake, ref.run_id, [ref.place])
            if run.question.ask.kind == "all" and rows.num_rows == 1:
                tidy_files(lake, ref.run_id, part.column("job_id")[0].as_py())
    return ChunkReport(ref=ref, rows=rows.num_rows, state="solved" if created else "done")


def _note_figures(game: str, part: pa.Table) -> None:
    counted = pc.value_counts(part.column("status")).to_pylist()
    statuses = {each["values"]: each["counts"] for each in counted}
    costs = {name: pc.sum(part.column(name)).as_py() or 0 for name in ("states", "kernel_ns")}
    note_rows(game, statuses, **costs)


@contextmanager
def refusing(fault: type[PermanentError] = PermanentError) -> Iterator[None]:
    """Say of a fault around a puzzle that this process cannot work: it is none of the puzzle's.

    Raises RefusalError for it.
    """
    try:
        yield
    except fault as error:
        raise RefusalError(str(error)) from error


def _superseded(lake: Lake, ref: ChunkRef) -> str | None:
    """Tell why a chunk needs no work: a message may come twice, or long after its time."""
    if lake.exists(ref.result_path) or read_done(lake, ref.run_id) is not None:
        return "done"
    if read_attempts(lake, ref).attempt > ref.attempt or is_cancelled(lake, ref.run_id):
        return "stale"
    return None


@lru_cache(maxsize=64)
def open_run_head(lake: Lake, run_id: str) -> Run:
    """Open a run once per process: what it asks never changes (its segments may)."""
    return open_run(lake, run_id)


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Rows to be solved, also as columns, within a budget for each."""

    game: Game[Any, Any]
    run: Run
    rows: pa.Table
    arrays: dict[str, npt.NDArray[Any]]
    budget: Budget

    def puzzle_and_part(self, row: int) -> tuple[Any, Any]:
        """Make the puzzle of a row, and read which part of it is to be solved."""
        part = self.rows.column("part")[row].as_py()
        return self.game.from_arrays(self.arrays, row), json.loads(part) if part else None


def solve_rows(game: Game[Any, Any], run: Run, rows: pa.Table, settings: Settings) -> pa.Table:
    """Answer the run's ask for manifest rows; return them as PARTS, in the same order.

    A chunk of many gives each row a small budget, or more where the game expects that rows take
    longer; a row over it comes back `split` into itself, to get a chunk of its own with the run's
    budget. A chunk of one that is over budget comes back split into parts, if the game can divide
    it.
    """
    many, ask, arrays = rows.num_rows > 1, run.question.ask, arrays_of(rows)
    budget, step = run.budget, 1
    if many:
        small, step = settings.batch_share(float(game.cost_s(arrays, ask).mean()))
        budget = _smaller(small, run.budget)
    chunk = _Chunk(game, run, rows, arrays, budget)
    slices = _slices(rows.num_rows, step, settings.batch_chunk_seconds, budget)
    whole = not any(rows.column("part").to_pylist())
    if ask.kind == "count" and whole:
        solved = count_batch(game, ask, rows, arrays, budget, slices)
    else:
        solved = _one_by_one(chunk, slices, _answer_of(chunk, settings))
    if solved.num_rows < rows.num_rows:
        solved = pa.concat_tables([solved, _unworked(rows.slice(solved.num_rows))])
    return _promote(solved) if many else _divide(chunk, solved, settings)


def list_solutions(
    lake: Lake, game: Game[Any, Any], run: Run, rows: pa.Table, settings: Settings
) -> pa.Table:
    """Answer `all` for the one row of a chunk; return its PARTS.

    Many solutions are in files of the lake when this returns, or the row comes back split.
    """
    (head,) = heads_of(rows)
    chunk = _Chunk(game, run, rows, arrays_of(rows), run.budget)
    ranks = listed_part(rows.column("part")[0].as_py())

    def answer() -> Row:
        puzzle, part = chunk.puzzle_and_part(0)
        return list_row(lake, run, game, head, puzzle, ranks or part, settings)

    row = _sound(game, run.question.ask, head, answer)
    solved = pa.Table.from_pylist([row], PARTS)
    return solved if ranks else _divide(chunk, solved, settings)


def _planned_for(game: Game[Any, Any], run: Run) -> Game[Any, Any]:
    planned = run.question
    if game.solver_version != planned.solver_version:
        raise RefusalError(
            f"run {run.run_id} was planned for {planned.game} solver {planned.solver_version}, "
            f"this worker has {game.solver_version}"
        )
    return game


def _smaller(a: Budget, b: Budget) -> Budget:
    return Budget(
        nodes=min(a.nodes, b.nodes),
        table_bytes=min(a.table_bytes, b.table_bytes),
        seconds=min(a.seconds, b.seconds),
        stop=b.stop,
    )


def _slices(rows: int, step: int, seconds: float, budget: Budget) -> Iterator[tuple[int, int]]:
    """Yield where slices of a chunk begin and end, until the chunk has used up its time."""
    deadline = time.monotonic() + seconds
    for start in range(0, rows, step):
        if start and (time.monotonic() > deadline or budget.stopped is not None):
            return
        yield start, min(start + step, rows)


def _one_by_one(
    chunk: _Chunk, slices: Iterator[tuple[int, int]], answer: Callable[[int, Row], Row]
) -> pa.Table:
    """Answer rows one after the other: for asks with solutions, and for parts of jobs."""
    heads, ask = heads_of(chunk.rows), chunk.run.question.ask
    rows = [
        _sound(chunk.game, ask, heads[i], partial(answer, i, heads[i]))
        for start, stop in slices
        for i in range(start, stop)
    ]
    return pa.Table.from_pylist(rows, PARTS)


def _sound(game: Game[Any, Any], ask: Ask, head: Row, answer: Callable[[], Row]) -> Row:
    """Answer a row; say of a board that the game does not take that it is invalid."""
    try:
        return answer()
    except MissingDictionaryError as error:
        # What the lake lacks is no fault of the board.
        raise RefusalError(str(error)) from error
    except PermanentError as error:
        return outcome_row(game, ask, head, invalid_outcome(error))


def _answer_of(chunk: _Chunk, settings: Settings) -> Callable[[int, Row], Row]:
    game, ask = chunk.game, chunk.run.question.ask
    few = Few(game, ask.limit, chunk.budget, settings)

    def answer(row: int, head: Row) -> Row:
        puzzle, part = chunk.puzzle_and_part(row)
        if ask.kind == "all":
            return few.row(head, puzzle, part)
        return outcome_row(game, ask, head, game.solve(puzzle, ask, part, chunk.budget))

    return answer


def invalid_outcome(error: PermanentError) -> Outcome[Any]:
    """Make the outcome of a puzzle that a game does not take."""
    broken = isinstance(error, InvalidPuzzleError)
    code = ReasonCode.INVALID_PUZZLE if broken else ReasonCode.REFUSED
    return Outcome(status=Status.INVALID, reason_code=code, reason=str(error))


def _unworked(rows: pa.Table) -> pa.Table:
    deferred = Reason(code=ReasonCode.DEFERRED)
    found = [result_row(head, SPLIT, deferred, children=AGAIN) for head in heads_of(rows)]
    return pa.Table.from_pylist(found, PARTS)


def _promote(solved: pa.Table) -> pa.Table:
    """Send every row that is over its small budget back for a chunk of its own."""
    over = pc.equal(solved.column("status"), str(Status.OVER_BUDGET))
    if not pc.any(over).as_py():
        return solved
    for name, value in (("status", SPLIT), ("children", AGAIN)):
        column = pc.if_else(over, value, solved.column(name))
        solved = solved.set_column(PARTS.get_field_index(name), PARTS.field(name), column)
    return solved


def _divide(chunk: _Chunk, solved: pa.Table, settings: Settings) -> pa.Table:
    """Let the one row of a chunk that is over budget go on in parts, if it can.

    A count goes on by stages, if the game has layers for the board; else it is divided.
    """
    row = solved.to_pylist()[0]
    depth = len(path_key(row["part_path"]))
    if row["status"] != Status.OVER_BUDGET or depth >= settings.split_depth_max:
        return solved
    # A count too large for a result or a board too large for a solver stays so in every part. Of
    # solutions too many to list each part has fewer, and all of them together have as many.
    code = row["reason_code"] and ReasonCode(row["reason_code"])
    if not code or not (code.is_budget or (depth and code is ReasonCode.SOLUTION_BYTES)):
        return solved
    game, run, children = chunk.game, chunk.run, None
    if run.question.ask.kind == "count" and not row["part_path"]:
        puzzle, _ = chunk.puzzle_and_part(0)
        children = first_stage(game, puzzle, run.budget, carry_rows=settings.stage_carry_rows)
    if children is None and settings.split_into ** (depth + 1) <= settings.split_parts_max:
        children = _subtrees(chunk, settings)
    if children is None:
        return solved
    again = {**row, "status": SPLIT, "children": canonical_json(children)}
    return pa.Table.from_pylist([again], PARTS)


def _subtrees(chunk: _Chunk, settings: Settings) -> list[Any] | None:
    try:
        puzzle, part = chunk.puzzle_and_part(0)
        children = chunk.game.split(puzzle, chunk.run.question.ask, part, settings.split_into)
    except MissingDictionaryError:
        raise
    except PermanentError:
        # A board that the game will not divide: what solving it said stands.
        return None
    return children if 1 < len(children) <= settings.split_parts_max else None

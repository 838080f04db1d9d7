"""Solve the rows of a chunk, each within its budget; divide a row that is over it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.arrow_to_numpy import arrays_of
from nightgrid.archive.lake.schemas import PARTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words.dictionaries import MissingDictionaryError
from nightgrid.solvers.algebra import Budget, Outcome, Status
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError, RefusalError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.chunks.listing import Listing
from nightgrid.workers.chunks.result_rows import Row, count_batch, heads_of, outcome_row, result_row
from nightgrid.workers.chunks.solution_texts import take
from nightgrid.workers.freed_memory import trim
from nightgrid.workers.runs.finishing.finish import path_key
from nightgrid.workers.runs.finishing.gathering import SPLIT
from nightgrid.workers.runs.listed import ListedPart, listed_part
from nightgrid.workers.runs.manifest import Run
from nightgrid.workers.runs.staged import first_stage
from nightgrid.workers.settings import Settings

AGAIN = "[null]"
"""Children of a row that needs its own chunk: the same job or part again."""


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Rows to solve, also as columns, with a budget for each."""

    lake: Lake
    game: Game[Any, Any]
    run: Run
    rows: pa.Table
    arrays: dict[str, npt.NDArray[Any]]
    budget: Budget
    settings: Settings

    def puzzle_and_part(self, row: int) -> tuple[Any, Any]:
        """Return the puzzle of a row, and the part of it to solve."""
        text = self.rows.column("part")[row].as_py()
        part = listed_part(text) or (json.loads(text) if text else None)
        return self.game.from_arrays(self.arrays, row), part

    def answer(self, row: int, head: Row, left_bytes: int) -> Row:
        """Solve a row; if it is one of many, its solutions may take `left_bytes`."""
        game, ask, tuning = self.game, self.run.question.ask, self.settings.tuning
        puzzle, part = self.puzzle_and_part(row)
        if ask.kind != "all":
            return outcome_row(game, ask, head, game.solve(puzzle, ask, part, self.budget))
        if self.rows.num_rows == 1:
            return Listing(self.lake, self.run, game, puzzle, head, self.settings).row(part)
        text_bytes = min(tuning.listing_row_bytes, left_bytes)
        taken = take(
            game, puzzle, part, self.budget, limit=ask.limit,
            rows=tuning.listing_rows, text_bytes=text_bytes,
        )  # fmt: skip
        return taken.row(head)

    def answers(self, slices: Iterator[tuple[int, int]]) -> pa.Table:
        """Solve rows one by one; a board that the game rejects becomes `invalid`."""
        heads, left_bytes = heads_of(self.rows), self.settings.tuning.listing_chunk_bytes
        found = []
        for row in (row for start, stop in slices for row in range(start, stop)):
            try:
                answer = self.answer(row, heads[row], left_bytes)
            except MissingDictionaryError as error:
                # Missing words are not the board's fault.
                raise RefusalError(str(error)) from error
            except PermanentError as error:
                ask = self.run.question.ask
                answer = outcome_row(self.game, ask, heads[row], invalid_outcome(error))
            found.append(answer)
            left_bytes -= len(answer["solutions"] or "")
            if self.run.question.ask.kind == "meant":
                # The next board needs new buffers, which would add to these.
                trim()
        return pa.Table.from_pylist(found, PARTS)


def solve_rows(
    lake: Lake, game: Game[Any, Any], run: Run, rows: pa.Table, settings: Settings
) -> pa.Table:
    """Answer the run's question for manifest rows; return PARTS rows in the same order.

    In a chunk of many, each row has a small budget. A row over it comes back `split` into itself,
    to get its own chunk with the run's budget. The row of a chunk of one that is over budget comes
    back split into parts, if the game can divide it. Many solutions of a chunk of one are in files
    when this returns.
    """
    many, ask, arrays = rows.num_rows > 1, run.question.ask, arrays_of(rows)
    budget, step = run.budget, 1
    if many:
        budget, step = share_of_row(budget, settings, float(game.cost_s(arrays, ask).mean()))
    chunk = _Chunk(lake, game, run, rows, arrays, budget, settings)
    slices = slices_in_time(rows.num_rows, step, settings.tuning.batch_chunk_seconds, budget)
    whole = not any(rows.column("part").to_pylist())
    if ask.kind == "count" and whole:
        solved = count_batch(game, ask, rows, arrays, budget, slices)
    else:
        solved = chunk.answers(slices)
    if solved.num_rows < rows.num_rows:
        solved = pa.concat_tables([solved, _unworked(rows.slice(solved.num_rows))])
    return promote(solved) if many else _divide(chunk, solved)


def share_of_row(budget: Budget, settings: Settings, expected_s: float) -> tuple[Budget, int]:
    """Return the budget of one row of a chunk of many, and the rows of a slice.

    If the game expects rows to take long on average, a row may spend more than `batch_row_seconds`;
    slices have fewer rows then, so that they take no longer.
    """
    tuning = settings.tuning
    wanted_s = tuning.batch_row_cost_factor * expected_s
    seconds = max(tuning.batch_row_seconds, min(wanted_s, settings.batch_slice_seconds))
    more = seconds / tuning.batch_row_seconds
    share = replace(
        budget,
        nodes=min(int(tuning.batch_row_nodes * more), budget.nodes),
        table_bytes=min(tuning.batch_row_table_bytes, budget.table_bytes),
        seconds=min(seconds, budget.seconds),
    )
    return share, max(1, int(tuning.batch_slice_rows / more))


def as_small(run: Run, settings: Settings) -> tuple[Run, Settings]:
    """Return a run with the budget of a small on-demand job, and settings that divide it.

    Over that budget, the job is divided among the processes that were idle when it was planned, or
    comes back whole.
    """
    tuning = replace(settings.tuning, split_into=run.divide_into)
    seconds = settings.ondemand_seconds
    if run.divide_into > 1:
        seconds = min(seconds, tuning.ondemand_look_seconds)
    budget = replace(
        run.budget,
        table_bytes=min(run.budget.table_bytes, settings.ondemand_table_bytes),
        seconds=min(run.budget.seconds, seconds),
    )
    return replace(run, budget=budget), settings.model_copy(update={"tuning": tuning})


def slices_in_time(
    rows: int, step: int, seconds: float, budget: Budget
) -> Iterator[tuple[int, int]]:
    """Yield the start and end of slices of `step` rows until `seconds` have passed.

    Yields at least one slice, and no more once the budget's stop flag is set.
    """
    deadline = time.monotonic() + seconds
    for start in range(0, rows, step):
        if start and (time.monotonic() > deadline or budget.stopped is not None):
            return
        yield start, min(start + step, rows)


def invalid_outcome(error: PermanentError) -> Outcome[Any]:
    """Return the outcome of a puzzle that a game rejects."""
    broken = isinstance(error, InvalidPuzzleError)
    code = ReasonCode.INVALID_PUZZLE if broken else ReasonCode.REFUSED
    return Outcome(status=Status.INVALID, reason_code=code, reason=str(error))


def _unworked(rows: pa.Table) -> pa.Table:
    deferred = Reason(code=ReasonCode.DEFERRED)
    found = [result_row(head, SPLIT, deferred, children=AGAIN) for head in heads_of(rows)]
    return pa.Table.from_pylist(found, PARTS)


def promote(solved: pa.Table) -> pa.Table:
    """Mark each row over its small budget for its own chunk."""
    over = pc.equal(solved.column("status"), str(Status.OVER_BUDGET))
    if not pc.any(over).as_py():
        return solved
    for name, value in (("status", SPLIT), ("children", AGAIN)):
        column = pc.if_else(over, value, solved.column(name))
        solved = solved.set_column(PARTS.get_field_index(name), PARTS.field(name), column)
    return solved


def _divide(chunk: _Chunk, solved: pa.Table) -> pa.Table:
    """Divide the row of a chunk of one that is over budget, if possible.

    A count continues in stages if the game has layers for the board.
    """
    row = solved.to_pylist()[0]
    depth, tuning = len(path_key(row["part_path"])), chunk.settings.tuning
    if chunk.run.divide_into > 1:
        # The first division, among idle processes, does not count.
        depth -= 1
    is_divisible = tuning.split_into > 1 and depth < tuning.split_depth_max
    if row["status"] != Status.OVER_BUDGET or not is_divisible:
        return solved
    # If a count is too large for a result, or a board too large for a solver, so is every part. A
    # part has fewer solutions to list than the whole.
    code = row["reason_code"] and ReasonCode(row["reason_code"])
    if not code or not (code.is_budget or (depth and code is ReasonCode.SOLUTION_BYTES)):
        return solved
    puzzle, part = chunk.puzzle_and_part(0)
    if isinstance(part, ListedPart):
        return solved
    children: list[Any] | None = None
    if chunk.run.question.ask.kind == "count" and not row["part_path"]:
        carry_rows = tuning.stage_carry_rows
        children = first_stage(chunk.game, puzzle, chunk.run.budget, carry_rows=carry_rows)
    if children is None:
        try:
            ask = chunk.run.question.ask
            children = chunk.game.split(puzzle, ask, part, tuning.split_into)
        except MissingDictionaryError:
            raise
        except PermanentError:
            # The game cannot divide the board: the row stays over budget.
            return solved
        if len(children) < 2:
            return solved
    again = {**row, "status": SPLIT, "children": canonical_json(children)}
    return pa.Table.from_pylist([again], PARTS)

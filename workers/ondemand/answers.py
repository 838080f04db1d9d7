"""Answers of solves on demand as rows of the lake: one by one, or many in one file."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS, SOLUTIONS
from nightgrid.archive.merging.merge import put_merged
from nightgrid.archive.results.files import (
    ONDEMAND_PREFIX,
    RESULT_FILES,
    SOLUTION_FILES,
    put_rows,
    result_path,
    solution_path,
)
from nightgrid.archive.results.statuses import FINAL
from nightgrid.solvers.algebra import Outcome, Statistics
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import Question
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.runs.finishing.finish import solution_rows

_STATISTICS = tuple(field.name for field in fields(Statistics))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The rows of one answer."""

    row: Mapping[str, Any]
    """A row of the table `results`."""
    solutions: Sequence[Mapping[str, Any]] = ()
    """Rows of the table `solutions`, in canonical order."""

    @property
    def job_id(self) -> str:
        """Which job it answers."""
        return str(self.row["job_id"])


def answer_of(
    game: Game[Any, Any],
    puzzle: Any,
    question: Question,
    budget: JobBudget,
    outcome: Outcome[Any],
) -> Answer:
    """Write an outcome as rows."""
    puzzle_id = game.puzzle_id(puzzle)
    job = question.job_id(game.subject(puzzle))
    run_id = ONDEMAND_PREFIX + job
    if outcome.status not in FINAL:
        # It may be asked again, and files never change.
        run_id = f"{run_id}-{uuid.uuid4().hex[:8]}"
    values = map(game.solution_to_json, outcome.solutions)
    row = {
        "job_id": job,
        "puzzle_id": puzzle_id,
        **question.to_json(),
        "status": str(outcome.status),
        "count": outcome.count,
        "value": outcome.value,
        "reason_code": outcome.reason_code,
        "reason": outcome.reason,
        **{name: getattr(outcome.statistics, name) for name in _STATISTICS},
        "parts": 1,
        "run_id": run_id,
        **budget.to_row(question.ask),
    }
    solutions = tuple(solution_rows(question, run_id, job, puzzle_id, values))
    return Answer(row=row, solutions=solutions)


def put_answer(lake: Lake, answer: Answer) -> None:
    """File an answer: solutions first, then the result that says it is done."""
    run_id = answer.row["run_id"]
    if answer.solutions:
        table = pa.Table.from_pylist(list(answer.solutions), SOLUTIONS)
        put_rows(lake, solution_path(run_id), table)
    put_rows(lake, result_path(run_id), pa.Table.from_pylist([answer.row], RESULTS))


def put_answers(lake: Lake, answers: Sequence[Answer]) -> None:
    """File answers together, which takes no more writes to the disk than one does."""
    if len(answers) == 1:
        put_answer(lake, answers[0])
        return
    solutions = [row for answer in answers for row in answer.solutions]
    if solutions:
        table = pa.Table.from_pylist(solutions, SOLUTIONS)
        put_merged(lake, SOLUTION_FILES, table)
    rows = pa.Table.from_pylist([answer.row for answer in answers], RESULTS)
    put_merged(lake, RESULT_FILES, rows)

"""Write answers outside of runs as rows of the lake: small boards, and jobs over budget."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from nightgrid.archive.lake.schemas import RESULTS, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.merge import put_merged
from nightgrid.archive.results.files import ONDEMAND_PREFIX, RESULT_FILES, SOLUTION_FILES
from nightgrid.archive.results.statuses import FINAL
from nightgrid.solvers.algebra import Outcome
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.question import Question
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.runs.finishing.finish import solution_rows

Answer = tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]
"""A row of the table `results`, and rows of the table `solutions` in canonical order."""


def answer_of(
    question: Question,
    job_id: str,
    puzzle_id: str,
    puzzle: Mapping[str, Any],
    budget: JobBudget,
    outcome: Outcome[Any],
    solutions: Iterable[Any] = (),
) -> Answer:
    """Return an outcome as rows, with its puzzle; `solutions` are its solutions as JSON values."""
    run_id = ONDEMAND_PREFIX + job_id
    if outcome.status not in FINAL:
        # It may be asked again, and files never change.
        run_id = f"{run_id}-{uuid.uuid4().hex[:8]}"
    row = {
        "job_id": job_id,
        "puzzle_id": puzzle_id,
        **question.to_json(),
        "status": str(outcome.status),
        "count": outcome.count,
        "value": outcome.value,
        "reason_code": outcome.reason_code,
        "reason": outcome.reason,
        **asdict(outcome.statistics),
        "parts": 1,
        "puzzle": canonical_json(puzzle),
        "run_id": run_id,
        **budget.to_row(question.ask),
    }
    return row, list(solution_rows(question, run_id, job_id, puzzle_id, solutions))


def put_answers(lake: Lake, answers: Sequence[Answer]) -> None:
    """Write answers together: solutions first, then the results, which mark them as done."""
    solutions = [row for _, rows in answers for row in rows]
    if solutions:
        put_merged(lake, SOLUTION_FILES, pa.Table.from_pylist(solutions, SOLUTIONS))
    rows = pa.Table.from_pylist([row for row, _ in answers], RESULTS)
    put_merged(lake, RESULT_FILES, rows)

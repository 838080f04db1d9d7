"""Results in the lake: look up the answers to given questions."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.conforming import conform, with_codes
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS, SOLUTIONS
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.question import Question

RESULTS_FOLDER = "results"
SOLUTIONS_FOLDER = "solutions"
ONDEMAND_PREFIX = "ondemand-"
"""Begins the names of files with the answer to one submitted job, after which they are
called."""

RANKED_STATUSES = [
    Status.SOLVED.value,
    Status.UNSOLVABLE.value,
    Status.INVALID.value,
    Status.OVER_BUDGET.value,
    Status.POISON.value,
]
"""When a job ended several times (a larger budget, another machine), the first of these counts."""


def find_results(lake: Lake, job_ids: Collection[str], *, of_runs: bool = False) -> pa.Table:
    """Look up jobs: one row for each that has a result, sorted by job_id.

    Files are sorted by job_id, so that a look-up of few jobs reads few row groups. With `of_runs`
    answers to submitted jobs are left out: there may be very many, each in a file that its job
    names.
    """
    without = ONDEMAND_PREFIX if of_runs else ""
    wanted = pc.field("job_id").isin(pa.array(sorted(job_ids), pa.string()))
    return _scan(lake, wanted, without=without)


def find_results_of(
    lake: Lake, question: Question, columns: Sequence[str] = RESULTS.names
) -> pa.Table:
    """Look up all jobs that ask a question, sorted by job_id.

    `columns` must have job_id, status and run_id among them.
    """
    return _scan(lake, answers_to(question), columns)


def answers_to(question: Question) -> pc.Expression:
    """Build the condition that a result answers a question."""
    asked = (pc.field(name) == text for name, text in question.to_json().items())
    return reduce(and_, asked)


def find_results_of_puzzles(
    lake: Lake, puzzle_ids: Collection[str], columns: Sequence[str] = RESULTS.names
) -> pa.Table:
    """Look up all jobs about puzzles, whatever they ask, sorted by job_id.

    `columns` must have job_id, status and run_id among them.
    """
    wanted = pc.field("puzzle_id").isin(pa.array(sorted(puzzle_ids), pa.string()))
    return _scan(lake, wanted, columns)


def solutions_of(lake: Lake, runs: Mapping[str, str]) -> dict[str, list[str]]:
    """Read the solutions of many jobs, as JSON texts in canonical order; `runs` says whose.

    Jobs without solutions are left out.
    """
    condition = pc.field("job_id").isin(pa.array(sorted(runs), pa.string()))
    with lake.reading(SOLUTIONS_FOLDER):
        table = lake.dataset(SOLUTIONS_FOLDER, SOLUTIONS).to_table(filter=condition)
    table = table.sort_by([("job_id", "ascending"), ("rank", "ascending")])
    found: dict[str, list[str]] = {}
    columns = (table.column(name).to_pylist() for name in ("job_id", "run_id", "solution"))
    for job, run_id, solution in zip(*columns, strict=True):
        if runs[job] == run_id:
            found.setdefault(job, []).append(solution)
    return found


def read_solutions(lake: Lake, job_id: str, *, run_id: str | None = None) -> list[Any]:
    """Read the solutions of a job as JSON values, in canonical order.

    When several runs worked the job, those of `run_id` are read, or else of the first by name.
    """
    condition = pc.field("job_id") == job_id
    path = SOLUTIONS_FOLDER
    if run_id is not None:
        condition &= pc.field("run_id") == run_id
        if lake.exists(f"{SOLUTIONS_FOLDER}/{run_id}.parquet"):
            path = f"{SOLUTIONS_FOLDER}/{run_id}.parquet"
    with lake.reading(path):
        table = lake.dataset(path, SOLUTIONS).to_table(filter=condition)
    table = table.sort_by([("run_id", "ascending"), ("rank", "ascending")])
    if len(table):
        table = table.filter(pc.equal(table.column("run_id"), table.column("run_id")[0]))
    return [json.loads(text) for text in table.column("solution").to_pylist()]


def _scan(
    lake: Lake,
    condition: pc.Expression,
    columns: Sequence[str] = RESULTS.names,
    *,
    without: str = "",
) -> pa.Table:
    with lake.reading(RESULTS_FOLDER):
        files = lake.dataset(RESULTS_FOLDER, RESULTS, without=without)
        found = files.to_table(list(columns), filter=condition)
    fields = [RESULTS.field(name) for name in columns]
    found = with_codes(found)
    return _one_per_job(conform(found, pa.schema(fields, metadata=RESULTS.metadata)))


def _one_per_job(table: pa.Table) -> pa.Table:
    if not len(table):
        return table
    order = pa.array(RANKED_STATUSES, pa.string())
    ranked = table.append_column("rank", pc.index_in(table.column("status"), value_set=order))
    # Of several that are over budget, the one with the most time tells most.
    most = [("budget_seconds", "descending")] if "budget_seconds" in ranked.column_names else []
    ranked = ranked.sort_by(
        [("job_id", "ascending"), ("rank", "ascending"), *most, ("run_id", "ascending")]
    )
    ids = ranked.column("job_id").to_numpy()
    first = np.concatenate([[True], ids[1:] != ids[:-1]])
    return ranked.filter(pa.array(first)).drop_columns(["rank"])

"""Results in the lake: look up the answers to given questions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.conforming import select
from nightgrid.archive.lake.schemas import BUDGET_COLUMNS, RESULTS, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.merging.files import read_each, rows_of_keys
from nightgrid.archive.merging.merge import without_repeats
from nightgrid.archive.results.files import (
    RESULT_FILES,
    SOLUTION_FILES,
    rows_where,
)
from nightgrid.archive.results.solution_files import files_of
from nightgrid.solvers.algebra import Ask, Status
from nightgrid.solvers.question import QUESTION_FIELDS, Question

RANKED_STATUSES = [
    Status.SOLVED.value,
    Status.UNSOLVABLE.value,
    Status.OVER_BUDGET.value,
    Status.INVALID.value,
    Status.POISON.value,
]
"""For a job that ended several times (a larger budget, another machine), the first of these counts.

A job that was solved breaks no rule: over budget counts even if an earlier version called it
invalid.
"""
_SPENT = sorted(BUDGET_COLUMNS, key=lambda name: name != "budget_seconds")


def find_results(lake: Lake, job_ids: Collection[str]) -> pa.Table:
    """Look up jobs: one row for each that has a result, sorted by job_id.

    Rows are sorted by job_id, so that a look-up of few jobs reads few row groups.
    """
    found = rows_of_keys(lake, RESULT_FILES, job_ids)
    return once_a_job(pa.concat_tables([RESULTS.empty_table(), *found])).sort_by("job_id")


def read_results(lake: Lake) -> pa.Table:
    """Read all results: a row for each job and run that ended it."""
    tables = scan_results(lake, RESULTS.names)
    return without_repeats(RESULT_FILES, pa.concat_tables([RESULTS.empty_table(), *tables]))


def scan_results(lake: Lake, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read columns of all results, batch by batch; some rows may repeat."""
    return read_each(lake, RESULT_FILES, lambda path: lake.scan_file(path, RESULTS, columns))


def find_results_of(
    lake: Lake, question: Question, columns: Sequence[str] = RESULTS.names
) -> pa.Table:
    """Look up all jobs that ask a question, sorted by job_id.

    `columns` must have job_id, status and run_id among them.
    """
    return _scan(lake, answers_to(question), columns, QUESTION_FIELDS)


def answers_to(question: Question) -> pc.Expression:
    """Return the condition that a result answers a question."""
    asked = (pc.field(name) == text for name, text in question.to_json().items())
    return reduce(and_, asked)


def find_results_of_puzzles(
    lake: Lake, puzzle_ids: Collection[str], columns: Sequence[str] = RESULTS.names
) -> pa.Table:
    """Look up all jobs about puzzles, whatever they ask, sorted by job_id.

    `columns` must have job_id, status and run_id among them.
    """
    wanted = pc.field("puzzle_id").isin(pa.array(sorted(puzzle_ids), pa.string()))
    return _scan(lake, wanted, columns, ["puzzle_id"])


def find_submitted(lake: Lake, puzzle_id: str) -> dict[str, Any] | None:
    """Find a puzzle among those of jobs on demand: its `game`, and the JSON text `puzzle`."""
    is_it = (pc.field("puzzle_id") == puzzle_id) & pc.field("puzzle").is_valid()
    columns = ["game", "puzzle"]
    for table in rows_where(lake, RESULT_FILES, is_it, columns, ["puzzle_id"]):
        for row in table.to_pylist():
            return dict(row)
    return None


def solutions_of(lake: Lake, runs: Mapping[str, str]) -> dict[str, list[str]]:
    """Read the solutions of the jobs in `runs`, as JSON texts in canonical order.

    Jobs without solutions are left out.
    """
    tables = rows_of_keys(lake, SOLUTION_FILES, runs)
    table = without_repeats(SOLUTION_FILES, pa.concat_tables([SOLUTIONS.empty_table(), *tables]))
    found: dict[str, list[str]] = {}
    columns = (table.column(name).to_pylist() for name in ("job_id", "run_id", "solution"))
    for job, run_id, solution in zip(*columns, strict=True):
        if runs[job] == run_id:
            found.setdefault(job, []).append(solution)
    return found


def solution_tables(lake: Lake, row: Mapping[str, Any], first: int = 0) -> Iterator[pa.Table]:
    """Read the solutions of a job's result row, in canonical order, some thousand at a time.

    Starts at the rank `first`. Raises PermanentError if some of the job's solutions are missing.
    """
    if not row["count"] or row["ask"] == str(Ask(kind="count")):
        return
    files = files_of(lake, row["run_id"], row["job_id"], row["count"])
    tables: Iterable[pa.Table]
    if files:
        files = [file for file in files if file.stop > first]
        skip = first - files[0].first if files else 0
        tables = (
            table
            for file in files
            for table in lake.scan_file(file.path, SOLUTIONS, SOLUTIONS.names)
        )
    else:
        found = rows_of_keys(lake, SOLUTION_FILES, [row["job_id"]])
        table = without_repeats(SOLUTION_FILES, pa.concat_tables([SOLUTIONS.empty_table(), *found]))
        table = table.filter(pc.equal(table.column("run_id"), row["run_id"]))
        skip, tables = first, [table]
    for table in tables:
        yield table.slice(skip)
        skip = max(0, skip - len(table))


def _scan(
    lake: Lake, condition: pc.Expression, columns: Sequence[str], named: Sequence[str]
) -> pa.Table:
    schema = select(RESULTS, columns)
    found = rows_where(lake, RESULT_FILES, condition, columns, named)
    return once_a_job(pa.concat_tables([schema.empty_table(), *found])).sort_by("job_id")


def once_a_job(table: pa.Table) -> pa.Table:
    """Keep the row that counts of each job, in any order; considers budgets if present.

    Few jobs end several times: rows of the others are not sorted.
    """
    ids = table.column("job_id")
    if len(pc.unique(ids)) == len(table):  # `count_distinct` takes twice as long
        return table
    told = pc.value_counts(ids)
    several = told.field("values").filter(pc.greater(told.field("counts"), 1))
    is_several = pc.is_in(ids, value_set=several)
    order = pa.array(RANKED_STATUSES, pa.string())
    ranked = table.filter(is_several)
    ranked = ranked.append_column("rank", pc.index_in(ranked.column("status"), value_set=order))
    # Among several over budget, the largest budget says most; seconds come first.
    most = [(name, "descending") for name in _SPENT if name in ranked.column_names]
    ranked = ranked.sort_by(
        [("job_id", "ascending"), ("rank", "ascending"), *most, ("run_id", "ascending")]
    )
    ids = ranked.column("job_id").to_numpy()
    first = np.concatenate([[True], ids[1:] != ids[:-1]])
    once = table.filter(pc.invert(is_several))
    return pa.concat_tables([once, ranked.filter(pa.array(first)).drop_columns(["rank"])])

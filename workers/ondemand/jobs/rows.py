"""The result rows of jobs, and whether a row answers a submission or ends it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import find_results
from nightgrid.archive.results.statuses import FINAL
from nightgrid.solvers.algebra import Budget, Status
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.record import BadRecordError, Record
from nightgrid.workers.ondemand.record_files import delete_record, read_record, write_record
from nightgrid.workers.settings import Settings


def find_row(lake: Lake, job_id: str) -> dict[str, Any] | None:
    """Read the result row of a job, of a task or of a run, or None."""
    return find_rows(lake, [job_id]).get(job_id)


def find_rows(lake: Lake, job_ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Read the result rows of jobs that have one, by job, in one look at the lake."""
    if not job_ids:
        return {}
    rows = find_results(lake, job_ids).to_pylist()
    for row in rows:
        row["count"] = None if row["count"] is None else int(row["count"])
    return {row["job_id"]: row for row in rows}


def is_answered(lake: Lake, job_id: str, settings: Settings, budget: Budget | None = None) -> bool:
    """Tell whether the lake has the answer that a submitter with this budget would get."""
    row = find_row(lake, job_id)
    return row is not None and answers(row, JobBudget.of(settings, budget))


def answers(row: Mapping[str, Any], budget: JobBudget) -> bool:
    """Tell whether a result row is what a submitter with this budget would get.

    Over budget is so if the row says that it could spend as much.
    """
    if row["status"] in FINAL:
        return True
    had = JobBudget.of_row(row)
    if row["status"] != Status.OVER_BUDGET or had is None:
        return False
    return had.covers(budget) or not _is_of_budget(row)


def ends(row: Mapping[str, Any], record: Record) -> bool:
    """Tell whether a result row ends a submission.

    It does not if it was there before and said too little, or if it is over a smaller budget.
    """
    if row["status"] in FINAL:
        return True
    if row["run_id"] == record.besides:
        return False
    had = JobBudget.of_row(row)
    is_over = row["status"] == Status.OVER_BUDGET and _is_of_budget(row)
    return not is_over or had is None or had.covers(record.budget)


def _is_of_budget(row: Mapping[str, Any]) -> bool:
    """Tell whether a larger budget may change what a row says."""
    code = row["reason_code"]
    return code is None or code == ReasonCode.SOLUTION_BYTES or ReasonCode(code).is_budget


def close_record(lake: Lake, job_id: str, row: Mapping[str, Any]) -> bool:
    """End a job with its row; tell whether that ends it: its budget may have been raised.

    What is wanted then is sent again by the keeper.
    """
    try:
        record = read_record(lake, job_id)
    except BadRecordError:
        record = None
    if record is None or ends(row, replace(record, besides=None)):
        delete_record(lake, job_id)
        return True
    write_record(lake, replace(record, run_id=None, attempts=0, worker=None, failure=None))
    return False

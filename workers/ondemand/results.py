"""Wait for and read the result rows of on-demand jobs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import find_results
from nightgrid.archive.results.statuses import FINAL
from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.submissions import check_job_id, has_submission, read_ended
from nightgrid.workers.settings import Settings

LEAST_PAUSE_S, MOST_PAUSE_S = 0.01, 0.5
PAUSE_SHARE = 0.25
"""Pause between two checks, as a share of the time waited so far: bounds the relative delay."""


def find_row(lake: Lake, job_id: str) -> dict[str, Any] | None:
    """Read the result row of a job, or None."""
    rows = find_results(lake, [job_id]).to_pylist()
    if not rows:
        return None
    count = rows[0]["count"]
    return {**rows[0], "count": None if count is None else int(count)}


def is_answered(lake: Lake, job_id: str, settings: Settings, budget: Budget | None = None) -> bool:
    """Return whether the lake has the answer that a submission with this budget would get."""
    row = find_row(lake, job_id)
    return row is not None and answers(row, JobBudget.of(settings, budget))


def answers(row: Mapping[str, Any], budget: JobBudget) -> bool:
    """Return whether a result row answers a submission with this budget.

    A row over budget does if that job could spend as much, or if no budget would change it.
    """
    if row["status"] in FINAL:
        return True
    if row["status"] != Status.OVER_BUDGET:
        return False
    code = row["reason_code"]
    is_long = code == ReasonCode.SOLUTION_BYTES
    if not (code is None or is_long or ReasonCode(code).is_budget):
        return True
    *wanted, listed = budget.to_row(Ask.parse(row["ask"])).items()
    # Bytes of solutions count only if they ran out; a night and a count have no totals.
    limits = [*wanted, listed] if is_long else wanted
    return all(row[name] is None or row[name] >= most for name, most in limits)


def result_row(lake: Lake, job_id: str, *, timeout_s: float = 0.0) -> dict[str, Any] | None:
    """Read a job's result row, or None if it does not arrive in time.

    Returns early for a job that ended without an answer. Raises PermanentError for one that was
    never submitted and has no result.
    """
    check_job_id(job_id)
    begun = time.monotonic()
    while has_submission(lake, job_id):
        row = find_row(lake, job_id)
        if row is not None and row["status"] in FINAL:
            return row
        waited_s = time.monotonic() - begun
        if waited_s >= timeout_s:
            return None
        pause_s = min(max(LEAST_PAUSE_S, PAUSE_SHARE * waited_s), MOST_PAUSE_S)
        time.sleep(min(pause_s, timeout_s - waited_s))
    row = find_row(lake, job_id)
    if row is None and read_ended(lake, job_id) is None:
        raise PermanentError(f"job {job_id} was never submitted to {lake.url}")
    return row

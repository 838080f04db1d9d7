"""The results of jobs on demand, waited for and read."""

from __future__ import annotations

import json
import time
from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import solution_tables
from nightgrid.archive.results.statuses import FINAL
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.ondemand.jobs.rows import ends, find_row
from nightgrid.workers.ondemand.jobs.status import status_without_record
from nightgrid.workers.ondemand.record import BadRecordError, check_job_id
from nightgrid.workers.ondemand.record_files import read_record

LEAST_PAUSE_S, MOST_PAUSE_S = 0.01, 0.5
PAUSE_SHARE = 0.25
"""A pause between two looks, as a share of the time that was waited: an answer is seen that much
later than it is there, at most."""


def result(lake: Lake, job_id: str, *, timeout_s: float = 0.0) -> dict[str, Any] | None:
    """Read a job's result row with its solutions, or None if it is not there in time.

    `solutions` is a list of JSON values in canonical order, empty for a count: what has very many
    is better read row by row (`result_row`, nightgrid.archive.results.results.solution_tables).
    Raises PermanentError as `result_row` does.
    """
    row = result_row(lake, job_id, timeout_s=timeout_s)
    if row is None:
        return None
    tables = solution_tables(lake, row)
    texts = (text for table in tables for text in table.column("solution").to_pylist())
    return {**row, "solutions": [json.loads(text) for text in texts]}


def result_row(lake: Lake, job_id: str, *, timeout_s: float = 0.0) -> dict[str, Any] | None:
    """Read a job's result row, or None if it is not there in time.

    A job that ended without an answer is not waited for. Raises PermanentError for one that was
    never submitted and has no result.
    """
    check_job_id(job_id)
    begun = time.monotonic()
    while True:
        row, waits = _find_answer(lake, job_id)
        if row is not None:
            return row
        waited_s = time.monotonic() - begun
        if not waits or waited_s >= timeout_s:
            return None
        pause_s = min(max(LEAST_PAUSE_S, PAUSE_SHARE * waited_s), MOST_PAUSE_S)
        time.sleep(min(pause_s, timeout_s - waited_s))


def _find_answer(lake: Lake, job_id: str) -> tuple[dict[str, Any] | None, bool]:
    """Find a job's answer; without one, tell whether there may be one later.

    Raises PermanentError as `result_row` does.
    """
    row = find_row(lake, job_id)
    if row is not None and row["status"] in FINAL:
        return row, False
    try:
        record = read_record(lake, job_id)
    except BadRecordError:
        return row, False
    if record is not None:
        return (row, False) if row is not None and ends(row, record) else (None, True)
    # It may have ended between the two reads.
    row = find_row(lake, job_id)
    if row is None and status_without_record(lake, job_id).state == "unknown":
        raise PermanentError(f"job {job_id} was never submitted to {lake.url}")
    return row, False

"""Answers: which results make it needless to work a job again."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from archive.lake import Lake
from archive.runfiles import folder, read_json
from archive.tables import RESULTS
from solvers.algebra import Budget, Status

FINAL = pa.array([str(s) for s in (Status.SOLVED, Status.UNSOLVABLE, Status.INVALID)], pa.string())
"""Statuses that no budget changes."""
_COLUMNS = ["job_id", "status", "run_id"]


def final_jobs(lake: Lake, paths: list[str] | None = None) -> pa.Array:
    """Name the jobs with a result that no budget changes; `paths` None reads all results."""
    rows = _rows(lake, paths)
    return _ids(rows.filter(pc.is_in(rows.column("status"), value_set=FINAL)))


def answered_jobs(lake: Lake, budget: Budget, paths: list[str] | None = None) -> pa.Array:
    """Name the jobs that need no work within a budget.

    Over budget and poison count only if the run that said so had at least this budget of nodes,
    table bytes and seconds each; a run whose budget the lake does not know does not count.
    """
    rows = _rows(lake, paths)
    final = pc.is_in(rows.column("status"), value_set=FINAL)
    open_runs = pc.unique(rows.filter(pc.invert(final)).column("run_id")).to_pylist()
    enough = [run_id for run_id in open_runs if _had(lake, run_id, budget)]
    covered = pc.is_in(rows.column("run_id"), value_set=pa.array(enough, pa.string()))
    return _ids(rows.filter(pc.or_(final, covered)))


def _rows(lake: Lake, paths: list[str] | None) -> pa.Table:
    if paths is None:
        return lake.read_table("results", RESULTS, _COLUMNS)
    empty = RESULTS.empty_table().select(_COLUMNS)
    return pa.concat_tables([empty, *(lake.read_table(p, RESULTS, _COLUMNS) for p in paths)])


def _ids(rows: pa.Table) -> pa.Array:
    return rows.column("job_id").combine_chunks()


def _had(lake: Lake, run_id: str, budget: Budget) -> bool:
    plan = read_json(lake, f"{folder(run_id)}/plan.json")
    if plan is None:
        return False
    had = Budget(**plan["budget"])
    return (
        had.nodes >= budget.nodes
        and had.table_bytes >= budget.table_bytes
        and had.seconds >= budget.seconds
    )

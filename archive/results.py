"""Results in the lake: read all of them, or look up the answers to given questions."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from archive.lake import Lake, conform
from archive.tables import RESULTS, SOLUTIONS
from solvers.algebra import Status

RESULTS_FOLDER = "results"
SOLUTIONS_FOLDER = "solutions"

_MOST_TELLING: tuple[Status, ...] = (
    Status.SOLVED,
    Status.UNSOLVABLE,
    Status.INVALID,
    Status.OVER_BUDGET,
    Status.POISON,
)
"""When a job ended several times (a larger budget, another machine), the first of these counts."""


def read_results(lake: Lake, columns: Sequence[str] | None = None) -> pa.Table:
    """Read every result row of every run."""
    return lake.read_table(RESULTS_FOLDER, RESULTS, columns)


def find_results(lake: Lake, job_ids: Collection[str]) -> pa.Table:
    """Look up jobs: one row for each that has a result, sorted by job_id.

    Files are sorted by job_id, so that a look-up of few jobs reads few row groups.
    """
    return _scan(lake, pc.field("job_id").isin(pa.array(sorted(job_ids), pa.string())))


def find_results_of(lake: Lake, *, game: str, ask: str, solver_version: str) -> pa.Table:
    """Look up all jobs of a game with one ask and solver version, sorted by job_id."""
    return _scan(
        lake,
        (pc.field("game") == game)
        & (pc.field("ask") == ask)
        & (pc.field("solver_version") == solver_version),
    )


def read_solutions(
    lake: Lake, job_id: str, *, run_id: str | None = None, limit: int | None = None
) -> list[Any]:
    """Read the solutions of a job as JSON values, in canonical order.

    When several runs worked the job, those of `run_id` are read, or else of the first by name.
    """
    condition = pc.field("job_id") == job_id
    if run_id is not None:
        condition &= pc.field("run_id") == run_id
    table = lake.dataset(SOLUTIONS_FOLDER, SOLUTIONS).to_table(filter=condition)
    table = table.sort_by([("run_id", "ascending"), ("rank", "ascending")])
    if len(table):
        table = table.filter(pc.equal(table.column("run_id"), table.column("run_id")[0]))
    return [json.loads(text) for text in table.column("solution").slice(0, limit).to_pylist()]


def _scan(lake: Lake, condition: pc.Expression) -> pa.Table:
    found = lake.dataset(RESULTS_FOLDER, RESULTS).to_table(filter=condition)
    return _one_per_job(conform(found, RESULTS))


def _one_per_job(table: pa.Table) -> pa.Table:
    if not len(table):
        return table
    order = pa.array([str(status) for status in _MOST_TELLING], pa.string())
    ranked = table.append_column("rank", pc.index_in(table.column("status"), value_set=order))
    ranked = ranked.sort_by(
        [("job_id", "ascending"), ("rank", "ascending"), ("run_id", "ascending")]
    )
    ids = ranked.column("job_id").to_numpy()
    first = np.concatenate([[True], ids[1:] != ids[:-1]])
    return ranked.filter(pa.array(first)).drop_columns(["rank"])

"""Runtimes equal those of the same query in DuckDB."""

from __future__ import annotations

from types import SimpleNamespace

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from nightgrid.archive.lake.schemas import RESULTS, RUNTIMES
from nightgrid.archive.results.gold.rebuild import UNPUBLISHED, runtimes
from nightgrid.archive.results.results import RANKED_STATUSES
from nightgrid.solvers.algebra import Ask

COUNT = Ask(kind="count")
TIMES = ("job_id", "run_id", "puzzle_id", "status", "kernel_ns", "states")
QUERY = """
    with told as (
        from results
        qualify 1 = row_number() over (
            partition by job_id order by list_position($statuses, status), run_id
        )
    )
    select
        'pips' as game,
        'count' as ask,
        coalesce(level, $unpublished) as level,
        count(*) as job_count,
        count(*) filter (status = 'solved') as solved_count,
        quantile_disc(kernel_ns, 0.50) as kernel_ns_p50,
        quantile_disc(kernel_ns, 0.99) as kernel_ns_p99,
        max(kernel_ns) as kernel_ns_max,
        sum(kernel_ns) as kernel_ns_total,
        sum(states) as states_total
    from told left join (select distinct * from levels) using (puzzle_id)
    group by 3
    order by 3
"""


@pytest.mark.parametrize("rows", [0, 1, 2, 99, 100, 101, 1000])
def test_runtimes_are_those_of_a_query(rows: int) -> None:
    rng = np.random.default_rng(rows)
    # Jobs end several times, with several statuses; puzzles have several levels, or none.
    jobs = rng.integers(0, max(1, rows // 2), rows)
    results = pa.table(
        {
            "job_id": [f"{job:032x}" for job in jobs],
            "run_id": [f"{run:032x}" for run in range(rows)],
            "puzzle_id": [f"{job + 7:032x}" for job in jobs],
            "status": rng.choice(RANKED_STATUSES, rows).tolist(),
            "kernel_ns": rng.integers(0, 50, rows),
            "states": rng.integers(0, 10**6, rows),
        },
        schema=pa.schema([RESULTS.field(name) for name in TIMES]),
    )
    puzzles = rng.integers(0, 1 + rows // 2, rows) + 7
    levels = pa.table(
        {
            "puzzle_id": [f"{puzzle:032x}" for puzzle in puzzles],
            "level": rng.choice(["easy", "hard", "medium"], rows).tolist(),
        },
        schema=pa.schema([("puzzle_id", pa.string()), ("level", pa.string())]),
    )

    found = runtimes("pips", [COUNT], SimpleNamespace(all_to=lambda _: results), levels)

    with duckdb.connect() as base:
        base.register("results", results)
        base.register("levels", levels)
        about = {"unpublished": UNPUBLISHED, "statuses": RANKED_STATUSES}
        expected = base.sql(QUERY, params=about).to_arrow_table().cast(RUNTIMES)
    assert found.to_pylist() == expected.to_pylist()
    assert found.schema == RUNTIMES
    assert bool(len(found)) == bool(rows)

"""A lake with everything that a view must not show twice: runs, merges, revisions, drafts."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.ingest.puzzles import puzzles_folder, read_puzzle_table
from nightgrid.archive.lake.schemas import EDITIONS, RESULTS, SOLUTIONS
from nightgrid.archive.lake.storage import Lake
from tests.archive.lookup.conftest import filled as filled  # noqa: PLC0414 - the fixture

COSTS = {"states": 1, "nodes": 1, "parts": 1, "kernel_ns": 1, "table_bytes": 1}
JOBS = [f"{n:032x}" for n in range(1, 7)]
DAYS = [dt.date(2026, 1, day) for day in (1, 2, 3)]


def result(job: str, run: str, **given: Any) -> dict[str, Any]:
    told = {"job_id": job, "puzzle_id": f"p{job[1:]}", "game": "pips", "ask": "first"}
    told |= {"rules": "", "lexicon_id": "", "solver_version": "v", "status": "solved"}
    return {**told, **COSTS, "count": 7, "reason": "", "run_id": run, **given}


def solution(job: str, run: str, rank: int) -> dict[str, Any]:
    told = {"job_id": job, "puzzle_id": f"p{job[1:]}", "game": "pips", "ask": "first"}
    return {**told, "rank": rank, "solution": f'"{run} {rank}"', "run_id": run}


def edition(day: dt.date, revision: int, *, draft: bool | None = False) -> dict[str, Any]:
    told = {"game": "pips", "date": day, "level": "easy", "revision": revision}
    seen = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    board = f"{day.day}{revision}".rjust(32, "0")
    return {**told, "puzzle_id": board, "seen_at": seen, "raw_sha256": "", "draft": draft}


def put(lake: Lake, path: str, schema: pa.Schema, *rows: dict[str, Any]) -> None:
    lake.write_table(path, pa.Table.from_pylist(list(rows), schema=schema))


def fill(lake: Lake) -> Lake:
    """Five jobs: the second ended twice, the third is in two files, the fourth three times."""
    again = {"status": "over_budget", "count": None, "reason_code": "seconds", "reason": "late"}
    put(lake, "results/r1.parquet", RESULTS,
        *(result(job, "r1") for job in (JOBS[0], JOBS[2])),
        result(JOBS[1], "r1", **again),
        result(JOBS[3], "r1", **again, budget_seconds=1.0))  # fmt: skip
    put(lake, "results/r2.parquet", RESULTS,
        result(JOBS[1], "r2", count=9),
        result(JOBS[3], "r2", **again, budget_seconds=5.0))  # fmt: skip
    # As a merge that was killed before deleting its inputs.
    merged = "results/merged-0000000000000000-ffffffffffffffff-0123456789abcdef.parquet"
    put(lake, merged, RESULTS, result(JOBS[2], "r1"), result(JOBS[4], "r3"),
        result(JOBS[3], "r1", **again, budget_seconds=1.0))  # fmt: skip
    put(lake, "solutions/r1.parquet", SOLUTIONS, *(solution(JOBS[2], "r1", i) for i in (0, 1)))
    put(lake, "solutions/merged-0000000000000000-ffffffffffffffff-0123456789abcdef.parquet",
        SOLUTIONS, *(solution(JOBS[2], "r1", i) for i in (0, 1)))  # fmt: skip
    # Of a run whose result no longer counts.
    put(lake, "solutions/r9.parquet", SOLUTIONS, solution(JOBS[1], "r1", 0))
    put(lake, "solutions/r2.parquet", SOLUTIONS, solution(JOBS[1], "r2", 0))
    put(lake, editions_path("pips"), EDITIONS,
        edition(DAYS[0], 1), edition(DAYS[0], 2, draft=None),
        edition(DAYS[1], 1),
        edition(DAYS[2], 1), edition(DAYS[2], 2, draft=True))  # fmt: skip
    return lake


@pytest.fixture
def lake(tmp_path) -> Lake:
    return fill(Lake.open(str(tmp_path / "lake")))


def twice(lake: Lake, filled: Lake) -> None:
    """Put boards into two segments, as a killed merge does."""
    table = read_puzzle_table(filled, "pips")
    for name in ("seg-1", "seg-2"):
        lake.write_table(f"{puzzles_folder('pips')}/{name}.parquet", table)

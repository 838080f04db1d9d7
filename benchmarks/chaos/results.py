"""Results of runs: as they are when nothing disturbs a run, and what differs from them."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

from nightgrid.archive.lake.schemas import RESULTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words.binding import open_game
from nightgrid.solvers.algebra import Ask, Status
from nightgrid.solvers.reasons import Reason
from nightgrid.workers.driver.drive import drive
from nightgrid.workers.driver.outbox import InlineOutbox
from nightgrid.workers.runs.plan import plan_pass as chunking
from nightgrid.workers.runs.plan.plan_pass import Asking
from nightgrid.workers.runs.plan.planner import plan_run
from nightgrid.workers.settings import Settings

COUNT = Ask(kind="count")
TIMED = ("kernel_ns",)
"""Columns of results that say how long something took: all others must be the same."""
PLAN_WORKERS = 3
CHUNK_S = 0.004
"""Shortest chunk: less than is usual, so that a run of seconds has a middle."""


def fresh_lake(settings: Settings) -> Lake:
    """Empty the lake."""
    lake = Lake.open(settings.lake)
    for name in ("runs", "results", "solutions"):
        if "://" not in settings.lake:
            shutil.rmtree(Path(settings.lake) / name, ignore_errors=True)
        for path in lake.list(name):
            lake.delete(path)
    return lake


def plan(lake: Lake, boards: pa.Table, settings: Settings, game: str) -> str:
    """Plan the run."""
    room = open_game(lake, game, "", "")
    with mock.patch.object(chunking, "CHUNK_MIN_S", CHUNK_S):
        return plan_run(Asking(lake, room, COUNT, settings.budget, PLAN_WORKERS), boards)


def undisturbed(settings: Settings, boards: pa.Table, game: str = "pips") -> pa.Table:
    """Work the boards in this process; return the results."""
    lake = fresh_lake(settings)
    run_id = plan(lake, boards, settings, game)
    summary = drive(lake, run_id, InlineOutbox(lake, settings), settings=settings)
    assert summary.finished
    return lake.read_table(f"results/{run_id}.parquet", RESULTS)


def with_poison(results: pa.Table, guilty: Iterable[str], reason: Reason) -> pa.Table:
    """Write results as they are when some boards are poison."""
    wanted = set(guilty)
    why = {"reason_code": str(reason.code), "reason": reason.sentence}
    blank = {"count": None, "value": None, "states": 0, "nodes": 0, "table_bytes": 0}
    rows = [
        {**row, **blank, "status": str(Status.POISON), **why} if row["puzzle_id"] in wanted else row
        for row in results.to_pylist()
    ]
    return pa.Table.from_pylist(rows, RESULTS)


def digest(results: pa.Table) -> str:
    """Hash a result table as bytes, without the columns that say how long something took."""
    sink = pa.BufferOutputStream()
    table = results.drop_columns(list(TIMED)).combine_chunks()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return hashlib.sha256(sink.getvalue()).hexdigest()


def differing(expected: pa.Table, actual: pa.Table) -> tuple[Mapping[str, Any], ...]:
    """List the rows that differ, as they are and as they should be.

    Compared are the columns of `expected` but those of `TIMED`.
    """
    actual = actual.select(expected.column_names)
    if digest(expected) == digest(actual):
        return ()
    one, other = (table.drop_columns(list(TIMED)).to_pylist() for table in (expected, actual))
    rows = [row for row in other if row not in one] + [row for row in one if row not in other]
    return tuple(rows) or ({"order": "differs"},)

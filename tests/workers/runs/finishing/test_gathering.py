"""Rows sorted by job_id on the disk: all of them, in order, as often as they are asked for."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from nightgrid.solvers.canonical import digest
from nightgrid.workers.runs.finishing import gathering as buckets
from nightgrid.workers.runs.finishing.gathering import Buckets

SCHEMA = pa.schema([pa.field("job_id", pa.string(), nullable=False), pa.field("n", pa.int64())])


@pytest.mark.parametrize("rows", [0, 10, 1_000])
def test_rows_come_back_sorted_and_more_than_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
):
    monkeypatch.setattr(buckets, "ROW_GROUP_ROWS", 100)
    monkeypatch.setattr(buckets, "BUCKET_ROWS", 75)
    monkeypatch.setattr(buckets, "SPREAD_ROWS", 100)
    ids = [digest(str(n)) for n in range(rows)]
    table = pa.table({"job_id": ids, "n": range(rows)}, schema=SCHEMA)
    with Buckets(tmp_path, SCHEMA, rows) as held:
        for start in range(0, rows, 64):
            held.add(table.slice(start, 64))
        # What one row group takes stays in memory.
        assert len(list(tmp_path.iterdir())) == (14 if rows > 100 else 0)
        first = pa.concat_tables(held.tables())
        again = pa.concat_tables(held.tables())
    assert first.column("job_id").to_pylist() == sorted(ids)
    assert first.equals(again)
    assert first.sort_by("n").equals(table)


def test_freed_memory_is_returned_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(buckets, "ROW_GROUP_ROWS", 10)
    monkeypatch.setattr(buckets, "BUCKET_ROWS", 10)
    monkeypatch.setattr(buckets, "SPREAD_ROWS", 10)
    monkeypatch.setattr(buckets, "TRIM_BUCKETS", 4)
    trimmed: list[int] = []
    monkeypatch.setattr(buckets, "trim", lambda: trimmed.append(1))
    table = pa.table({"job_id": [digest(str(n)) for n in range(80)], "n": range(80)}, schema=SCHEMA)
    with Buckets(tmp_path, SCHEMA, 80) as held:
        for start in range(0, 80, 10):
            held.add(table.slice(start, 10))
        assert len(trimmed) == 8
        # What is left is spread, though it be nothing; then eight buckets are read.
        assert len(list(held.tables())) == 8
        assert len(trimmed) == 8 + 1 + 2

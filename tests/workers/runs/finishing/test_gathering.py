"""Answers of a run, sorted by job_id on the disk."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from nightgrid.solvers.canonical import digest
from nightgrid.workers.runs.finishing import gathering
from nightgrid.workers.runs.finishing.gathering import Buckets

SCHEMA = pa.schema([pa.field("job_id", pa.string(), nullable=False), pa.field("n", pa.int64())])
RUN = "0" * 32


def folders(at: Path) -> list[Path]:
    return list(at.glob("nightgrid-finish-*"))


@pytest.mark.parametrize("rows", [0, 10, 100, 1_000])
def test_rows_come_back_sorted_and_more_than_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
):
    monkeypatch.setattr(gathering, "ROW_GROUP_ROWS", 100)
    monkeypatch.setattr(gathering, "BUCKET_ROWS", 75)
    monkeypatch.setattr(gathering.tempfile, "tempdir", str(tmp_path))
    ids = [digest(str(n)) for n in range(rows)]
    table = pa.table({"job_id": ids, "n": range(rows)}, schema=SCHEMA)
    with Buckets(SCHEMA, rows) as held:
        for start in range(0, rows, 64):
            held.add(table.slice(start, 64))
        # The memory of one row group remains.
        files = [file for folder in folders(tmp_path) for file in folder.iterdir()]
        assert len(files) == (14 if rows > 100 else 0)
        first = pa.concat_tables(held.tables())
        again = pa.concat_tables(held.tables())
        sizes = [len(bucket) for bucket in held.tables()]
    assert first.column("job_id").to_pylist() == sorted(ids)
    assert first.equals(again)
    assert first.sort_by("n").equals(table)
    assert max(sizes) <= 2 * max(1, rows / len(sizes)), "no bucket has much more than its share"
    assert folders(tmp_path) == []

"""Rows sorted by job_id on the disk: all of them, in order, as often as they are asked for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.runs.chunk_results import DamagedResultError
from nightgrid.workers.runs.finishing import gathering as buckets
from nightgrid.workers.runs.finishing.gathering import Buckets, Gathering
from nightgrid.workers.runs.run_files import ChunkRef

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
        sizes = [len(bucket) for bucket in held.tables()]
    assert first.column("job_id").to_pylist() == sorted(ids)
    assert first.equals(again)
    assert first.sort_by("n").equals(table)
    assert max(sizes) <= 2 * max(1, rows / len(sizes)), "no bucket has much more than its share"


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


@pytest.mark.parametrize(
    ("expected_rows", "bucket_rows", "files"),
    [
        (60, None, 0),
        (61, None, 3),
        (90, None, 3),
        (91, None, 4),
        (10, 5, 0),
        (11, 5, 3),
        (99, 5, 6),
    ],
)
def test_rows_are_spread_over_as_many_files_as_are_expected_to_be_needed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    expected_rows: int,
    bucket_rows: int | None,
    files: int,
):
    monkeypatch.setattr(buckets, "ROW_GROUP_ROWS", 70)
    monkeypatch.setattr(buckets, "BUCKET_ROWS", 30)
    monkeypatch.setattr(buckets, "BUCKETS_MAX", 6)
    with Buckets(tmp_path, SCHEMA, expected_rows, bucket_rows):
        assert len(list(tmp_path.iterdir())) == files


def test_what_a_row_group_takes_stays_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(buckets, "ROW_GROUP_ROWS", 50)
    monkeypatch.setattr(buckets, "BUCKET_ROWS", 30)
    for rows, files in ((50, 0), (51, 2)):
        with Buckets(tmp_path, SCHEMA, rows):
            assert len(list(tmp_path.iterdir())) == files


def test_rows_are_spread_at_once_when_they_have_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    table = pa.table({"job_id": [digest(str(n)) for n in range(10)], "n": range(10)}, schema=SCHEMA)
    monkeypatch.setattr(buckets, "ROW_GROUP_ROWS", 5)
    spread: list[int] = []
    monkeypatch.setattr(buckets, "trim", lambda: spread.append(1))
    for most, times in ((2 * table.nbytes, 1), (2 * table.nbytes + 1, 0)):
        spread.clear()
        monkeypatch.setattr(buckets, "SPREAD_BYTES", most)
        with Buckets(tmp_path, SCHEMA, 20, 5) as held:
            held.add(table)
            assert spread == []
            held.add(table)
            assert len(spread) == times


@pytest.mark.parametrize(
    ("chunks", "rows", "sizes"), [(2, 100, [2, 2, 2, 1]), (9, 20, [2, 2, 2, 1]), (9, 21, [3, 3, 1])]
)
def test_chunks_are_taken_in_together_within_a_segment(
    monkeypatch: pytest.MonkeyPatch, chunks: int, rows: int, sizes: list[int]
):
    monkeypatch.setattr(buckets, "BATCH_CHUNKS", chunks)
    monkeypatch.setattr(buckets, "BATCH_ROWS", rows)
    refs = [
        ChunkRef(run_id="0" * 32, segment=segment, chunk=chunk)
        for segment, number in ((0, 6), (1, 1))
        for chunk in range(number)
    ]
    run: Any = SimpleNamespace(rows=lambda _key: 10)
    batches = list(buckets._batches(run, refs))
    assert [len(batch) for batch in batches] == sizes
    assert [ref for batch in batches for ref in batch] == refs


def test_the_first_chunk_that_is_not_done_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    refs = [ChunkRef(run_id="0" * 32, segment=0, chunk=chunk) for chunk in range(4)]
    monkeypatch.setattr(buckets, "done_chunks", lambda *_: {refs[0].key})
    run: Any = SimpleNamespace(run_id="a", chunks=lambda: refs)
    with pytest.raises(DamagedResultError) as error:
        next(buckets._leaves(Lake.open(str(tmp_path)), run))
    assert error.value.ref == refs[1]
    assert str(error.value) == f"run a: 3 chunks are not done, the first is {refs[1].name}"


def _run(jobs: int, kind: str = "count", puzzles: int = 0) -> Any:
    return SimpleNamespace(
        run_id="a",
        job_count=jobs,
        puzzle_count=puzzles,
        question=SimpleNamespace(ask=SimpleNamespace(kind=kind)),
    )


@pytest.mark.parametrize(
    ("numbers", "says"),
    [
        ([[0, 1, 2]], None),
        ([[2], [], [0], [1]], None),
        ([[0], [1], [2]], None),
        ([[0, 1]], "run a: 1 jobs have no outcome; expected one for each"),
        ([], "run a: 3 jobs have no outcome; expected one for each"),
        ([[0, 1, 2], [1]], "run a: a job has two outcomes; expected one"),
        ([[0, 1, 1]], "run a: a job has two outcomes; expected one"),
        ([[0, 1, 2, 3]], "run a: a job is numbered beyond 3 jobs"),
        ([[0, 1, -1]], "run a: a job is numbered -1"),
    ],
)
def test_each_job_has_one_outcome(tmp_path: Path, numbers: list[list[int]], says: str | None):
    run = _run(3)

    def gather():
        with Gathering(Lake.open(str(tmp_path / "lake")), run) as held:
            for some in numbers:
                held._count(np.array(some, np.int64))
            held._check(run)

    if says is None:
        gather()
        return
    with pytest.raises(PermanentError) as error:
        gather()
    assert str(error.value) == says

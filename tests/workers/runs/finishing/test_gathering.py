"""Answers of a run: one for each job, sorted by job_id on the disk."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.runs.finishing import gathering
from nightgrid.workers.runs.finishing.gathering import ANSWER, Buckets, gather
from nightgrid.workers.runs.run_files import ChunkRef, DamagedResultError

SCHEMA = pa.schema([pa.field("job_id", pa.string(), nullable=False), pa.field("n", pa.int64())])
RUN = "0" * 32


def folders(at: Path) -> list[Path]:
    return list(at.glob("nightgrid-finish-*"))


@pytest.mark.parametrize("rows", [0, 10, 1_000])
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
        # What one row group takes stays in memory.
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


@pytest.mark.parametrize(
    ("chunks", "rows", "sizes"), [(2, 100, [2, 2, 2, 1]), (9, 20, [2, 2, 2, 1]), (9, 21, [3, 3, 1])]
)
def test_chunks_are_read_together_within_a_segment(
    monkeypatch: pytest.MonkeyPatch, chunks: int, rows: int, sizes: list[int]
):
    monkeypatch.setattr(gathering, "BATCH_CHUNKS", chunks)
    monkeypatch.setattr(gathering, "BATCH_ROWS", rows)
    refs = [
        ChunkRef(run_id=RUN, segment=segment, chunk=chunk)
        for segment, number in ((0, 6), (1, 1))
        for chunk in range(number)
    ]
    run: Any = SimpleNamespace(rows=lambda _key: 10)
    batches = list(gathering._batches(run, refs))
    assert [len(batch) for batch in batches] == sizes
    assert [ref for batch in batches for ref in batch] == refs


def test_the_first_chunk_that_is_not_done_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    refs = [ChunkRef(run_id=RUN, segment=0, chunk=chunk) for chunk in range(4)]
    monkeypatch.setattr(gathering, "done_chunks", lambda *_: {refs[0].key})
    run: Any = SimpleNamespace(run_id="a", chunks=lambda: refs)
    with pytest.raises(DamagedResultError) as error:
        next(gathering._leaves(Lake.open(str(tmp_path)), run))
    assert error.value.ref == refs[1]


@pytest.mark.parametrize(
    ("numbers", "wrong"),
    [
        ([[0, 1, 2]], 0),
        ([[2], [], [0], [1]], 0),
        ([[0, 1]], 1),
        ([], 3),
        ([[0, 1, 2], [1]], 1),
    ],
)
def test_each_job_has_one_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, numbers: list[list[int]], wrong: int
):
    def leaves(*_: Any):
        for some in numbers:
            columns: dict[str, Any] = {
                name: pa.nulls(len(some), ANSWER.field(name).type) for name in ANSWER.names
            }
            columns |= {"job_no": pa.array(some, pa.int64()), "part_path": [""] * len(some)}
            columns["job_id"] = pa.array([digest(str(n)) for n in some], pa.string())
            yield pa.table(columns)

    monkeypatch.setattr(gathering, "_leaves", leaves)
    run: Any = SimpleNamespace(run_id="a", job_count=3)
    with Buckets(ANSWER, 3) as answers:
        if wrong:
            with pytest.raises(PermanentError, match=f"^run a: {wrong} jobs have no outcome"):
                gather(Lake.open(str(tmp_path)), run, answers)
        else:
            assert gather(Lake.open(str(tmp_path)), run, answers) == {}
            assert sum(map(len, answers.tables())) == 3

"""Gather the answers of a run from the results of its chunks, sorted by job_id in bounded memory.

Rows are spread over buckets on the disk, which are sorted one after the other.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.faults import room_on
from nightgrid.archive.lake.storage import ROW_GROUP_ROWS, Lake
from nightgrid.archive.lake.tables import BUDGET_COLUMNS, PARTS, RESULTS
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.question import QUESTION_FIELDS
from nightgrid.workers.freed_memory import trim
from nightgrid.workers.runs.chunk_results import DamagedResultError, read_result
from nightgrid.workers.runs.job_keys import keys_of
from nightgrid.workers.runs.manifest import NO_JOBS, Run, read_expanded
from nightgrid.workers.runs.prefetch import ahead
from nightgrid.workers.runs.run_files import ChunkRef, done_chunks
from nightgrid.workers.runs.staged.stages import CARRIED

SPLIT = "split"
"""Status of a part that came back divided; its children carry the outcome."""
UNFINISHED = (SPLIT, CARRIED)
"""Statuses of parts that go on."""
BATCH_ROWS, BATCH_CHUNKS = 16_384, 64
"""So many rows, or chunks, are taken in at once."""
_CONSTANT = (*QUESTION_FIELDS, "run_id", *BUDGET_COLUMNS)
"""Columns of results that are the same in every row of a run."""
ANSWER = pa.schema(
    [*(field for field in RESULTS if field.name not in _CONSTANT), PARTS.field("solutions")]
)
"""What a run finds out about a job: its result, and its solutions as a JSON list or null."""
_FROM_PART = [name for name in ANSWER.names if name in PARTS.names]
_MANIFEST = ("job_id", "puzzle_id")

BUCKET_ROWS = 32_768
"""Rows of a bucket, about: a row group of the sorted file."""
LISTING_BUCKET_ROWS = 1024
"""The same of a run that lists solutions: its rows have up to `listing_row_bytes` of them each."""
MEANT_BUCKET_ROWS = 128
"""The same of a run that ranks: a row has up to a hundred covers, 200 kB of JSON."""
SPREAD_ROWS, SPREAD_BYTES = 16_384, 2**26
"""Rows that are spread over the buckets at once, or so many as have so many bytes."""
TRIM_BUCKETS = 8
"""While buckets are read back, freed memory is returned after so many: all wait for the end of a
run, and to get new pages takes longer than to fill them."""
BUCKETS_MAX = 512
"""Files open at once; the buckets of a very large run hold more rows."""


class Gathering(contextlib.AbstractContextManager["Gathering"]):
    """Answers of the jobs of a run, sorted on the disk, in a folder that is deleted at the end.

    Memory is that of some ten thousand rows, whatever the length of the run.
    """

    def __init__(self, lake: Lake, run: Run) -> None:
        self._lake, self._run_id = lake, run.run_id
        self._folder = Path(tempfile.mkdtemp(prefix="nightgrid-finish-"))
        # The same for every driver of the run: the row groups of its results follow from it.
        rows = run.puzzle_count or run.job_count
        bucket_rows = {"all": LISTING_BUCKET_ROWS, "meant": MEANT_BUCKET_ROWS}
        self.answers = Buckets(self._folder, ANSWER, rows, bucket_rows.get(run.question.ask.kind))
        self._answered = np.zeros(0, np.uint8)

    def __exit__(self, *_: object) -> None:
        self.answers.__exit__()
        shutil.rmtree(self._folder, ignore_errors=True)

    def take(self, run: Run) -> dict[int, list[dict[str, Any]]]:
        """Take in all answers; return the rows of the jobs that were divided, by job number.

        Raises PermanentError for jobs without an outcome, and for those with two.
        """
        divided: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for leaves in ahead(_leaves(self._lake, run)):
            is_whole = pc.equal(leaves.column("part_path"), "")
            for row in leaves.filter(pc.invert(is_whole)).to_pylist():
                divided[row["job_no"]].append(row)
            self._add(leaves.filter(is_whole))
        self._count(np.fromiter(divided, np.int64, len(divided)))
        self._check(run)
        return divided

    def _add(self, rows: pa.Table) -> None:
        columns = {name: rows.column(name) for name in (*_FROM_PART, "puzzle_id")}
        columns["parts"] = pa.repeat(pa.scalar(1, pa.int32()), len(rows))
        self.answers.add(pa.table({name: columns[name] for name in ANSWER.names}, schema=ANSWER))
        self._count(rows.column("job_no").to_numpy())

    def _count(self, numbers: npt.NDArray[np.int64]) -> None:
        if not len(numbers):
            return
        if numbers.min() < 0:
            raise PermanentError(f"run {self._run_id}: a job is numbered {numbers.min()}")
        missing = int(numbers.max()) + 1 - len(self._answered)
        if missing > 0:
            more = np.zeros(max(missing, len(self._answered)), np.uint8)
            self._answered = np.concatenate([self._answered, more])
        np.add.at(self._answered, numbers, 1)

    def _check(self, run: Run) -> None:
        if (self._answered > 1).any():
            raise PermanentError(f"run {run.run_id}: a job has two outcomes; expected one")
        if self._answered[run.job_count :].any():
            raise PermanentError(f"run {run.run_id}: a job is numbered beyond {run.job_count} jobs")
        missing = run.job_count - int(self._answered.sum())
        if missing:
            raise PermanentError(
                f"run {run.run_id}: {missing} jobs have no outcome; expected one for each"
            )


def _is_full(chunks: int, rows: int) -> bool:
    """Return whether so many chunks, with so many rows, are enough to take in at once."""
    return chunks >= BATCH_CHUNKS or rows >= BATCH_ROWS


def _leaves(lake: Lake, run: Run) -> Iterator[pa.Table]:
    """Read the outcomes that count, with their puzzle_id, some chunks of a segment at a time.

    Chunks that were halved do not count, nor rows that went on.
    """
    done = done_chunks(lake, run.run_id)
    refs = run.chunks()
    missing = [ref for ref in refs if ref.key not in done]
    if missing:
        first = missing[0]
        raise DamagedResultError(
            first,
            f"run {run.run_id}: {len(missing)} chunks are not done, the first is {first.name}",
        )
    expanded = read_expanded(lake, run.run_id, run.segments)
    for batch in _batches(run, refs):
        parts = {ref: read_result(lake, ref, rows=run.rows(ref.key)) for ref in batch}
        rows = _with_puzzle_ids(lake, parts)
        went_on = [
            pc.is_in(part.column("job_no"), value_set=expanded.get(ref.key, NO_JOBS))
            for ref, part in parts.items()
        ]
        chunks = [chunk for column in went_on for chunk in column.chunks]
        rows = rows.filter(pc.invert(pa.chunked_array(chunks, pa.bool_())))
        if pc.any(pc.equal(rows.column("status"), SPLIT)).as_py():
            raise PermanentError(f"run {run.run_id}: a part came back split and nothing went on")
        yield rows


def _batches(run: Run, refs: Iterable[ChunkRef]) -> Iterator[list[ChunkRef]]:
    """Put chunks together that are taken in at once: they lie in one segment."""
    batch: list[ChunkRef] = []
    rows = 0
    for ref in refs:
        if batch and (_is_full(len(batch), rows) or ref.segment != batch[0].segment):
            yield batch
            batch, rows = [], 0
        batch.append(ref)
        rows += run.rows(ref.key)
    if batch:
        yield batch


def _with_puzzle_ids(lake: Lake, parts: Mapping[ChunkRef, pa.Table]) -> pa.Table:
    """Join parts of chunks of one segment with which boards their rows are about.

    Raises DamagedResultError where rows are not those of their chunk, in its order.
    """
    first = next(iter(parts))
    rows = lake.read_row_groups(first.manifest_path, [ref.chunk for ref in parts], _MANIFEST)
    joined = pa.concat_tables(parts.values())
    if not joined.column("job_id").equals(rows.column("job_id")):
        wrong = next(ref for ref, part in parts.items() if not _answers(lake, ref, part))
        raise DamagedResultError(
            wrong, f"run {wrong.run_id}: {wrong.name} answers other jobs than it was asked"
        )
    return joined.append_column("puzzle_id", rows.column("puzzle_id"))


def _answers(lake: Lake, ref: ChunkRef, part: pa.Table) -> bool:
    asked = lake.read_row_group(ref.manifest_path, ref.chunk, ["job_id"])
    same: bool = part.column("job_id").equals(asked.column("job_id"))
    return same


class Buckets(contextlib.AbstractContextManager["Buckets"]):
    """Rows with a job_id, spread by it over equal ranges; a single range stays in memory."""

    def __init__(
        self, folder: Path, schema: pa.Schema, expected_rows: int, bucket_rows: int | None = None
    ) -> None:
        self._folder, self._schema = folder, schema
        bucket_rows = bucket_rows or BUCKET_ROWS
        single = min(ROW_GROUP_ROWS, 2 * bucket_rows)
        wanted = 1 if expected_rows <= single else -(-expected_rows // bucket_rows)
        self._count = min(wanted, BUCKETS_MAX)
        self._waiting: list[pa.Table] = []
        self._files: list[pa.NativeFile] = []
        self._writers: list[pa.RecordBatchStreamWriter] = []
        if self._count > 1:
            with self._room():
                self._files = [pa.OSFile(self._path(i), "wb") for i in range(self._count)]
                self._writers = [pa.ipc.new_stream(file, schema) for file in self._files]

    def __exit__(self, *_: object) -> None:
        # The rows are given up: whether the disk takes the ends of their files does not matter.
        while self._writers or self._files:
            with contextlib.suppress(OSError):
                self._close()

    def _close(self) -> None:
        # Writing ends before the rows are read back, and a writer is not closed twice.
        while self._writers:
            self._writers.pop().close()
        while self._files:
            self._files.pop().close()

    def _room(self) -> contextlib.AbstractContextManager[None]:
        return room_on(self._folder, f"{self._folder.name}, the answers of a run,")

    def _path(self, bucket: int) -> str:
        return str(self._folder / f"bucket-{bucket}.arrow")

    def add(self, rows: pa.Table) -> None:
        """Add rows; they are spread when there are enough of them."""
        self._waiting.append(rows)
        is_full = (
            sum(len(table) for table in self._waiting) >= SPREAD_ROWS
            or sum(table.nbytes for table in self._waiting) >= SPREAD_BYTES
        )
        if self._writers and is_full:
            self._spread()

    def _spread(self) -> None:
        rows = pa.concat_tables([self._schema.empty_table(), *self._waiting])
        self._waiting = []
        high = keys_of(rows.column("job_id")).view(">u4")[::4].astype(np.uint64)
        bucket = (high * np.uint64(self._count)) >> np.uint64(32)
        order = np.argsort(bucket, kind="stable")
        bounds = np.searchsorted(bucket[order], np.arange(self._count + 1, dtype=np.uint64))
        rows = rows.take(pa.array(order))
        with self._room():
            for i, writer in enumerate(self._writers):
                if bounds[i] < bounds[i + 1]:
                    writer.write_table(rows.slice(bounds[i], bounds[i + 1] - bounds[i]))
        # What streams through a driver for minutes would add up in it.
        trim()

    def tables(self) -> Iterator[pa.Table]:
        """Yield all rows, sorted by job_id, one bucket after the other; may be called again."""
        if self._count == 1:
            yield _sorted(pa.concat_tables([self._schema.empty_table(), *self._waiting]))
            return
        if self._writers:
            self._spread()
            with self._room():
                self._close()
        for i in range(self._count):
            with pa.OSFile(self._path(i), "rb") as file, pa.ipc.open_stream(file) as reader:
                table = reader.read_all()
            yield _sorted(table)
            if i % TRIM_BUCKETS == TRIM_BUCKETS - 1:
                trim()


def _sorted(rows: pa.Table) -> pa.Table:
    return rows.take(pc.sort_indices(rows.column("job_id")))

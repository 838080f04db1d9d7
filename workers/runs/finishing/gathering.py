"""Gather the answers of a run from its chunk results, sorted by job_id in bounded memory.

Rows are spread over buckets on disk by job_id; each bucket is sorted in memory.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.faults import room_on
from nightgrid.archive.lake.schemas import BUDGET_COLUMNS, PARTS, RESULTS
from nightgrid.archive.lake.storage import ROW_GROUP_ROWS, Lake
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.question import QUESTION_FIELDS
from nightgrid.workers.freed_memory import trim
from nightgrid.workers.runs.job_keys import keys_of
from nightgrid.workers.runs.manifest import NO_JOBS, Run, read_expanded
from nightgrid.workers.runs.run_files import ChunkRef, DamagedResultError, done_chunks, read_result
from nightgrid.workers.runs.staged import CARRIED

SPLIT = "split"
"""Status of a row that came back divided; its children have the outcome."""
UNFINISHED = (SPLIT, CARRIED)
"""Statuses of rows whose outcome is in other chunks."""
BATCH_ROWS, BATCH_CHUNKS = 16_384, 64
"""Chunk results are read together up to this many rows or chunks."""
_CONSTANT = (*QUESTION_FIELDS, "puzzle", "run_id", *BUDGET_COLUMNS)
"""Columns of results with one value for the whole run."""
ANSWER = pa.schema(
    [*(field for field in RESULTS if field.name not in _CONSTANT), PARTS.field("solutions")]
)
"""One answer: a result without the constant columns, and solutions as a JSON list or null."""
_FROM_PART = [name for name in ANSWER.names if name in PARTS.names]

BUCKET_ROWS = 32_768
"""Approximate rows of a bucket, which becomes a row group of the sorted file."""
LARGE_ROWS = {"all": 1024, "meant": 128}
"""The same for asks with large rows: solutions up to `listing_row_bytes`, or 100 covers."""
TRIM_BUCKETS = 8
"""Freed memory is returned to the system after this many buckets: each time costs page faults."""
BUCKETS_MAX = 512
"""Files open at once; the buckets of a very large run hold more rows."""


Item = TypeVar("Item")


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Compute the next item in a thread while the last one is used; errors are raised here.

    Pays off if one of the two steps releases the GIL, as Arrow does.
    """
    # A list of one item or none, so that the end is not an exception.
    source = ([item] for item in items)
    with ThreadPoolExecutor(1, "ahead") as thread:
        made: Future[list[Item]] = thread.submit(next, source, [])
        while found := made.result():
            made = thread.submit(next, source, [])
            yield found.pop()


def gather(lake: Lake, run: Run, answers: Buckets) -> dict[int, list[dict[str, Any]]]:
    """Add the answers of whole jobs to `answers`; return the rows of divided jobs by job number.

    Raises DamagedResultError for missing or damaged chunk results, and PermanentError unless each
    job has exactly one outcome.
    """
    divided: dict[int, list[dict[str, Any]]] = defaultdict(list)
    outcomes = np.zeros(run.job_count, np.uint8)
    for leaves in ahead(_leaves(lake, run)):
        is_whole = pc.equal(leaves.column("part_path"), "")
        for row in leaves.filter(pc.invert(is_whole)).to_pylist():
            divided[row["job_no"]].append(row)
        rows = leaves.filter(is_whole)
        np.add.at(outcomes, rows.column("job_no").to_numpy(), 1)
        columns = {name: rows.column(name) for name in (*_FROM_PART, "puzzle_id")}
        columns["parts"] = pa.repeat(pa.scalar(1, pa.int32()), len(rows))
        answers.add(pa.table({name: columns[name] for name in ANSWER.names}, schema=ANSWER))
    outcomes[list(divided)] += 1
    wrong = np.count_nonzero(outcomes != 1)
    if wrong:
        raise PermanentError(
            f"run {run.run_id}: {wrong} jobs have no outcome, or two; expected one for each"
        )
    return divided


def _leaves(lake: Lake, run: Run) -> Iterator[pa.Table]:
    """Read final outcomes with their puzzle_id, some chunks of a segment at a time.

    Skips chunks that were halved, and rows that continue in other chunks.
    """
    refs, done = run.chunks(), done_chunks(lake, run.run_id)
    for ref in refs:
        if ref.key not in done:
            raise DamagedResultError(ref, f"run {run.run_id}: {ref.name} is not done")
    expanded = read_expanded(lake, run.run_id, run.segments)
    for batch in _batches(run, refs):
        parts = [read_result(lake, ref, rows=run.rows(ref.key)) for ref in batch]
        chunks = [ref.chunk for ref in batch]
        asked = lake.read_row_groups(batch[0].manifest_path, chunks, ["puzzle_id"])
        rows = pa.concat_tables(parts).append_column("puzzle_id", asked.column("puzzle_id"))
        went_on = [
            pc.is_in(part.column("job_no"), value_set=expanded.get(ref.key, NO_JOBS))
            for ref, part in zip(batch, parts, strict=True)
        ]
        flags = pa.chunked_array([chunk for column in went_on for chunk in column.chunks])
        rows = rows.filter(pc.invert(flags))
        if pc.any(pc.equal(rows.column("status"), SPLIT)).as_py():
            raise PermanentError(f"run {run.run_id}: nothing continues a part that came back split")
        yield rows


def _batches(run: Run, refs: Iterable[ChunkRef]) -> Iterator[list[ChunkRef]]:
    """Group consecutive chunks of a segment that are read together."""
    batch: list[ChunkRef] = []
    rows = 0
    for ref in refs:
        is_full = len(batch) >= BATCH_CHUNKS or rows >= BATCH_ROWS
        if batch and (is_full or ref.segment != batch[0].segment):
            yield batch
            batch, rows = [], 0
        batch.append(ref)
        rows += run.rows(ref.key)
    if batch:
        yield batch


class Buckets(contextlib.AbstractContextManager["Buckets"]):
    """Rows spread by job_id over equal ranges; a single range stays in memory."""

    def __init__(self, schema: pa.Schema, expected_rows: int, ask_kind: str = "count") -> None:
        self._schema = schema
        bucket_rows = LARGE_ROWS.get(ask_kind, BUCKET_ROWS)
        single = min(ROW_GROUP_ROWS, 2 * bucket_rows)
        # The same for every driver of a run, as the row groups of its results depend on it.
        wanted = 1 if expected_rows <= single else -(-expected_rows // bucket_rows)
        self._count = min(wanted, BUCKETS_MAX)
        self._held: list[pa.Table] = []
        self._writers: list[pa.RecordBatchStreamWriter] = []
        self._open = contextlib.ExitStack()
        if self._count == 1:
            return
        self._temporary = tempfile.TemporaryDirectory(
            prefix="nightgrid-finish-", ignore_cleanup_errors=True
        )
        self._folder = Path(self._temporary.name)
        with self._room():
            for i in range(self._count):
                file = self._open.enter_context(pa.OSFile(self._path(i), "wb"))
                self._writers.append(self._open.enter_context(pa.ipc.new_stream(file, schema)))

    def __exit__(self, *_: object) -> None:
        # The files are deleted next, so it does not matter if the disk is too full to close them.
        with contextlib.suppress(OSError):
            self._open.close()
        if self._count > 1:
            self._temporary.cleanup()

    def _room(self) -> contextlib.AbstractContextManager[None]:
        return room_on(self._folder, f"{self._folder.name}, the answers of a run,")

    def _path(self, bucket: int) -> str:
        return str(self._folder / f"bucket-{bucket}.arrow")

    def add(self, rows: pa.Table) -> None:
        """Add rows to their buckets."""
        if self._count == 1:
            self._held.append(rows)
            return
        high = keys_of(rows.column("job_id")).view(">u4")[::4].astype(np.uint64)
        bucket = (high * np.uint64(self._count)) >> np.uint64(32)
        order = np.argsort(bucket, kind="stable")
        bounds = np.searchsorted(bucket[order], np.arange(self._count + 1, dtype=np.uint64))
        rows = rows.take(pa.array(order))
        with self._room():
            for i, writer in enumerate(self._writers):
                if bounds[i] < bounds[i + 1]:
                    writer.write_table(rows.slice(bounds[i], bounds[i + 1] - bounds[i]))
        # In a driver that streams for minutes, freed buffers would pile up.
        trim()

    def tables(self) -> Iterator[pa.Table]:
        """Yield all rows, sorted by job_id, one bucket after the other; may be called again."""
        if self._count == 1:
            yield _sorted(pa.concat_tables([self._schema.empty_table(), *self._held]))
            return
        with self._room():
            self._open.close()
        for i in range(self._count):
            with pa.OSFile(self._path(i), "rb") as file, pa.ipc.open_stream(file) as reader:
                table = reader.read_all()
            yield _sorted(table)
            if i % TRIM_BUCKETS == TRIM_BUCKETS - 1:
                trim()


def _sorted(rows: pa.Table) -> pa.Table:
    return rows.take(pc.sort_indices(rows.column("job_id")))

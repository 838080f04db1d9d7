"""Sort rows by job_id in bounded memory: spread over buckets on the disk, then bucket by bucket."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.storage import ROW_GROUP_ROWS
from nightgrid.workers.freed_memory import trim
from nightgrid.workers.runs.job_keys import keys_of

BUCKET_ROWS = 32_768
"""Rows of a bucket, about: a row group of the sorted file."""
SPREAD_ROWS = 16_384
"""Rows that are spread over the buckets at once."""
TRIM_BUCKETS = 8
"""While buckets are read back, freed memory is returned after so many: all wait for the end of a
run, and to get new pages takes longer than to fill them."""
BUCKETS_MAX = 512
"""Files open at once; the buckets of a very large run hold more rows."""


class Buckets(contextlib.AbstractContextManager["Buckets"]):
    """Rows with a job_id, spread by it over equal ranges; a single range stays in memory."""

    def __init__(self, folder: Path, schema: pa.Schema, expected_rows: int) -> None:
        self._folder, self._schema = folder, schema
        wanted = 1 if expected_rows <= ROW_GROUP_ROWS else -(-expected_rows // BUCKET_ROWS)
        self._count = min(wanted, BUCKETS_MAX)
        self._waiting: list[pa.Table] = []
        self._files: list[pa.NativeFile] = []
        self._writers: list[pa.RecordBatchStreamWriter] = []
        if self._count > 1:
            self._files = [pa.OSFile(self._path(i), "wb") for i in range(self._count)]
            self._writers = [pa.ipc.new_stream(file, schema) for file in self._files]

    def __exit__(self, *_: object) -> None:
        # Whoever leaves the rows does not care whether the disk takes the ends of their files.
        while self._writers or self._files:
            with contextlib.suppress(OSError):
                self._close()

    def _close(self) -> None:
        # Writing ends before the rows are read back, and a writer is not closed twice.
        while self._writers:
            self._writers.pop().close()
        while self._files:
            self._files.pop().close()

    def _path(self, bucket: int) -> str:
        return str(self._folder / f"bucket-{bucket}.arrow")

    def add(self, rows: pa.Table) -> None:
        """Add rows; they are spread when there are enough of them."""
        self._waiting.append(rows)
        if self._writers and sum(len(table) for table in self._waiting) >= SPREAD_ROWS:
            self._spread()

    def _spread(self) -> None:
        rows = pa.concat_tables([self._schema.empty_table(), *self._waiting])
        self._waiting = []
        high = keys_of(rows.column("job_id"))[:, 0] >> np.uint64(32)
        bucket = (high * np.uint64(self._count)) >> np.uint64(32)
        order = np.argsort(bucket, kind="stable")
        bounds = np.searchsorted(bucket[order], np.arange(self._count + 1, dtype=np.uint64))
        rows = rows.take(pa.array(order))
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
            self._close()
        for i in range(self._count):
            with pa.OSFile(self._path(i), "rb") as file, pa.ipc.open_stream(file) as reader:
                table = reader.read_all()
            yield _sorted(table)
            if i % TRIM_BUCKETS == TRIM_BUCKETS - 1:
                trim()


def _sorted(rows: pa.Table) -> pa.Table:
    return rows.take(pc.sort_indices(rows.column("job_id")))

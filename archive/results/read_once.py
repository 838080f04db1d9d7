"""Let one process read result files once, however many of its steps ask for their rows.

Files of results never change, so that what was read of one stands. A night asks for the same
columns once a game to plan, and once a game for gold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import pyarrow as pa

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS

KEPT_BYTES = 64 * 2**20
"""Bytes of rows that are kept in memory, at most: what is beyond them is read each time."""
KEPT_COLUMNS = (
    "job_id", "puzzle_id", "game", "ask", "rules", "lexicon_id", "solver_version", "status",
    "count", "value", "states", "kernel_ns", "run_id", "budget_nodes", "budget_table_bytes",
    "budget_seconds", "total_seconds", "total_bytes", "reason_code", "budget_solution_bytes",
)  # fmt: skip
"""Columns that planning and gold ask for."""


class _Kept:
    """What was read of files, by lake and path."""

    def __init__(self) -> None:
        self._tables: dict[tuple[str, str], pa.Table] = {}
        self._left_bytes = KEPT_BYTES

    def rows(self, lake: Lake, path: str) -> Iterator[pa.Table]:
        key = (lake.url, path)
        if key in self._tables:
            yield self._tables[key]
            return
        read: list[pa.Table] | None = []
        size = 0
        for table in lake.scan_file(path, RESULTS, KEPT_COLUMNS):
            size += table.nbytes
            if read is not None:
                read.append(table)
            if size > self._left_bytes:
                read = None
            yield table
        # A file that fails half-way is not kept, and is read again by who comes next.
        if read and key not in self._tables:
            self._left_bytes -= size
            self._tables[key] = pa.concat_tables(read)


_kept: ContextVar[_Kept | None] = ContextVar("kept", default=None)


@contextmanager
def reading_once() -> Iterator[None]:
    """Keep what is read of result files until the block ends."""
    token = _kept.set(_Kept())
    try:
        yield
    finally:
        _kept.reset(token)


def result_rows(lake: Lake, path: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read columns of a file of results, as `Lake.scan_file`."""
    kept = _kept.get()
    if kept is None or not set(columns) <= set(KEPT_COLUMNS):
        yield from lake.scan_file(path, RESULTS, columns)
        return
    for table in kept.rows(lake, path):
        yield table.select(list(columns))

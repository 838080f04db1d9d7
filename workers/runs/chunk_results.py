"""Chunk results as drivers read them: what is damaged, or not of its chunk, is told."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from nightgrid.archive.lake.faults import DamagedFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import PARTS
from nightgrid.workers.runs.run_files import ChunkRef


class DamagedResultError(DamagedFileError):
    """A chunk result does not hold what its worker wrote, or is not that of its chunk."""

    def __init__(self, ref: ChunkRef, why: str) -> None:
        super().__init__(why)
        self.ref = ref


def read_result(
    lake: Lake, ref: ChunkRef, columns: Sequence[str] = PARTS.names, *, rows: int | None = None
) -> pa.Table:
    """Read columns of a chunk result; without a file there are no rows.

    Raises DamagedResultError where the file is damaged or foreign, and where it has not as many
    `rows` as its chunk.
    """
    try:
        part = lake.read_table(ref.result_path, PARTS, columns)
    except DamagedFileError as error:
        raise DamagedResultError(ref, str(error)) from error
    if rows is not None and part.num_rows != rows and lake.exists(ref.result_path):
        found = f"{ref.result_path} has {part.num_rows} rows; its chunk has {rows}"
        raise DamagedResultError(ref, found)
    return part

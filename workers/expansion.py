"""How a run grows: rows that came back split, and chunks that were broken up, as new segments."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from archive.finishing import SPLIT, child_path
from archive.lake import Lake
from archive.runfiles import ChunkRef
from archive.tables import PARTS
from solvers.algebra import Status, canonical_json
from workers.chunks import AGAIN, DEFERRED, part_row

_SPLIT_COLUMNS = ("job_no", "part_path", "status", "reason", "children")


def went_on(lake: Lake, ref: ChunkRef, known: set[int]) -> list[pa.Table]:
    """Make the chunks in which rows of a finished chunk go on, in the manifest's schema.

    `known` holds the job numbers that have gone on before. Parts, and rows that were over the
    small budget, get a chunk each; rows that the chunk had no time for share smaller ones.
    """
    part = lake.read_table(ref.part_path, PARTS, _SPLIT_COLUMNS)
    split = part.filter(pc.equal(part.column("status"), SPLIT)).to_pylist()
    split = [row for row in split if row["job_no"] not in known]
    if not split:
        return []
    rows = lake.read_row_group(ref.manifest_path, ref.chunk)
    place = {job: i for i, job in enumerate(rows.column("job_no").to_pylist())}
    chunks: list[pa.Table] = []
    deferred = []
    for row in split:
        index = place[row["job_no"]]
        if row["reason"] == DEFERRED:
            deferred.append(index)
        elif row["children"] == AGAIN:
            chunks.append(rows.slice(index, 1))
        else:
            chunks += _children(rows.slice(index, 1), row)
    worked = part.num_rows - len(deferred)
    size = max(1, worked // 2)
    for start in range(0, len(deferred), size):
        chunks.append(rows.take(pa.array(deferred[start : start + size])))
    return chunks


def _children(row: pa.Table, split: dict[str, Any]) -> list[pa.Table]:
    chunks = []
    for i, part in enumerate(json.loads(split["children"])):
        child = row
        for name, text in (
            ("part", canonical_json(part)),
            ("part_path", child_path(split["part_path"], i)),
        ):
            at = child.schema.get_field_index(name)
            child = child.set_column(at, child.schema.field(at), pa.array([text], pa.string()))
        chunks.append(child)
    return chunks


def single_rows(lake: Lake, ref: ChunkRef) -> list[pa.Table]:
    """Cut a chunk into chunks of one row."""
    rows = lake.read_row_group(ref.manifest_path, ref.chunk)
    return [rows.slice(i, 1) for i in range(rows.num_rows)]


def poison_part(lake: Lake, ref: ChunkRef, reason: str) -> None:
    """Record that the one row of a chunk is poison."""
    rows = lake.read_row_group(ref.manifest_path, ref.chunk)
    heads = rows.select(["job_no", "job_id", "part_path"]).to_pylist()
    part = [part_row(head, str(Status.POISON), reason) for head in heads]
    lake.write_table(ref.part_path, pa.Table.from_pylist(part, PARTS))

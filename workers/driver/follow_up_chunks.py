"""How a run grows: rows that came back split or carried, and chunks that were broken up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import MANIFEST_HEAD, PARTS
from nightgrid.archive.results.statuses import is_among
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.chunks.result_rows import Row, heads_of, result_row
from nightgrid.workers.chunks.solved_rows import AGAIN
from nightgrid.workers.driver.chunk_records import PartOf, Reading
from nightgrid.workers.runs.chunk_results import DamagedResultError, read_result
from nightgrid.workers.runs.finishing.finish import child_path, path_key
from nightgrid.workers.runs.finishing.gathering import SPLIT, UNFINISHED
from nightgrid.workers.runs.manifest import Segment, manifest_row
from nightgrid.workers.runs.run_files import ChunkKey, ChunkRef, segment_path
from nightgrid.workers.runs.staged.stages import CARRIED, Carried, stage_part

GROWTH_COLUMNS = (
    *("job_no", "part_path", "status", "reason_code", "children"),
    *("states", "kernel_ns"),
)
_PART_OF = pa.schema([f for f in MANIFEST_HEAD if f.name in ("job_no", "part", "part_path")])
_LOST = (str(Status.OVER_BUDGET), str(Status.POISON), str(Status.INVALID))


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What a finished chunk means for the rest of its run."""

    part: pa.Table
    """What was read of its result."""
    chunks: list[pa.Table]
    """Manifest rows, one table per chunk, in which rows of the finished chunk go on."""
    reading: Reading
    """What counts of it in the table of chunks."""
    carried: Carried | None = None
    """What a part of a staged count has left for the next stage."""


def read_growth(
    lake: Lake,
    ref: ChunkRef,
    known: pa.Array,
    columns: Sequence[str] = PARTS.names,
    *,
    rows: int | None = None,
) -> Growth:
    """Read how the `rows` rows of a finished chunk go on.

    Of its part `columns` are read, GROWTH_COLUMNS at least. `known` holds the job numbers that
    have gone on before. Parts, and rows that were over the small budget, get a chunk each; rows
    that the chunk had no time for share smaller ones. Raises DamagedResultError for a result that
    is none, or not of this chunk.
    """
    part = read_result(lake, ref, columns, rows=rows)
    status = part.column("status")
    whole = pc.and_(
        pc.equal(part.column("part_path"), ""),
        pc.invert(is_among(status, UNFINISHED)),
    )
    is_split = pc.equal(status, SPLIT)
    if len(known):
        # The manifest decides, also where a second execution has answered what went on.
        went = pc.is_in(part.column("job_no"), value_set=known)
        whole, is_split = pc.and_not(whole, went), pc.and_not(is_split, went)
    split = part.filter(is_split).to_pylist()
    carried = part.filter(pc.equal(status, CARRIED)).column("children").to_pylist()
    over = pc.equal(status, str(Status.OVER_BUDGET))
    reading = Reading(
        answered=pc.sum(whole).as_py() or 0,
        states=pc.sum(part.column("states")).as_py() or 0,
        kernel_ns=pc.sum(part.column("kernel_ns")).as_py() or 0,
        goes_on=bool(split or carried),
        is_lost=bool(pc.any(is_among(status, _LOST)).as_py()),
        is_over_budget=bool(
            pc.any(pc.and_(over, pc.not_equal(part.column("part_path"), ""))).as_py()
        ),
    )
    left = Carried.from_json(carried[0]) if carried else None
    if not split:
        return Growth(part=part, chunks=[], reading=reading, carried=left)
    asked = lake.read_row_group(ref.manifest_path, ref.chunk)
    index_of = {job: i for i, job in enumerate(asked.column("job_no").to_pylist())}
    chunks: list[pa.Table] = []
    deferred = []
    for row in split:
        index = index_of.get(row["job_no"])
        if index is None or row["children"] is None:
            raise DamagedResultError(ref, f"{ref.result_path} answers other jobs than it was asked")
        if row["reason_code"] == ReasonCode.DEFERRED:
            deferred.append(index)
        elif row["children"] == AGAIN:
            chunks.append(asked.slice(index, 1))
        else:
            chunks += [
                manifest_row(asked.slice(index, 1), part, child_path(row["part_path"], i))
                for i, part in enumerate(json.loads(row["children"]))
            ]
    worked = part.num_rows - len(deferred)
    size = max(1, worked // 2)
    for start in range(0, len(deferred), size):
        chunks.append(asked.take(pa.array(deferred[start : start + size])))
    return Growth(part=part, chunks=chunks, reading=reading)


def single_rows(lake: Lake, ref: ChunkRef, known: pa.Array) -> list[pa.Table]:
    """Cut a chunk into chunks of one row, without the jobs `known` to go on elsewhere."""
    rows = lake.read_row_group(ref.manifest_path, ref.chunk)
    rows = rows.filter(pc.invert(pc.is_in(rows.column("job_no"), value_set=known)))
    return [rows.slice(i, 1) for i in range(rows.num_rows)]


def parts_of(number: int, chunks: Sequence[pa.Table]) -> dict[ChunkKey, PartOf]:
    """Tell which chunks of a segment are parts of divided jobs."""
    return {
        (number, i): PartOf(
            job=rows.column("job_no")[0].as_py(),
            stage=None if stage_part(rows.column("part")[0].as_py()) is None else path_key(path)[0],
        )
        for i, rows in enumerate(chunks)
        if rows.num_rows == 1 and (path := rows.column("part_path")[0].as_py())
    }


def read_parts(lake: Lake, run_id: str, segment: Segment) -> dict[ChunkKey, PartOf]:
    """Tell of the chunks of a segment which are parts of divided jobs."""
    rows = lake.read_table(segment_path(run_id, segment.number), _PART_OF)
    bounds = [0, *accumulate(segment.chunk_rows)]
    return parts_of(segment.number, [rows.slice(a, b - a) for a, b in pairwise(bounds)])


def write_unworked_result(lake: Lake, ref: ChunkRef, status: Status, reason: Reason) -> list[Row]:
    """Write the result of a chunk that is not worked any more, unless it has one.

    Returns the job and the puzzle of each of its rows.
    """
    rows = lake.read_row_group(ref.manifest_path, ref.chunk)
    part = [result_row(head, str(status), reason) for head in heads_of(rows)]
    lake.create_table(ref.result_path, pa.Table.from_pylist(part, PARTS))
    named: list[Row] = rows.select(["job_id", "puzzle_id"]).to_pylist()
    return named

"""States that a part of a staged count leaves for the next stage, as a Parquet file of its own.

runs/run=<id>/frontier/seg-…-chunk-….parquet, named like the chunk that wrote it. Rows are sorted
by bucket, and the metadata say where each bucket begins, so that a part of the next stage reads no
more row groups than its buckets lie in.

Nothing waits until a frontier is on the disk, and it is not kept for long: a worker that finds
one missing or damaged says so, and the chunk that wrote it is worked again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from nightgrid.archive.lake.json_files import CONTENT_ERRORS, describe_fault
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import frontier_schema
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.runs.manifest import Segment
from nightgrid.workers.runs.run_files import ChunkKey, ChunkRef, folder, named_chunks
from nightgrid.workers.runs.staged.stages import WORD_BYTES, StagePart

GROUP_ROWS = 16_384
"""Rows of a row group. A reader of some buckets reads half a row group in vain at either end."""
BATCH_GROUPS = 8
"""Row groups read at once, which bounds the memory of reading."""
_METADATA = b"nightgrid.frontier"

Rows = npt.NDArray[np.uint64]
"""uint64[states, row_words]: as `nightgrid.solvers.layered_count.LayeredCount.rows`."""


class LostFrontierError(Exception):
    """A frontier is missing, damaged or another than the one that was wanted."""


def frontier_path(ref: ChunkRef) -> str:
    """Return where a chunk leaves its states."""
    return f"{frontier_folder(ref.run_id)}/{ref.name}.parquet"


def frontier_folder(run_id: str) -> str:
    """Name the folder of all frontiers of a run."""
    return f"{folder(run_id)}/frontier"


def sources(segment_of: Callable[[int], Segment], ref: ChunkRef) -> list[ChunkRef]:
    """Name the chunks whose states a part of a stage takes over; `segment_of` knows segments."""
    number, chunk = ref.key
    while True:
        segment = segment_of(number)
        if segment.kind == "stage":
            return [ChunkRef(run_id=ref.run_id, segment=s, chunk=c) for s, c in segment.origins]
        if segment.kind == "plan":
            return []
        # Half of a part, or a row alone: it reads what the part would have read.
        number, chunk = segment.origins[chunk]


def write_frontier(
    lake: Lake,
    ref: ChunkRef,
    layer: int,
    rows: Rows,
    begins: npt.NDArray[np.int64],
    layout: str,
) -> None:
    """Write states of one layer, sorted by bucket; bucket b begins at row `begins[b]`."""
    width = rows.shape[1]
    groups = [rows[start : start + GROUP_ROWS] for start in range(0, len(rows), GROUP_ROWS)]
    about = {"layer": layer, "layout": layout, "begins": begins.tolist()}
    schema = frontier_schema(width)
    told = canonical_json(about).encode("ascii")
    schema = schema.with_metadata({**schema.metadata, _METADATA: told})

    def fill(sink: pa.NativeFile) -> None:
        # States are all different. Nothing is synced: a power failure may leave blank pages.
        with pq.ParquetWriter(
            sink,
            schema,
            compression="none",
            use_dictionary=False,
            write_statistics=False,
            write_page_checksum=True,
        ) as writer:
            for group in groups:
                states = [None, pa.py_buffer(group)]
                column = pa.Array.from_buffers(schema.field(0).type, len(group), states)
                writer.write_batch(
                    pa.record_batch([column], schema=schema), row_group_size=GROUP_ROWS
                )

    lake.write_spill(frontier_path(ref), fill)


def read_frontier(
    lake: Lake, ref: ChunkRef, part: StagePart, layout: str
) -> Iterator[tuple[Rows, npt.NDArray[np.int64]]]:
    """Read the states of a part's buckets that one chunk has left, a batch at a time.

    Each batch comes with where in it each of the part's buckets begins, and where the last ends.
    It is good until the next is asked for. Raises LostFrontierError, and PermanentError for
    states whose words mean something else to this machine.
    """
    path = frontier_path(ref)
    try:
        with lake.open_parquet(path) as file:
            about = _about(file, part, path)
            other = about["layout"] != layout
            first, last = part.buckets
            begins = np.array(about["begins"][first : last + 1], np.int64)
            if not other:
                ends = int(begins[0]), int(begins[-1])
                for at, rows in _batches(file, *ends):
                    yield rows, np.clip(begins - at, 0, len(rows))
    except PermanentError as error:
        raise LostFrontierError(str(error)) from error
    if other:
        raise PermanentError(f"{path} is of a machine that lays the board out otherwise")


def _about(file: pq.ParquetFile, part: StagePart, path: str) -> dict[str, Any]:
    text = (file.schema_arrow.metadata or {}).get(_METADATA)
    try:
        about: dict[str, Any] = {} if text is None else json.loads(text)
        begins = about.get("begins", [0])
        is_whole = begins[-1] == file.metadata.num_rows
        if about.get("layer") != part.layer or not is_whole:
            raise LostFrontierError(f"{path} does not hold the states of layer {part.layer}")
        if not 0 <= part.buckets[0] <= part.buckets[1] < len(begins):
            raise LostFrontierError(f"{path} has no buckets {part.buckets}")
    except CONTENT_ERRORS as error:
        raise LostFrontierError(f"{path} is damaged: {describe_fault(error)}") from error
    return about


def _batches(file: pq.ParquetFile, start: int, stop: int) -> Iterator[tuple[int, Rows]]:
    if start == stop:
        return
    words = file.schema_arrow.field(0).type.byte_width // WORD_BYTES
    size = file.metadata.row_group(0).num_rows
    first, last = start // size, -(-stop // size)
    batch = np.empty((min(BATCH_GROUPS, last - first) * size, words), np.uint64)
    for group in range(first, last, BATCH_GROUPS):
        groups = list(range(group, min(group + BATCH_GROUPS, last)))
        column = file.read_row_groups(groups, use_threads=False).column(0)
        at = 0
        for piece in column.chunks:
            found = np.frombuffer(piece.buffers()[1], np.uint64).reshape(-1, words)
            batch[at : at + len(piece)] = found[piece.offset : piece.offset + len(piece)]
            at += len(piece)
        before = group * size
        begin = max(start - before, 0)
        yield before + begin, batch[begin : min(stop - before, at)]


def frontiers(lake: Lake, run_id: str) -> list[ChunkKey]:
    """List the chunks of a run whose frontiers are in the lake."""
    return [key for key, _ in named_chunks(lake.list(frontier_folder(run_id)))]


def drop_frontiers(lake: Lake, run_id: str, dropped: Iterable[ChunkKey]) -> None:
    """Delete the frontiers of some chunks of a run."""
    for segment, chunk in dropped:
        ref = ChunkRef(run_id=run_id, segment=segment, chunk=chunk)
        lake.delete(frontier_path(ref), durable=False)

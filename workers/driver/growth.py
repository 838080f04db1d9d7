"""How a run grows: planned segments, split rows, next stages, and halved chunks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.archive.lake.schemas import MANIFEST_HEAD
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.statuses import is_among
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.workers.chunks.solved_rows import AGAIN
from nightgrid.workers.driver.chunk_table import Chunk, ChunkTable, PartOf, Reading, State
from nightgrid.workers.runs.attempt_notes import read_attempts
from nightgrid.workers.runs.finishing.finish import child_path, path_key
from nightgrid.workers.runs.finishing.gathering import SPLIT, UNFINISHED
from nightgrid.workers.runs.manifest import (
    Run,
    Segment,
    SegmentKind,
    SegmentTakenError,
    add_segment,
    has_plan,
    manifest_row,
    open_run,
    read_expanded,
    read_segments,
)
from nightgrid.workers.runs.run_files import (
    ChunkKey,
    ChunkRef,
    done_chunks,
    read_result,
    segment_path,
)
from nightgrid.workers.runs.staged import (
    CARRIED,
    Carried,
    drop_frontiers,
    frontiers,
    next_stage,
    sources,
    stage_part,
)
from nightgrid.workers.tuning import Tuning

_COLUMNS = (
    *("job_no", "part_path", "status", "reason_code", "children"),
    *("states", "kernel_ns"),
)
_PART_OF = pa.schema([f for f in MANIFEST_HEAD if f.name in ("job_no", "part", "part_path")])
_LOST = (str(Status.OVER_BUDGET), str(Status.POISON), str(Status.INVALID))


class GrowingRun:
    """A driver's view of its run: the manifest and the chunk table.

    The lake is written before the table is changed, so a failed step can be repeated. Methods raise
    SegmentTakenError if another driver has added to the run; it has to be opened again.
    """

    def __init__(self, lake: Lake, run_id: str, tuning: Tuning) -> None:
        self._lake, self._tuning = lake, tuning
        self.run = open_run(lake, run_id)
        self.table = open_table(lake, self.run)

    # -- planned segments ---------------------------------------------------------------

    def take_in_plan(self) -> None:
        """Add the segments that the planner has written meanwhile."""
        if self.run.planned:
            return
        # In this order, because the segments of a plan are written before it.
        planned = has_plan(self._lake, self.run.run_id)
        self._join_planned(self._new_segments())
        if planned:
            whole = open_run(self._lake, self.run.run_id)
            self.run = replace(whole, segments=self.run.segments)

    def _new_segments(self) -> tuple[Segment, ...]:
        """Read the segments that the planner has added; none if the plan was complete."""
        if self.run.planned:
            return ()
        new = read_segments(self._lake, self.run.run_id, len(self.run.segments))
        if any(segment.kind != "plan" for segment in new):
            raise SegmentTakenError(f"run {self.run.run_id}: another driver has added to it")
        return new

    def _join_planned(self, segments: Iterable[Segment]) -> None:
        for segment in segments:
            # Reading may fail; a segment that has joined is not read again.
            parts = read_parts(self._lake, self.run.run_id, segment)
            self.run = replace(self.run, segments=(*self.run.segments, segment))
            self.table.add(segment, parts)

    # -- rows and states that continue in new chunks --------------------------------------------

    def read_results(self) -> None:
        """Read new results; add a segment for rows that came back split.

        Raises DamagedResultError for a result that cannot be read.
        """
        split: list[tuple[ChunkKey, Reading]] = []
        origins: list[ChunkKey] = []
        chunks: list[pa.Table] = []
        try:
            for chunk in list(self.table.chunks_in(State.DONE)):
                found = read_chunk(self._lake, self.table.ref(chunk.key), chunk)
                if found is None:
                    self.table.move("requeue", chunk.key)
                    continue
                reading, new = found
                if new:
                    split.append((chunk.key, reading))
                    origins += [chunk.key] * len(new)
                    chunks += new
                else:
                    self.table.read(chunk.key, reading)
        finally:
            if chunks:
                self._add("split", origins, chunks)
            for key, reading in split:
                self.table.read(key, reading)

    def add_stages(self) -> None:
        """Add the next stage of each count whose parts were all read, the largest parts first."""
        for job, left in self.table.due_stages().items():
            carried = {c.key: c.reading.carried for c in left if c.reading and c.reading.carried}
            origins = sorted(carried)
            parts = next_stage([carried[o] for o in origins], self._tuning, self.run.budget)
            first = self.table.ref(origins[0])
            row = self._lake.read_row_groups(first.manifest_path, [first.chunk])
            number = (self.table.last_stage(job) or 0) + 1
            rows = [
                (size, manifest_row(row, part.to_json(), f"{number}.{i}"))
                for i, (part, size) in enumerate(parts)
            ]
            rows.sort(key=lambda sized: -sized[0])
            self._add("stage", origins, [chunk for _, chunk in rows])
            # Of all earlier stages: an outage may have left some.
            old = {PartOf(job=job, stage=stage) for stage in range(number - 1)}
            obsolete = {chunk.key for chunk in self.table if chunk.part_of in old}
            there = frontiers(self._lake, self.run.run_id)
            drop_frontiers(self._lake, self.run.run_id, obsolete.intersection(there))

    def has_sources(self, chunk: Chunk) -> bool:
        """Return whether the table has the states that a chunk takes over as being in the lake."""
        if chunk.part_of is None or chunk.part_of.stage is None:
            return True
        refs = sources(self.run.segments.__getitem__, self.table.ref(chunk.key))
        return all(self.table[ref.key].has_result for ref in refs)

    # -- segments ----------------------------------------------------------------------------

    def halve(self, chunk: Chunk) -> None:
        """Replace a chunk by two with half its rows each, without those that continue elsewhere."""
        ref = self.table.ref(chunk.key)
        rows = self._lake.read_row_groups(ref.manifest_path, [ref.chunk])
        rows = rows.filter(pc.invert(pc.is_in(rows.column("job_no"), value_set=chunk.went_on)))
        middle = rows.num_rows // 2
        self._add("halved", [chunk.key] * 2, [rows.slice(0, middle), rows.slice(middle)])

    def _add(self, kind: SegmentKind, origins: list[ChunkKey], chunks: list[pa.Table]) -> None:
        """Add a segment under the next free number; only the planner may have taken some."""
        while True:
            number, run_id = len(self.run.segments), self.run.run_id
            try:
                segment = add_segment(self._lake, run_id, number, kind, origins, chunks)
                break
            except SegmentTakenError:
                planned = self._new_segments()
                if not planned:
                    raise
                self._join_planned(planned)
        self.run = replace(self.run, segments=(*self.run.segments, segment))
        parts = parts_of(number, chunks) if kind != "halved" else {}
        numbers = (chunk.column("job_no").combine_chunks() for chunk in chunks)
        went_on = zip(origins, numbers, strict=True) if kind == "split" else ()
        self.table.add(segment, parts, went_on)


def open_table(lake: Lake, run: Run) -> ChunkTable:
    """Return the table of a run's chunks; those with a result are done and not yet read."""
    table = ChunkTable(run.run_id, read_attempts(lake, run.run_id))
    done = done_chunks(lake, run.run_id)
    for segment in run.segments:
        parts = read_parts(lake, run.run_id, segment) if segment.kind != "halved" else {}
        table.add(segment, parts, read_expanded(lake, run.run_id, [segment]).items())
    for chunk in list(table.chunks_in(State.READY)):
        if chunk.key in done:
            table.move("land", chunk.key)
    return table


def read_chunk(lake: Lake, ref: ChunkRef, chunk: Chunk) -> tuple[Reading, list[pa.Table]] | None:
    """Read the result of a chunk; None if it is missing.

    Returns its meaning for the run, and the manifest rows that continue it, one table for each new
    chunk. Parts, and rows over the small budget, get a chunk each; rows that the chunk had no time
    for share smaller ones. Raises DamagedResultError.
    """
    part = read_result(lake, ref, _COLUMNS, rows=chunk.rows)
    if not part.num_rows:
        return None
    status = part.column("status")
    whole = pc.and_(
        pc.equal(part.column("part_path"), ""),
        pc.invert(is_among(status, UNFINISHED)),
    )
    is_split = pc.equal(status, SPLIT)
    if len(chunk.went_on):
        # The manifest decides, even if a second execution has solved rows that continued.
        went = pc.is_in(part.column("job_no"), value_set=chunk.went_on)
        whole, is_split = pc.and_not(whole, went), pc.and_not(is_split, went)
    split = part.filter(is_split).to_pylist()
    carried = part.filter(pc.equal(status, CARRIED)).column("children").to_pylist()
    over = pc.equal(status, str(Status.OVER_BUDGET))
    reading = Reading(
        answered=pc.sum(whole).as_py() or 0,
        states=pc.sum(part.column("states")).as_py() or 0,
        kernel_ns=pc.sum(part.column("kernel_ns")).as_py() or 0,
        goes_on=bool(split or carried),
        carried=Carried.from_json(carried[0]) if carried else None,
        is_unanswered=bool(pc.any(is_among(status, _LOST)).as_py()),
        is_over_budget=bool(
            pc.any(pc.and_(over, pc.not_equal(part.column("part_path"), ""))).as_py()
        ),
    )
    return reading, _chunks_of_split(lake, ref, split, part.num_rows) if split else []


def _chunks_of_split(
    lake: Lake, ref: ChunkRef, split: Iterable[dict[str, object]], rows: int
) -> list[pa.Table]:
    """Group split rows of a chunk into new chunks."""
    asked = lake.read_row_groups(ref.manifest_path, [ref.chunk])
    index_of = {job: i for i, job in enumerate(asked.column("job_no").to_pylist())}
    chunks: list[pa.Table] = []
    deferred = []
    for row in split:
        index, children, path = index_of[row["job_no"]], row["children"], row["part_path"]
        if row["reason_code"] == ReasonCode.DEFERRED:
            deferred.append(index)
        elif children == AGAIN:
            chunks.append(asked.slice(index, 1))
        else:
            chunks += [
                manifest_row(asked.slice(index, 1), part, child_path(str(path), i))
                for i, part in enumerate(json.loads(str(children)))
            ]
    size = max(1, (rows - len(deferred)) // 2)
    for start in range(0, len(deferred), size):
        chunks.append(asked.take(pa.array(deferred[start : start + size])))
    return chunks


def parts_of(number: int, chunks: Sequence[pa.Table]) -> dict[ChunkKey, PartOf]:
    """Return which chunks of a segment are parts of divided jobs."""
    return {
        (number, i): PartOf(
            job=rows.column("job_no")[0].as_py(),
            stage=None if stage_part(rows.column("part")[0].as_py()) is None else path_key(path)[0],
        )
        for i, rows in enumerate(chunks)
        if rows.num_rows == 1 and (path := rows.column("part_path")[0].as_py())
    }


def read_parts(lake: Lake, run_id: str, segment: Segment) -> dict[ChunkKey, PartOf]:
    """Read which chunks of a segment are parts of divided jobs."""
    rows = lake.read_table(segment_path(run_id, segment.number), _PART_OF)
    bounds = [0, *accumulate(segment.chunk_rows)]
    return parts_of(segment.number, [rows.slice(a, b - a) for a, b in pairwise(bounds)])

"""A run that is worked: its manifest, its table of chunks, and how both grow.

The planner adds chunks while the run is worked, results come back split, chunks are broken up, and
staged counts go on when every part of a stage is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import pyarrow as pa

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.driver.chunk_records import Chunk, Reading, State
from nightgrid.workers.driver.chunk_table import ChunkTable
from nightgrid.workers.driver.collector import Collector
from nightgrid.workers.driver.follow_up_chunks import (
    GROWTH_COLUMNS,
    parts_of,
    read_growth,
    read_parts,
    single_rows,
)
from nightgrid.workers.driver.progress import Progress, progress_of
from nightgrid.workers.logs import get_logger
from nightgrid.workers.runs.attempts import read_all_attempts
from nightgrid.workers.runs.chunk_results import DamagedResultError
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
from nightgrid.workers.runs.run_files import ChunkKey, done_chunks
from nightgrid.workers.runs.staged.frontier import drop_frontiers, frontiers, sources
from nightgrid.workers.runs.staged.stages import StageSizes, next_stage

log = get_logger("nightgrid.driver")

POLL_SECONDS = 0.05
"""How often is looked whether the planner has come further."""


class GrowingRun:
    """One driver's view of one run.

    The lake is written before the table is changed: what fails is done again from the table.
    """

    def __init__(
        self, lake: Lake, run_id: str, sizes: StageSizes, check_planner: Callable[[], None] | None
    ) -> None:
        self._lake = lake
        self._sizes = sizes
        self._check_planner = check_planner
        self._plan_poll_at = 0.0
        self._obsolete: list[ChunkKey] = []
        self.run = open_run(lake, run_id)
        self.table = open_table(lake, self.run)

    # -- what the planner adds ---------------------------------------------------------------

    def check_planner(self) -> None:
        """Raise if the run is not planned to its end and no process plans it any more."""
        if self.run.planned:
            return
        if self._check_planner is None:
            run_id = self.run.run_id
            raise PermanentError(f"run {run_id} is not planned to its end, and no process plans it")
        self._check_planner()

    def take_in_plan(self) -> None:
        """Add the segments that the planner has written since the last poll."""
        now = time.monotonic()
        if self.run.planned or now < self._plan_poll_at:
            return
        self._plan_poll_at = now + POLL_SECONDS
        # In this order: when the plan is there, all of its segments are.
        planned = has_plan(self._lake, self.run.run_id)
        self._join_planned(self._new_segments())
        if planned:
            whole = open_run(self._lake, self.run.run_id)
            self.run = replace(whole, segments=self.run.segments)

    def _new_segments(self) -> tuple[Segment, ...]:
        """Read what has been added to a run whose plan is not complete.

        Raises SegmentTakenError when another driver has added to it.
        """
        if self.run.planned:
            return ()
        new = read_segments(self._lake, self.run.run_id, len(self.run.segments))
        if any(segment.kind != "plan" for segment in new):
            raise SegmentTakenError(f"run {self.run.run_id}: another driver has added to it")
        return new

    def _join_planned(self, segments: Sequence[Segment]) -> None:
        for segment in segments:
            # First what the lake may fail with: a segment that has joined is not read again.
            parts = read_parts(self._lake, self.run.run_id, segment) if segment.divided else {}
            self.run = replace(self.run, segments=(*self.run.segments, segment))
            self.table.add(segment, parts)

    # -- what goes on of results -------------------------------------------------------------

    def read_results(self, collector: Collector) -> None:
        """Read the results that came in; let what came back split go on in a new segment."""
        split: list[tuple[ChunkKey, Reading]] = []
        origins: list[ChunkKey] = []
        chunks: list[pa.Table] = []
        for chunk in list(self.table.chunks_in(State.DONE)):
            key, ref = chunk.key, self.table.ref(chunk.key)
            columns = collector.columns(chunk)
            try:
                growth = read_growth(self._lake, ref, chunk.went_on, columns, rows=chunk.rows)
            except DamagedResultError as error:
                collector.set_aside(error)
                self.table.move("reopen", key)
                continue
            if not growth.part.num_rows:
                # A worker has taken it back since, which had missed the states behind it.
                log.warning("result lost", chunk=ref.name)
                self.table.move("reopen", key)
            elif growth.chunks:
                split.append((key, growth.reading))
                origins += [key] * len(growth.chunks)
                chunks += growth.chunks
            else:
                self.table.read(key, growth.reading, growth.carried)
                if self.table[key].has_whole_answers:
                    collector.hold(key, growth.part)
        if chunks:
            self._add("split", origins, chunks)
        for key, reading in split:
            self.table.read(key, reading)

    def add_stages(self) -> None:
        """Let staged counts go on whose every part was read; the largest new parts stand first."""
        for job in self.table.jobs.due.values():
            origins = sorted(job.carried)
            carried = [job.carried[origin] for origin in origins]
            parts = next_stage(carried, self._sizes, self.run.budget)
            first = self.table.ref(origins[0])
            row = self._lake.read_row_group(first.manifest_path, first.chunk)
            number = (job.stage or 0) + 1
            rows = [
                (size, manifest_row(row, part.to_json(), f"{number}.{i}"))
                for i, (part, size) in enumerate(parts)
            ]
            rows.sort(key=lambda sized: -sized[0])
            self._add("stage", origins, [chunk for _, chunk in rows])
            self._obsolete = self._obsolete_frontiers()

    def _obsolete_frontiers(self) -> list[ChunkKey]:
        """Name the chunks whose frontiers are not read again: of two stages before the last.

        The states of the last stage but one are kept while its own may still be lost.
        """
        found = []
        for key in frontiers(self._lake, self.run.run_id):
            part = self.table[key].part_of if key in self.table else None
            if part is None or part.stage is None:
                continue
            last = self.table.jobs[part.job].stage
            if last is not None and part.stage < last - 1:
                found.append(key)
        return found

    def drop_obsolete(self) -> None:
        """Delete states that have been taken on, once the workers have the next to do."""
        drop_frontiers(self._lake, self.run.run_id, self._obsolete)
        self._obsolete = []

    def sources(self, chunk: Chunk) -> list[Chunk]:
        """Name the chunks whose states a chunk takes over: none if it is no part of a stage."""
        if not chunk.is_staged:
            return []
        refs = sources(self.run.segments.__getitem__, self.table.ref(chunk.key))
        return [self.table[ref.key] for ref in refs]

    def has_sources(self, chunk: Chunk) -> bool:
        """Tell whether the states that a chunk takes over are in the lake, as far as is known."""
        return all(source.has_result for source in self.sources(chunk))

    # -- segments ----------------------------------------------------------------------------

    def break_up(self, chunk: Chunk) -> None:
        """Let each row of a chunk that does not go on elsewhere be a chunk of its own."""
        chunks = single_rows(self._lake, self.table.ref(chunk.key), chunk.went_on)
        self._add("broken", [chunk.key] * len(chunks), chunks)

    def _add(self, kind: SegmentKind, origins: list[ChunkKey], chunks: list[pa.Table]) -> None:
        """Add a segment under the next number that is free; only the planner may have taken one."""
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
        parts = parts_of(number, chunks) if kind != "broken" else {}
        numbers = (chunk.column("job_no").combine_chunks() for chunk in chunks)
        went_on = zip(origins, numbers, strict=True) if kind == "split" else ()
        self.table.add(segment, parts, went_on)


def open_table(lake: Lake, run: Run) -> ChunkTable:
    """Make the table of a run's chunks; those that have a result are done and were not read."""
    table = ChunkTable(run.run_id, read_all_attempts(lake, run.run_id))
    done = done_chunks(lake, run.run_id)
    for segment in run.segments:
        divided = segment.kind == "plan" and run.divided_count
        has_parts = segment.kind in ("split", "stage") or divided
        parts = read_parts(lake, run.run_id, segment) if has_parts else {}
        table.add(segment, parts, read_expanded(lake, run.run_id, [segment]).items())
    table.sort_ready()
    for chunk in list(table.ready()):
        if chunk.key in done:
            table.move("land", chunk.key)
    return table


def read_progress(lake: Lake, run_id: str, processes: int = 1) -> Progress:
    """Tell how far a run is, whichever process works it: reads the result of each chunk.

    Raises PermanentError for a run that the lake does not have.
    """
    begun = time.monotonic()
    run = open_run(lake, run_id)
    table = open_table(lake, run)
    for chunk in list(table.chunks_in(State.DONE)):
        ref = table.ref(chunk.key)
        try:
            growth = read_growth(lake, ref, chunk.went_on, GROWTH_COLUMNS, rows=chunk.rows)
        except DamagedResultError:
            table.move("reopen", chunk.key)
        else:
            table.read(chunk.key, growth.reading, growth.carried)
    now = time.monotonic()
    return progress_of(table, run, processes=processes, seconds=now - begun, now=now)

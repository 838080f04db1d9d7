"""A run that is worked: its manifest, its table of chunks, and how both grow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pyarrow as pa

from nightgrid.archive.lake.storage import Lake
from nightgrid.workers.driver.barriers import next_stages, obsolete_frontiers
from nightgrid.workers.driver.chunk_states import Chunk, Reading, State
from nightgrid.workers.driver.collector import Collector
from nightgrid.workers.driver.follow_up_chunks import parts_of, read_parts, single_rows, went_on
from nightgrid.workers.driver.plan_watch import PlanWatch
from nightgrid.workers.driver.run_status import open_table
from nightgrid.workers.logs import get_logger
from nightgrid.workers.runs.frontier import drop_frontiers, sources
from nightgrid.workers.runs.manifest import (
    Place,
    Segment,
    SegmentKind,
    SegmentTakenError,
    add_segment,
    open_run,
)
from nightgrid.workers.runs.stages import StageSizes

log = get_logger("nightgrid.driver")


class GrowingRun:
    """One driver's view of one run.

    The lake is written before the table is changed: what fails is done again from the table.
    """

    def __init__(
        self, lake: Lake, run_id: str, sizes: StageSizes, check_planner: Callable[[], None] | None
    ) -> None:
        self._lake = lake
        self._sizes = sizes
        self._plan = PlanWatch(lake, check_planner)
        self._obsolete: list[Place] = []
        self.run = open_run(lake, run_id)
        self.table = open_table(lake, self.run)

    # -- what the planner adds ---------------------------------------------------------------

    def check_planner(self) -> None:
        """Raise if the run is not planned to its end and no process plans it any more."""
        self._plan.check(self.run)

    def take_in_plan(self) -> None:
        """Go on with what the planner has added."""
        planned, new = self._plan.news(self.run)
        self._join_planned(new)
        if planned:
            self.run = self._plan.completed(self.run)

    def _join_planned(self, segments: Sequence[Segment]) -> None:
        for segment in segments:
            # First what the lake may fail with: a segment that has joined is not read again.
            parts = read_parts(self._lake, self.run.run_id, segment) if segment.divided else {}
            self.run = replace(self.run, segments=(*self.run.segments, segment))
            self.table.add(segment, parts)

    # -- what goes on of results -------------------------------------------------------------

    def read_results(self, collector: Collector) -> None:
        """Read the results that came in; let what came back split go on in a new segment."""
        split: list[tuple[Place, Reading]] = []
        origins: list[Place] = []
        chunks: list[pa.Table] = []
        for chunk in list(self.table.chunks_in(State.DONE)):
            place, ref = chunk.place, self.table.ref(chunk.place)
            growth = went_on(self._lake, ref, chunk.went_on, collector.columns(chunk))
            if not growth.part.num_rows:
                # A worker has taken it back since, which had missed the states behind it.
                log.warning("result lost", chunk=ref.name)
                self.table.reopen(place)
            elif growth.chunks:
                split.append((place, growth.reading))
                origins += [place] * len(growth.chunks)
                chunks += growth.chunks
            else:
                self.table.read(place, growth.reading, growth.carried)
                if self.table[place].has_whole_answers:
                    collector.hold(place, growth.part)
        if chunks:
            self._add("split", origins, chunks)
        for place, reading in split:
            self.table.read(place, reading)

    def add_stages(self) -> None:
        """Let staged counts go on whose every part was read."""
        for stage in next_stages(self._lake, self.table, self._sizes, self.run.budget):
            self._add("stage", stage.origins, stage.chunks)
            self._obsolete = obsolete_frontiers(self._lake, self.table)

    def drop_obsolete(self) -> None:
        """Delete states that have been taken on, once the workers have the next to do."""
        drop_frontiers(self._lake, self.run.run_id, self._obsolete)
        self._obsolete = []

    def sources(self, chunk: Chunk) -> list[Chunk]:
        """Name the chunks whose states a chunk takes over: none if it is no part of a stage."""
        if not chunk.is_staged:
            return []
        refs = sources(self.run.segments.__getitem__, self.table.ref(chunk.place))
        return [self.table[ref.place] for ref in refs]

    def has_sources(self, chunk: Chunk) -> bool:
        """Tell whether the states that a chunk takes over are in the lake, as far as is known."""
        return all(source.has_result for source in self.sources(chunk))

    # -- segments ----------------------------------------------------------------------------

    def break_up(self, chunk: Chunk) -> None:
        """Let each row of a chunk that does not go on elsewhere be a chunk of its own."""
        chunks = single_rows(self._lake, self.table.ref(chunk.place), chunk.went_on)
        self._add("broken", [chunk.place] * len(chunks), chunks)

    def _add(self, kind: SegmentKind, origins: list[Place], chunks: list[pa.Table]) -> None:
        """Add a segment under the next number that is free; only the planner may have taken one."""
        while True:
            number, run_id = len(self.run.segments), self.run.run_id
            try:
                segment = add_segment(self._lake, run_id, number, kind, origins, chunks)
                break
            except SegmentTakenError:
                planned = self._plan.new_segments(self.run)
                if not planned:
                    raise
                self._join_planned(planned)
        self.run = replace(self.run, segments=(*self.run.segments, segment))
        parts = parts_of(number, chunks) if kind != "broken" else {}
        self.table.add(segment, parts, _numbers(origins, chunks) if kind == "split" else ())


def _numbers(origins: Iterable[Place], chunks: Iterable[pa.Table]) -> list[tuple[Place, pa.Array]]:
    """Tell which jobs of which origins go on."""
    numbers = (chunk.column("job_no").combine_chunks() for chunk in chunks)
    return list(zip(origins, numbers, strict=True))

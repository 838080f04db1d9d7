"""The manifest of a run: its question, and its segments of chunks."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

import pyarrow as pa

from nightgrid.archive.lake.faults import DamagedFileError, MissingFileError, NotInLakeError
from nightgrid.archive.lake.json_files import read_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.skipped_files import skip_file
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.solvers.question import Question
from nightgrid.workers.runs.run_files import (
    CHUNKS_MAX,
    ChunkKey,
    ChunkRef,
    asked_path,
    check_run_id,
    done_path,
    folder,
    plan_path,
    segment_path,
)
from nightgrid.workers.runs.unanswered_jobs import Retry

_ORIGINS = b"nightgrid.segment"
"""Key of the schema metadata that holds a segment's kind, origins and expected costs."""
NO_JOBS = pa.nulls(0, pa.int64())
_OPTIONAL = (
    *("job_count", "answered_count", "divided_count", "puzzle_count", "poison_count"),
    *("solution_bytes", "divide_into", "puzzle"),
)
"""Fields of a plan, by name."""
_JOB_NO = pa.schema([pa.field("job_no", pa.int64(), nullable=False)])

SegmentKind = Literal["plan", "split", "halved", "stage"]


class SegmentTakenError(TransientError):
    """Another driver has added the segment; the run has to be read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One manifest file."""

    number: int
    kind: SegmentKind
    """`plan`: written by the planner. `split`: children of rows that came back split.
    `halved`: the two halves of chunks that failed too often.
    `stage`: the next stage of a staged count, one part a chunk."""
    origins: tuple[ChunkKey, ...]
    """For each chunk the chunk that it continues; empty for `plan`. For a `stage`, the chunks whose
    states all of its chunks together take over."""
    chunk_rows: tuple[int, ...]
    chunk_cost_s: tuple[float, ...] = ()
    """The planner's estimate for each chunk, in seconds; empty if it made none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A planned run, as read from its files."""

    run_id: str
    question: Question
    budget: Budget
    job_count: int
    answered_count: int
    """Jobs that were already answered or given up when the run was planned."""
    divided_count: int
    """Jobs that were divided when the run was planned."""
    segments: tuple[Segment, ...]
    planned: bool = True
    """Whether its segments have all of its jobs; if not, job counts are those planned so far."""
    puzzle_count: int = 0
    """Puzzles that it is planned from, if the planner knew how many."""
    poison_count: int = 0
    """Jobs among those answered that the lake has only as poison."""
    retry: Retry | None = None
    """Jobs that it solves although an earlier run gave them up within this budget."""
    solution_bytes: int | None = None
    """Bytes of solutions that a job may list; None: the worker's setting."""
    divide_into: int = 1
    """Parts for processes that were idle when it was planned, see `Asking.divide_into`."""
    puzzle: str | None = None
    """The board of an on-demand job as JSON."""

    def chunks(self) -> list[ChunkRef]:
        """Return every chunk that has to be solved; halved ones are replaced by their halves."""
        halved = {key for s in self.segments if s.kind == "halved" for key in s.origins}
        return [
            ChunkRef(run_id=self.run_id, segment=s.number, chunk=i)
            for s in self.segments
            for i in range(len(s.chunk_rows))
            if (s.number, i) not in halved
        ]

    def rows(self, key: ChunkKey) -> int:
        """Count the rows of a chunk."""
        return self.segments[key[0]].chunk_rows[key[1]]


def open_run(lake: Lake, run_id: str) -> Run:
    """Read the question of a run and the segments of its manifest; a finished run has none.

    Raises NotInLakeError for a run that does not exist, and DamagedFileError for a damaged file.
    """
    check_run_id(run_id)
    # In this order: segments are written before the plan, DONE.json before all else is deleted.
    plan = read_json(lake, plan_path(run_id))
    planned = plan is not None
    plan = plan or read_json(lake, asked_path(run_id)) or {}
    done = read_json(lake, done_path(run_id))
    if done is not None:
        plan, planned = plan | done, True
    if not plan:
        raise NotInLakeError(f"run {run_id} is not in ", lake.url, "; expected a planned run")
    try:
        segments = () if done is not None else read_segments(lake, run_id)
    except MissingFileError:
        if not lake.exists(done_path(run_id)):
            raise
        return open_run(lake, run_id)
    if not planned:
        rows = sum(sum(s.chunk_rows) for s in segments if s.kind == "plan")
        plan |= {"job_count": rows, "answered_count": 0, "divided_count": 0}
    return Run(
        run_id=run_id,
        question=Question.from_json(plan),
        budget=Budget(**plan["budget"]),
        segments=segments,
        planned=planned,
        retry=Retry(plan["retry"]) if plan.get("retry") else None,
        **{name: plan[name] for name in _OPTIONAL if name in plan},
    )


def has_plan(lake: Lake, run_id: str) -> bool:
    """Return whether a run is completely planned."""
    return lake.exists(plan_path(run_id)) or lake.exists(done_path(run_id))


def has_run(lake: Lake, run_id: str) -> bool:
    """Return whether a run is planned, or its planning has started."""
    return lake.exists(asked_path(run_id)) or has_plan(lake, run_id)


def count_segments(lake: Lake, run_id: str) -> int:
    """Count the segments of a run's manifest."""
    return sum(name.endswith(".parquet") for name in lake.list(f"{folder(run_id)}/manifest"))


def read_segments(lake: Lake, run_id: str, first: int = 0) -> tuple[Segment, ...]:
    """Read the segments of a run's manifest, from number `first` on."""
    numbers = range(first, count_segments(lake, run_id))
    return tuple(read_segment(lake, run_id, number) for number in numbers)


def read_segment(lake: Lake, run_id: str, number: int) -> Segment:
    """Read one segment of a run's manifest."""
    path = segment_path(run_id, number)
    with lake.open_parquet(path) as file:
        about = json.loads(file.metadata.metadata[_ORIGINS])
        chunk_rows = tuple(file.group_rows())
    return Segment(
        number=number,
        kind=about["kind"],
        origins=tuple((segment, chunk) for segment, chunk in about["origins"]),
        chunk_rows=chunk_rows,
        chunk_cost_s=tuple(about["cost_s"]),
    )


def add_segment(
    lake: Lake,
    run_id: str,
    number: int,
    kind: SegmentKind,
    origins: Sequence[ChunkKey],
    chunks: Sequence[pa.Table],
    cost_s: Sequence[float] = (),
) -> Segment:
    """Add one manifest segment, one chunk per table, each of at least one row of its origin.

    `cost_s` is the planner's estimate for each chunk. Raises SegmentTakenError if the run has a
    segment of this number: its chunks must never change, since workers may be solving them.
    """
    if len(chunks) > CHUNKS_MAX:
        raise PermanentError(f"{len(chunks)} chunks; a segment holds at most {CHUNKS_MAX}")
    path, schema = segment_path(run_id, number), chunks[0].schema
    about = canonical_json({"kind": kind, "origins": list(origins), "cost_s": list(cost_s)})
    schema = schema.with_metadata({**(schema.metadata or {}), _ORIGINS: about})
    if not lake.write_row_groups(path, chunks, schema, new=True):
        raise SegmentTakenError(f"run {run_id}: another process has added segment {number}")
    chunk_rows = tuple(len(chunk) for chunk in chunks)
    return Segment(number=number, kind=kind, origins=tuple(origins), chunk_rows=chunk_rows)


def manifest_row(row: pa.Table, part: Any, part_path: str) -> pa.Table:
    """Return the manifest row of a part, from that of its job or of the part it belongs to."""
    for name, text in (("part", canonical_json(part)), ("part_path", part_path)):
        at = row.schema.get_field_index(name)
        row = row.set_column(at, row.schema.field(at), pa.array([text], pa.string()))
    return row


def read_done(lake: Lake, run_id: str) -> dict[str, Any] | None:
    """Read how a finished run ended, or None if it is not finished.

    A damaged DONE.json counts as missing: what has no result row is planned again.
    """
    path = done_path(run_id)
    try:
        return read_json(lake, path)
    except DamagedFileError as error:
        skip_file(path, error)
        return None


def read_expanded(lake: Lake, run_id: str, segments: Iterable[Segment]) -> dict[ChunkKey, pa.Array]:
    """Read which jobs of which chunks continue in `split` segments among these: their numbers.

    The manifest decides, not the chunk result: a chunk that is solved twice and runs out of time
    once may come back split one time and solved the other.
    """
    went_on: dict[ChunkKey, list[pa.Array]] = defaultdict(list)
    for segment in segments:
        if segment.kind == "split":
            path = segment_path(run_id, segment.number)
            numbers = lake.read_table(path, _JOB_NO).column("job_no").combine_chunks()
            ends = accumulate(segment.chunk_rows)
            for origin, rows, end in zip(segment.origins, segment.chunk_rows, ends, strict=True):
                went_on[origin].append(numbers.slice(end - rows, rows))
    return {origin: pa.concat_arrays(numbers) for origin, numbers in went_on.items()}

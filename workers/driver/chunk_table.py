"""The table of a run's chunks: one record for each, changed only by named transitions.

A state machine without a lake, a queue or a clock. The lake is authoritative: most transitions
record what the driver found there. Sums are computed on demand: a run has hundreds of chunks,
rarely thousands.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal

import pyarrow as pa

from nightgrid.workers.metrics import CHUNKS
from nightgrid.workers.runs.manifest import NO_JOBS, Segment, SegmentKind
from nightgrid.workers.runs.run_files import ChunkKey, ChunkRef
from nightgrid.workers.runs.staged import Carried


class State(StrEnum):
    """The states of a chunk; docs/explanation/architecture.md has the table."""

    READY = "ready"
    """To be sent."""
    SENT = "sent"
    """Its message was sent; no worker is known to have started."""
    BEGUN = "begun"
    """A worker has noted its attempt in the lake."""
    DONE = "done"
    """Its result is in the lake and has not been read yet."""
    READ = "read"
    """Its result was read; rows that continue elsewhere are in the manifest."""
    HALVED = "halved"
    """It failed too often; two chunks of another segment replace it."""


IN_FLIGHT = (State.SENT, State.BEGUN)
"""States in which a chunk has a flight."""
HAS_RESULT = (State.DONE, State.READ)
"""States of a chunk whose result is in the lake."""
OPEN = (State.READY, *IN_FLIGHT, State.DONE)
"""States that a chunk has to leave before its run is finished."""

TRANSITIONS: Mapping[str, Mapping[State, State]] = MappingProxyType(
    {
        "send": {State.READY: State.SENT},
        "begin": dict.fromkeys((State.READY, *IN_FLIGHT), State.BEGUN),
        "fail": dict.fromkeys(IN_FLIGHT, State.READY),
        "requeue": dict.fromkeys((*IN_FLIGHT, *HAS_RESULT), State.READY),
        "halve": dict.fromkeys((State.READY, *IN_FLIGHT), State.HALVED),
        "land": dict.fromkeys((State.READY, *IN_FLIGHT), State.DONE),
        "read": {State.DONE: State.READ},
    }
)
"""Target state by transition name and source state."""
PlainTransition = Literal["fail", "requeue", "halve", "land"]
"""Transitions without arguments. A chunk that becomes ready again is sent first."""


class IllegalTransitionError(Exception):
    """The state of a chunk does not have this transition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOf:
    """The job that a chunk is a part of."""

    job: int
    stage: int | None
    """Number of its stage, if the job is counted by stages."""


@dataclass(slots=True, kw_only=True)
class Flight:
    """The flight of a chunk that was sent or started and has no result in the lake."""

    sent_at: float
    """Monotonic seconds."""
    worker: str = ""
    """The worker that noted its start, if any."""
    missing_since: float | None = None
    """Monotonic seconds of the first check that found its message missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The meaning of a chunk's result for its run."""

    answered: int = 0
    """Whole jobs that it answers."""
    states: int = 0
    """States that the chunk kept."""
    kernel_ns: int = 0
    """Kernel time of the chunk."""
    goes_on: bool = False
    """Whether rows of it continue in other chunks, or its states in the next stage."""
    carried: Carried | None = None
    """The output of a part of a staged count for the next stage."""
    is_unanswered: bool = False
    """Whether its job can no longer be answered."""
    is_over_budget: bool = False
    """Whether that is because this part is finally over budget."""


@dataclass(slots=True, kw_only=True)
class Chunk:
    """One chunk of a run, as its driver knows it; only the chunk table changes it."""

    key: ChunkKey
    kind: SegmentKind
    """Kind of its segment."""
    rows: int
    expected_s: float | None = None
    """Seconds that the planner expects it to take; None: no estimate."""
    part_of: PartOf | None = None
    state: State = State.READY
    attempt: int = 1
    """The current attempt."""
    flight: Flight | None = None
    """Set while it is in flight."""
    reading: Reading | None = None
    """The meaning of its result when last read."""
    is_continued: bool = False
    """Whether a later segment continues rows or states of it."""
    went_on: pa.Array = field(default_factory=lambda: NO_JOBS)
    """Numbers of its jobs that continue in `split` segments."""

    @property
    def has_result(self) -> bool:
        """Whether its result is in the lake."""
        return self.state in HAS_RESULT

    @property
    def rows_left(self) -> int:
        """How many of its rows do not continue elsewhere."""
        return self.rows - len(self.went_on)

    @property
    def is_unanswered(self) -> bool:
        """Whether its result leaves the job unanswered."""
        return self.reading is not None and self.reading.is_unanswered

    @property
    def is_open_part(self) -> bool:
        """Whether its job waits for its outcome; a part that continues elsewhere has none."""
        return not self.is_continued and (
            self.reading is None or (self.reading.goes_on and not self.reading.is_unanswered)
        )


class ChunkTable:
    """The chunks of one run, in memory: some hundred bytes each.

    `attempts` is the last attempt at each started chunk. Every transition raises
    IllegalTransitionError in a state that does not have it. Returned chunks are live: they change
    with the table.
    """

    def __init__(self, run_id: str, attempts: Mapping[ChunkKey, int] | None = None) -> None:
        self.run_id = run_id
        self._attempts = attempts or {}
        self._chunks: dict[ChunkKey, Chunk] = {}
        self._parts: dict[int, list[Chunk]] = defaultdict(list)
        self._open: dict[State, OrderedDict[ChunkKey, None]] = {
            state: OrderedDict() for state in OPEN
        }

    # -- contents -----------------------------------------------------------------------

    def __getitem__(self, key: ChunkKey) -> Chunk:
        return self._chunks[key]

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self._chunks.values())

    def get(self, key: ChunkKey) -> Chunk | None:
        """Look up a chunk; None: the table does not have it."""
        return self._chunks.get(key)

    def ref(self, key: ChunkKey) -> ChunkRef:
        """Return a reference to a chunk with its current attempt."""
        attempt = self._chunks[key].attempt
        return ChunkRef(run_id=self.run_id, segment=key[0], chunk=key[1], attempt=attempt)

    def chunks_in(self, *states: State) -> Iterator[Chunk]:
        """Yield the chunks in open states; ready ones in sending order."""
        return (self._chunks[key] for state in states for key in self._open[state])

    def number_in(self, *states: State) -> int:
        """Count the chunks in open states."""
        return sum(len(self._open[state]) for state in states)

    def flights(self) -> list[Flight]:
        """List all flights."""
        return [chunk.flight for chunk in self.chunks_in(*IN_FLIGHT) if chunk.flight is not None]

    @property
    def in_flight(self) -> int:
        """How many chunks were sent and have no result yet."""
        return self.number_in(*IN_FLIGHT)

    @property
    def is_settled(self) -> bool:
        """Whether no chunk is left to solve or read, and no stage to add."""
        return not any(self._open.values()) and not self.due_stages()

    # -- divided jobs -------------------------------------------------------

    def parts(self) -> list[list[Chunk]]:
        """List the parts of each divided job."""
        return list(self._parts.values())

    def is_unrecoverable(self, chunk: Chunk) -> bool:
        """Return whether any part of a chunk's job is over budget, which makes this one futile."""
        parts = () if chunk.part_of is None else self._parts[chunk.part_of.job]
        return any(part.reading is not None and part.reading.is_over_budget for part in parts)

    def last_stage(self, job: int) -> int | None:
        """Return the number of the last planned stage of a job; None if it has no stages."""
        stages = [c.part_of.stage for c in self._parts[job] if c.part_of is not None]
        return max((stage for stage in stages if stage is not None), default=None)

    def due_stages(self) -> dict[int, list[Chunk]]:
        """Return the staged counts whose next stage can be planned: all parts of the last are read.

        Maps the number of the job to the parts whose states the next stage takes over.
        """
        due = {}
        for job in sorted(self._parts):
            stage = self.last_stage(job)
            parts = [c for c in self._parts[job] if c.part_of == PartOf(job=job, stage=stage)]
            if stage is None or any(c.state is not State.READ or c.is_unanswered for c in parts):
                continue
            left = [c for c in parts if c.reading is not None and c.reading.carried is not None]
            if left:
                due[job] = left
        return due

    # -- adding chunks --------------------------------------------------------------------

    def add(
        self,
        segment: Segment,
        parts: Mapping[ChunkKey, PartOf],
        went_on: Iterable[tuple[ChunkKey, pa.Array]] = (),
    ) -> None:
        """Add the chunks of a segment, and mark its origins as halved or continued.

        `parts` maps chunks to the jobs that they are parts of, `went_on` origins to their jobs that
        continue in a `split` segment. Split rows are sent before all others, as they take longest.
        """
        costs = segment.chunk_cost_s or [None] * len(segment.chunk_rows)
        new = []
        for number, (rows, cost_s) in enumerate(zip(segment.chunk_rows, costs, strict=True)):
            key = segment.number, number
            chunk = Chunk(
                key=key,
                kind=segment.kind,
                rows=rows,
                expected_s=cost_s,
                part_of=parts.get(key),
                attempt=self._attempts.get(key, 1),
            )
            if chunk.part_of is not None:
                self._parts[chunk.part_of.job].append(chunk)
            self._chunks[key] = chunk
            new.append(key)
        self._open[State.READY].update(dict.fromkeys(new))
        if segment.kind == "split":
            for key in reversed(new):
                self._open[State.READY].move_to_end(key, last=False)
        for key in set(segment.origins):
            if segment.kind == "halved":
                self.move("halve", key)
            else:
                self._chunks[key].is_continued = True
        for key, numbers in went_on:
            origin = self._chunks[key]
            origin.went_on = pa.concat_arrays([origin.went_on, numbers])

    # -- transitions -------------------------------------------------------------------------

    def send(self, key: ChunkKey, now: float) -> None:
        """Record that its message was sent."""
        self._move("send", key, flight=Flight(sent_at=now))

    def begin(self, key: ChunkKey, worker: str, now: float) -> None:
        """Record that a worker has started it; maybe not the first, or for an earlier driver."""
        flight = self._chunks[key].flight or Flight(sent_at=now)
        self._move("begin", key, flight=flight)
        if worker != flight.worker:
            flight.worker, flight.missing_since = worker, None

    def move(self, transition: PlainTransition, key: ChunkKey) -> None:
        """Make a transition without arguments."""
        self._move(transition, key)

    def read(self, key: ChunkKey, reading: Reading) -> None:
        """Record that its result was read; add the chunks that continue its rows first."""
        self._move("read", key, reading=reading)

    def _move(self, transition: str, key: ChunkKey, **changes: Any) -> None:
        chunk = self._chunks[key]
        before, after = chunk.state, TRANSITIONS[transition].get(chunk.state)
        if after is None:
            raise IllegalTransitionError(f"{transition}: chunk {key} is {before}")
        CHUNKS.labels(transition).inc()
        if after not in IN_FLIGHT:
            changes["flight"] = None
        if transition == "fail":
            changes["attempt"] = chunk.attempt + 1
        for name, value in {**changes, "state": after}.items():
            setattr(chunk, name, value)
        if after is before:
            return
        if before in self._open:
            del self._open[before][key]
        if after in self._open:
            self._open[after][key] = None
        if after is State.READY:
            self._open[after].move_to_end(key, last=False)

"""The one table of a run's chunks: a record for each, changed by named transitions alone.

A state machine without a lake, a queue or a clock. Sums and divided jobs follow from the records:
before a record changes it is counted out, and then in again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from nightgrid.workers.driver.chunk_records import (
    IN_FLIGHT,
    OPEN,
    TRANSITIONS,
    Chunk,
    Counts,
    DividedJobs,
    Flight,
    IllegalTransitionError,
    PartOf,
    PlainTransition,
    Reading,
    State,
)
from nightgrid.workers.metrics import CHUNKS
from nightgrid.workers.runs.manifest import Segment, with_more
from nightgrid.workers.runs.run_files import ChunkKey, ChunkRef
from nightgrid.workers.runs.staged import Carried


class ChunkTable:
    """The chunks of one run, in memory: some hundred bytes each.

    `attempts` is the last attempt at each chunk that was begun. Every transition raises
    IllegalTransitionError in a state that does not have it. A chunk that was looked up changes
    with the table.
    """

    def __init__(self, run_id: str, attempts: Mapping[ChunkKey, int] | None = None) -> None:
        self.run_id = run_id
        self.counts = Counts()
        self.jobs = DividedJobs()
        self._attempts = attempts or {}
        self._chunks: dict[ChunkKey, Chunk] = {}
        self._open: dict[State, OrderedDict[ChunkKey, None]] = {
            state: OrderedDict() for state in OPEN
        }

    # -- what it holds -----------------------------------------------------------------------

    def __getitem__(self, key: ChunkKey) -> Chunk:
        return self._chunks[key]

    def __contains__(self, key: ChunkKey) -> bool:
        return key in self._chunks

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self._chunks.values())

    def get(self, key: ChunkKey) -> Chunk | None:
        """Look up a chunk; None: the table does not have it."""
        return self._chunks.get(key)

    def ref(self, key: ChunkKey) -> ChunkRef:
        """Name a chunk with the attempt that counts now."""
        attempt = self._chunks[key].attempt
        return ChunkRef(run_id=self.run_id, segment=key[0], chunk=key[1], attempt=attempt)

    def chunks_in(self, *states: State) -> Iterator[Chunk]:
        """Yield the chunks in open states, in the order in which they came into each."""
        return (self._chunks[key] for state in states for key in self._open[state])

    def number_in(self, *states: State) -> int:
        """Count the chunks in open states."""
        return sum(len(self._open[state]) for state in states)

    def ready(self) -> Iterator[Chunk]:
        """Yield the chunks that are to be sent, the next first."""
        return self.chunks_in(State.READY)

    def flights(self) -> list[Flight]:
        """List the flights of the chunks that have one."""
        return [chunk.flight for chunk in self.chunks_in(*IN_FLIGHT) if chunk.flight is not None]

    @property
    def in_flight(self) -> int:
        """How many chunks were sent and are not back."""
        return self.number_in(*IN_FLIGHT)

    @property
    def is_settled(self) -> bool:
        """Whether no chunk is left to be worked or read, and no stage to be added."""
        return not any(self._open.values()) and not self.jobs.due

    # -- chunks that come --------------------------------------------------------------------

    def add(
        self,
        segment: Segment,
        parts: Mapping[ChunkKey, PartOf],
        went_on: Iterable[tuple[ChunkKey, pa.Array]] = (),
    ) -> None:
        """Add the chunks of a segment, and note what its origins are from now on.

        `parts` says which chunks are parts of jobs, `went_on` which jobs of which origins go on in
        a `split` segment. What came back split is sent before all others: it takes longest.
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
                self.jobs.meet(chunk.part_of, planned=segment.kind == "plan")
            self._chunks[key] = chunk
            self._count_in(chunk)
            new.append(chunk)
        self._open[State.READY].update((chunk.key, None) for chunk in new)
        if segment.kind == "split":
            for chunk in reversed(new):
                self._open[State.READY].move_to_end(chunk.key, last=False)
        origins = dict.fromkeys(segment.origins)
        if segment.kind == "halved":
            for key in origins:
                self.move("halve", key)
            return
        numbers = with_more({key: self._chunks[key].went_on for key in origins}, went_on)
        for key in origins:
            old = self._chunks[key]
            self._change(old, is_continued=True, went_on=numbers.get(key, old.went_on))

    # -- transitions -------------------------------------------------------------------------

    def send(self, key: ChunkKey, now: float) -> None:
        """Its message was sent."""
        self._move("send", key, flight=Flight(ref=self.ref(key), sent_at=now))

    def begin(self, key: ChunkKey, worker: str, now: float) -> None:
        """A worker has noted that it begins: after another one, or for an earlier driver."""
        flight = self._chunks[key].flight or Flight(ref=self.ref(key), sent_at=now)
        self._move("begin", key, flight=flight)
        if worker != flight.worker:
            flight.worker, flight.missing_since = worker, None

    def move(self, transition: PlainTransition, key: ChunkKey) -> None:
        """Make a transition of which nothing else is to be noted."""
        self._move(transition, key)

    def read(self, key: ChunkKey, reading: Reading, carried: Carried | None = None) -> None:
        """Its result was read; chunks in which rows of it go on have been added before."""
        self._move("read", key, carried, reading=reading)

    # -- how records change ------------------------------------------------------------------

    def _move(
        self, transition: str, key: ChunkKey, carried: Carried | None = None, **changes: Any
    ) -> Chunk:
        """Make a transition; a chunk that becomes ready again is sent before all others."""
        chunk = self._chunks[key]
        before, after = chunk.state, TRANSITIONS[transition].get(chunk.state)
        if after is None:
            raise IllegalTransitionError(f"{transition}: chunk {key} is {before}")
        CHUNKS.labels(transition).inc()
        if after not in IN_FLIGHT:
            changes["flight"] = None
        if transition == "fail":
            changes["attempt"] = chunk.attempt + 1
        self._change(chunk, carried, state=after, **changes)
        if after is not before:
            if before in self._open:
                del self._open[before][key]
            if after in self._open:
                self._open[after][key] = None
            if after is State.READY:
                self._open[after].move_to_end(key, last=False)
        return chunk

    def _change(self, chunk: Chunk, carried: Carried | None = None, **changes: Any) -> None:
        """Change fields of a record, and bring all that follows from it up to date."""
        self.counts.add(chunk, -1)
        if chunk.part_of is not None:
            self.jobs[chunk.part_of.job].add(chunk, -1)
        for name, value in changes.items():
            setattr(chunk, name, value)
        self._count_in(chunk, carried)

    def _count_in(self, chunk: Chunk, carried: Carried | None = None) -> None:
        self.counts.add(chunk)
        if chunk.part_of is not None:
            self.jobs.count_in(chunk, chunk.part_of, carried)

"""The records of a run's chunks: states, which transition leads where, and what they add up to.

What is in the lake decides: most transitions say what the driver has found there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

import pyarrow as pa

from nightgrid.workers.runs.manifest import NO_JOBS, SegmentKind
from nightgrid.workers.runs.run_files import ChunkKey, ChunkRef
from nightgrid.workers.runs.staged import Carried


class State(StrEnum):
    """The states of a chunk; docs/explanation/architecture.md has the table."""

    READY = "ready"
    """It is to be sent."""
    SENT = "sent"
    """Its message is on its way; no worker is known to have begun."""
    BEGUN = "begun"
    """A worker has noted its attempt in the lake."""
    DONE = "done"
    """Its result is in the lake and has not been read."""
    READ = "read"
    """Its result was read, and what goes on of it is in the manifest."""
    HALVED = "halved"
    """It failed too often: two chunks of another segment have its rows."""


IN_FLIGHT = (State.SENT, State.BEGUN)
"""States of a chunk that has a flight."""
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
"""By the name of each transition: the state that it leads to, by the state that it begins in."""
PlainTransition = Literal["fail", "requeue", "halve", "land"]
"""Transitions of which nothing else is noted. A chunk that becomes ready again is sent first."""


class IllegalTransitionError(Exception):
    """A transition that the state of its chunk does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOf:
    """The job that a chunk is a part of."""

    job: int
    stage: int | None
    """Number of its stage, if the job is counted by stages."""


@dataclass(slots=True, kw_only=True)
class Flight:
    """A chunk on its way: it was sent or begun, and its result is not in the lake."""

    ref: ChunkRef
    sent_at: float
    """Monotonic seconds."""
    worker: str = ""
    """Who noted that it began, if anyone has."""
    missing_since: float | None = None
    """Monotonic seconds of the first look at which its message was not where it should be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the result of a chunk means for its run."""

    answered: int = 0
    """Jobs that have their answer in it; not those of which it has a part."""
    states: int = 0
    """States that the chunk kept ..."""
    kernel_ns: int = 0
    """... and the time that it took to."""
    goes_on: bool = False
    """Whether rows of it go on in chunks that the table need not have, or states in a stage."""
    is_lost: bool = False
    """Whether the job that it is a part of cannot be answered any more."""
    is_over_budget: bool = False
    """Whether that is because this part is over budget for good."""


@dataclass(slots=True, kw_only=True)
class Chunk:
    """One chunk of a run, as its driver knows it; only the table of chunks changes it."""

    key: ChunkKey
    kind: SegmentKind
    """Kind of its segment."""
    rows: int
    expected_s: float | None = None
    """What the planner expected it to take; None: nothing was expected."""
    part_of: PartOf | None = None
    state: State = State.READY
    attempt: int = 1
    """The attempt that counts now."""
    flight: Flight | None = None
    """While it is in flight."""
    reading: Reading | None = None
    """What its result meant when it was last read."""
    is_continued: bool = False
    """Whether a later segment goes on with rows or states of it."""
    went_on: pa.Array = field(default_factory=lambda: NO_JOBS)
    """Numbers of its jobs that go on in `split` segments."""

    @property
    def has_result(self) -> bool:
        """Whether its result is in the lake."""
        return self.state in HAS_RESULT

    @property
    def rows_left(self) -> int:
        """How many of its rows do not go on elsewhere."""
        return self.rows - len(self.went_on)

    @property
    def is_staged(self) -> bool:
        """Whether it is a part of a staged count."""
        return self.part_of is not None and self.part_of.stage is not None

    @property
    def is_open_part(self) -> bool:
        """Whether it is a part of a job whose outcome is missing; one that goes on is not."""
        if self.part_of is None or self.is_continued:
            return False
        return self.reading is None or (self.reading.goes_on and not self.reading.is_lost)


@dataclass(slots=True)
class Counts:
    """Sums over the chunks of a run; one that was halved counts no more, its halves do."""

    chunks_total: int = 0
    """Grows when parts come back split or chunks are halved."""
    chunks_done: int = 0
    unforeseen_left: int = 0
    """Chunks not done of which the planner expected nothing."""
    expected_total_s: float = 0.0
    """What the planner expected of the others ..."""
    expected_done_s: float = 0.0
    """... and of those among them that are done."""
    planned_rows: int = 0
    """Rows of the plan, also of chunks that were halved."""
    answered: int = 0
    """Jobs that were worked whole and have their answer."""
    states: int = 0
    """States that were kept in the chunks that were read ..."""
    kernel_ns: int = 0
    """... and the time that they took."""

    def add(self, chunk: Chunk, sign: int = 1) -> None:
        """Count a chunk in, or out with `sign` -1."""
        if chunk.kind == "plan":
            self.planned_rows += sign * chunk.rows
        if chunk.state is State.HALVED:
            return
        done = sign * chunk.has_result
        self.chunks_total += sign
        self.chunks_done += done
        if chunk.expected_s is None:
            self.unforeseen_left += sign - done
        else:
            self.expected_total_s += sign * chunk.expected_s
            self.expected_done_s += done * chunk.expected_s
        if chunk.reading is not None:
            self.answered += sign * chunk.reading.answered
            self.states += sign * chunk.reading.states
            self.kernel_ns += sign * chunk.reading.kernel_ns


@dataclass(slots=True)
class DividedJob:
    """A job that is worked in parts, each a chunk."""

    open: int = 0
    """Parts whose outcome is missing; those that went on are not counted."""
    lost: int = 0
    """Parts without which the job has no answer ..."""
    over_budget: int = 0
    """... and those of them that are over budget for good."""
    is_planned: bool = False
    """Whether a part is a row of the plan."""
    is_done: bool = False
    """Whether its answer is complete, or will never be."""
    stage: int | None = None
    """Number of the last stage that was planned."""
    waiting: int = 0
    """Parts of that stage that were not read, or are lost: then there is no next stage."""
    carried: dict[ChunkKey, Carried] = field(default_factory=dict)
    """What the parts of that stage have left for the next."""

    @property
    def is_due(self) -> bool:
        """Whether its next stage can be planned."""
        return self.waiting == 0 and bool(self.carried)

    def add(self, chunk: Chunk, sign: int = 1) -> None:
        """Count a part in, or out with `sign` -1."""
        self.open += sign * chunk.is_open_part
        lost = False
        if chunk.reading is not None:
            lost = chunk.reading.is_lost
            self.lost += sign * lost
            self.over_budget += sign * chunk.reading.is_over_budget
        if chunk.is_staged and self.is_last_stage(chunk):
            self.waiting += sign * (chunk.state is not State.READ or lost)

    def is_last_stage(self, chunk: Chunk) -> bool:
        """Return whether a part belongs to the last stage that was planned."""
        return chunk.part_of is not None and chunk.part_of.stage == self.stage


class DividedJobs:
    """The divided jobs of a run, by number."""

    def __init__(self) -> None:
        self._jobs: dict[int, DividedJob] = {}
        self._due: set[int] = set()
        self.done = 0
        """Divided jobs whose answer is complete, or will never be."""
        self.siblings = 0
        """Rows of the plan that are parts of a job, but for one of each."""

    @property
    def due(self) -> Mapping[int, DividedJob]:
        """The staged counts whose next stage can be planned."""
        return {number: self._jobs[number] for number in sorted(self._due)}

    def __getitem__(self, number: int) -> DividedJob:
        return self._jobs[number]

    def is_unrecoverable(self, chunk: Chunk) -> bool:
        """Return whether another part of a chunk's job is over budget, so that this is in vain."""
        return chunk.part_of is not None and self._jobs[chunk.part_of.job].over_budget > 0

    def meet(self, part: PartOf, *, planned: bool) -> None:
        """Meet a new part, before it is counted in: the first of its job, of a stage, or another.

        What the stage before has left is in the parts of a new one.
        """
        job = self._jobs.setdefault(part.job, DividedJob())
        if planned:
            self.siblings += job.is_planned
            job.is_planned = True
        if part.stage is not None and (job.stage is None or part.stage > job.stage):
            job.stage, job.waiting, job.carried = part.stage, 0, {}

    def count_in(self, chunk: Chunk, part: PartOf, carried: Carried | None) -> None:
        """Count a part in; `carried` is what was just read of it."""
        job = self._jobs[part.job]
        job.add(chunk)
        if job.is_last_stage(chunk):
            if chunk.state is not State.READ:
                job.carried.pop(chunk.key, None)
            elif carried is not None:
                job.carried[chunk.key] = carried
        was_done, job.is_done = job.is_done, job.open == 0 or job.lost > 0
        self.done += job.is_done - was_done
        if job.is_due:
            self._due.add(part.job)
        else:
            self._due.discard(part.job)

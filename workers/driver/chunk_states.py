"""The record of a chunk in its driver's table, its states, and which transition leads where.

docs/architecture.md draws the states. What is in the lake decides, so most transitions tell what
the driver has found there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

import pyarrow as pa

from nightgrid.solvers.reasons import ReasonCode
from nightgrid.workers.runs.attempts import Attempts, Start
from nightgrid.workers.runs.manifest import NO_JOBS, ChunkRef, Place, SegmentKind


class State(StrEnum):
    """Where a chunk is. Every chunk of a run is in exactly one state."""

    READY = "ready"
    """It is to be sent."""
    SENT = "sent"
    """Its message is on its way; no worker is known to have begun."""
    STARTED = "started"
    """A worker has noted in the lake that it works on it."""
    ADOPTED = "adopted"
    """As started, but an earlier driver has sent it."""
    FAILED = "failed"
    """An attempt has failed, which the lake knows; what follows is not decided yet."""
    DONE = "done"
    """Its result is in the lake and has not been read."""
    READ = "read"
    """Its result was read, and what goes on of it is in the manifest."""
    BROKEN_UP = "broken up"
    """It failed too often: each of its rows is a chunk of its own."""


IN_FLIGHT = (State.SENT, State.STARTED, State.ADOPTED)
"""States of a chunk that has a flight."""
HAS_RESULT = (State.DONE, State.READ)
"""States of a chunk whose result is in the lake."""
OPEN = (State.READY, *IN_FLIGHT, State.FAILED, State.DONE)
"""States that a chunk has to leave before its run is at its end."""

TRANSITIONS: Mapping[str, Mapping[State, State]] = MappingProxyType(
    {
        "send": {State.READY: State.SENT},
        "adopt": {State.READY: State.ADOPTED},
        "begin": {
            State.SENT: State.STARTED,
            State.STARTED: State.STARTED,
            State.ADOPTED: State.ADOPTED,
        },
        "requeue": dict.fromkeys(IN_FLIGHT, State.READY),
        "fail": dict.fromkeys(IN_FLIGHT, State.FAILED),
        "retry": {State.FAILED: State.READY},
        "break_up": dict.fromkeys((State.READY, State.FAILED), State.BROKEN_UP),
        "poison": {State.FAILED: State.DONE},
        "skip": {State.READY: State.DONE},
        "land": dict.fromkeys((State.READY, *IN_FLIGHT, State.FAILED), State.DONE),
        "read": {State.DONE: State.READ},
        "read_again": {State.READ: State.DONE},
        "reopen": dict.fromkeys(HAS_RESULT, State.READY),
    }
)
"""By the name of each transition: the state that it leads to, by the state that it begins in."""


class IllegalTransitionError(Exception):
    """A chunk was told to make a transition that its state does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOf:
    """The job that a chunk is a part of."""

    job: int
    stage: int | None
    """Number of its stage, if the job is counted by stages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """A chunk on its way: one that was sent and whose end is not known."""

    ref: ChunkRef
    submitted_at: float
    """Monotonic seconds."""
    start: Start | None
    """The worker's note in the lake, once it has begun."""
    seen_at: float = 0.0
    """Monotonic seconds at which the driver first saw that note: clocks of other hosts may be
    wrong, so nothing is reckoned from the time in it."""


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


UNTRIED = Attempts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One chunk of a run, as its driver knows it."""

    place: Place
    kind: SegmentKind
    """Kind of its segment."""
    rows: int
    expected_s: float | None = None
    """What the planner expected it to take; None: nothing was expected."""
    part_of: PartOf | None = None
    state: State = State.READY
    attempts: Attempts = UNTRIED
    """Failures and interruptions so far, as the lake has them."""
    flight: Flight | None = None
    """While it is in flight."""
    reading: Reading | None = None
    """What its result meant when it was last read."""
    is_continued: bool = False
    """Whether a later segment goes on with rows or states of it."""
    went_on: pa.Array = field(default_factory=lambda: NO_JOBS)
    """Numbers of its jobs that go on in `split` segments."""
    is_collected: bool = False
    """Whether its answers were handed to the collector."""

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
    def is_suspect(self) -> bool:
        """Whether it was in a worker that died."""
        lost = (failure.code is ReasonCode.WORKER_LOST for failure in self.attempts.failures)
        return self.attempts.interruptions > 0 or any(lost)

    @property
    def is_open_part(self) -> bool:
        """Whether it is a part of a job whose outcome is missing; one that goes on is not."""
        if self.part_of is None or self.is_continued:
            return False
        return self.reading is None or (self.reading.goes_on and not self.reading.is_lost)

    @property
    def has_whole_answers(self) -> bool:
        """Whether it was read, and every row is the answer of a job."""
        if self.state is not State.READ or self.part_of is not None or self.is_continued:
            return False
        return self.reading is not None and not self.reading.goes_on

    @property
    def urgency_s(self) -> float:
        """What it takes, for an order of sending: what came back split was more than expected."""
        return math.inf if self.kind == "split" else self.expected_s or 0.0

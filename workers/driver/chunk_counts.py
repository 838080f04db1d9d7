"""What a table of chunks adds up to: chunks, seconds, states, and the jobs that are in parts.

Nothing here is told of events. A chunk counts as it stands in the table: when its record changes,
the old one is counted out and the new one in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nightgrid.workers.driver.chunk_states import Chunk, State
from nightgrid.workers.runs.manifest import Place
from nightgrid.workers.runs.stages import Carried


@dataclass(slots=True)
class Counts:
    """Sums over the chunks of a run; one that was broken up counts no more, its rows do."""

    chunks_total: int = 0
    chunks_done: int = 0
    foreseen_total: int = 0
    """Chunks of which the planner expected something ..."""
    foreseen_done: int = 0
    expected_total_s: float = 0.0
    """... and what it expected of them."""
    expected_done_s: float = 0.0
    planned_rows: int = 0
    """Rows of the plan, also of chunks that were broken up."""
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
        if chunk.state is State.BROKEN_UP:
            return
        done = sign * chunk.has_result
        self.chunks_total += sign
        self.chunks_done += done
        if chunk.expected_s is not None:
            self.foreseen_total += sign
            self.foreseen_done += done
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
    planned: int = 0
    """Parts that are rows of the plan."""
    stage: int | None = None
    """Number of the last stage that was planned."""
    waiting: int = 0
    """Parts of that stage that were not read, or are lost: then there is no next stage."""
    carried: dict[Place, Carried] = field(default_factory=dict)
    """What the parts of that stage have left for the next."""

    @property
    def is_done(self) -> bool:
        """Whether its answer is complete, or will never be."""
        return self.open == 0 or self.lost > 0

    @property
    def is_due(self) -> bool:
        """Whether its next stage can be planned."""
        return self.waiting == 0 and bool(self.carried)

    def add(self, chunk: Chunk, sign: int = 1) -> None:
        """Count a part in, or out with `sign` -1."""
        self.open += sign * chunk.is_open_part
        self.planned += sign * (chunk.kind == "plan")
        lost = False
        if chunk.reading is not None:
            lost = chunk.reading.is_lost
            self.lost += sign * lost
            self.over_budget += sign * chunk.reading.is_over_budget
        if chunk.is_staged and self.is_last_stage(chunk):
            self.waiting += sign * (chunk.state is not State.READ or lost)

    def is_last_stage(self, chunk: Chunk) -> bool:
        """Tell whether a part belongs to the last stage that was planned."""
        return chunk.part_of is not None and chunk.part_of.stage == self.stage

    def reach(self, stage: int | None) -> None:
        """Begin to count a later stage; what the one before has left is in its parts."""
        if stage is not None and (self.stage is None or stage > self.stage):
            self.stage, self.waiting, self.carried = stage, 0, {}


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
        """Tell whether another part of a chunk's job is over budget, so that this is in vain."""
        return chunk.part_of is not None and self._jobs[chunk.part_of.job].over_budget > 0

    def change(self, old: Chunk | None, new: Chunk, carried: Carried | None = None) -> None:
        """Count a chunk as `new` that was `old`; `carried` is what was just read of it."""
        part = new.part_of
        if part is None:
            return
        job = self._jobs.get(part.job)
        if job is None:
            job = self._jobs[part.job] = DividedJob()
        else:
            self.done -= job.is_done
            self.siblings -= max(0, job.planned - 1)
        job.reach(part.stage)
        if old is not None:
            job.add(old, -1)
        job.add(new)
        if job.is_last_stage(new):
            if new.state is not State.READ:
                job.carried.pop(new.place, None)
            elif carried is not None:
                job.carried[new.place] = carried
        self.done += job.is_done
        self.siblings += max(0, job.planned - 1)
        if job.is_due:
            self._due.add(part.job)
        else:
            self._due.discard(part.job)

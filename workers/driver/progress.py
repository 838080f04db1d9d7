"""How far a run is, how fast it goes, and when it will have ended.

**Jobs** are puzzles: one is done when its answer is complete, in however many chunks it was worked.

**States per second** are those that the chunks kept which are done, divided by their kernel time,
times the processes that are at work. This is the rate of what was worked; waiting for a chunk does
not change it.

**What is left** is what the planner expects of the chunks that are not done, times what chunks took
so far over what was expected of them. Chunks that came back split or go on by stages took time and
were not expected: they make the rest longer. Few chunks say little, so the planner's estimate
counts as much as FEW_CHUNKS of them. While there are chunks of which nothing was expected, what is
left is a lower bound; it is not shown while a chunk has been in flight for longer than that.
"""

from __future__ import annotations

from dataclasses import dataclass

from nightgrid.solvers.sentences import plural
from nightgrid.workers.driver.chunk_table import ChunkTable, State
from nightgrid.workers.runs.manifest import Run

LEAST_S = 1.0
"""The end is estimated only after so much has been worked."""
LEAST_SHARE = 0.01
"""Least share of a run that is planned before the rest is estimated from it."""
FEW_CHUNKS = 4
"""Chunks after which what they took counts for half of its logarithm."""
OLDEST_TOLD_S = 2.0
"""A chunk in flight is shown only when it is older."""
DAY_S = 24 * 3600
YEAR_S = 365.25 * DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is: sums over its chunks. A halved chunk is not counted, its halves are."""

    run_id: str
    chunks_total: int = 0
    """Grows when parts come back split or chunks are halved."""
    chunks_done: int = 0
    unforeseen_left: int = 0
    """Chunks not done for which the planner had no estimate."""
    expected_total_s: float = 0.0
    """What the planner expected of the other chunks."""
    expected_done_s: float = 0.0
    """What it expected of those that are done."""
    states: int = 0
    """States kept in the chunks that were read."""
    kernel_ns: int = 0
    """Kernel time of the chunks that were read."""
    jobs_done: int
    """Jobs whose answer is complete."""
    jobs_total: int
    """Jobs of the run, as far as it is planned."""
    in_flight: int
    failures: int
    """Attempts that failed, as far as this driver noted it."""
    seconds: float
    game: str = ""
    processes: int = 1
    """Processes that work chunks."""
    oldest_seconds: float | None = None
    """How long ago the oldest chunk in flight was sent; None: none is."""
    planned_share: float = 1.0
    """Share of the puzzles that is planned: totals are of these alone."""

    @property
    def kernel_s(self) -> float:
        """What the chunks took that are done."""
        return self.kernel_ns / 1e9

    @property
    def ended(self) -> bool:
        """Whether nothing is left of what is planned."""
        return self.jobs_done >= self.jobs_total and self.chunks_done >= self.chunks_total


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What is left of a run, by estimation."""

    core_s: float
    """Seconds of one process."""
    wall_s: float
    """Seconds until its processes have ended it."""
    at_least: bool
    """Whether it may be more, by an unknown amount."""


def progress_of(
    table: ChunkTable, run: Run, *, processes: int, seconds: float, now: float, failures: int = 0
) -> Progress:
    """Return how far a run is by its table; `now` is of the clock of the table's flights."""
    chunks = [chunk for chunk in table if chunk.state is not State.HALVED]
    foreseen = [(c.expected_s, c.has_result) for c in chunks if c.expected_s is not None]
    readings = [chunk.reading for chunk in chunks if chunk.reading is not None]
    flights, jobs = table.flights(), table.parts()
    jobs_done = sum(reading.answered for reading in readings)
    jobs_done += sum(not any(c.is_open_part for c in p) or any(c.is_lost for c in p) for p in jobs)
    jobs_total, planned_share = run.job_count, 1.0
    if not run.planned:
        siblings = sum(max(0, sum(c.kind == "plan" for c in parts) - 1) for parts in jobs)
        jobs_total = sum(chunk.rows for chunk in table if chunk.kind == "plan") - siblings
        if run.puzzle_count:
            planned_share = min(1.0, jobs_total / run.puzzle_count)
    return Progress(
        run_id=run.run_id,
        chunks_total=len(chunks),
        chunks_done=sum(chunk.has_result for chunk in chunks),
        unforeseen_left=sum(c.expected_s is None and not c.has_result for c in chunks),
        expected_total_s=sum(seconds for seconds, _ in foreseen),
        expected_done_s=sum(seconds for seconds, is_done in foreseen if is_done),
        states=sum(reading.states for reading in readings),
        kernel_ns=sum(reading.kernel_ns for reading in readings),
        game=run.question.game,
        jobs_done=jobs_done,
        jobs_total=jobs_total,
        in_flight=len(flights),
        failures=failures,
        seconds=seconds,
        processes=processes,
        oldest_seconds=max((now - flight.sent_at for flight in flights), default=None),
        planned_share=planned_share,
    )


def states_per_s(progress: Progress) -> float | None:
    """Return how many states a second the processes keep that are at work; None: not known yet."""
    if not progress.kernel_s:
        return None
    # Between two stages of a count no process is at work for a moment.
    at_work = min(progress.processes, progress.in_flight) or progress.processes
    return progress.states / progress.kernel_s * at_work


def left_of(progress: Progress) -> Left | None:
    """Estimate what is left; None: the planner expected nothing of what is planned."""
    if not progress.expected_total_s:
        return None
    over = 1.0
    if progress.kernel_ns and progress.expected_done_s:
        share = progress.chunks_done / (progress.chunks_done + FEW_CHUNKS)
        over = (progress.kernel_s / progress.expected_done_s) ** share
    planned = max(progress.planned_share, LEAST_SHARE)
    core_s = over * max(0.0, progress.expected_total_s / planned - progress.expected_done_s)
    chunks = max(1, int(progress.chunks_total / planned) - progress.chunks_done)
    return Left(
        core_s=core_s,
        wall_s=core_s / min(max(1, progress.processes), chunks),
        at_least=progress.unforeseen_left > 0,
    )


def progress_text(progress: Progress) -> str:
    """Write for people how far a run is, how fast it goes, and when it will have ended."""
    more = "" if progress.planned_share == 1.0 else " so far"
    told = [
        f"{progress.jobs_done:,} of {progress.jobs_total:,} jobs{more}",
        f"{progress.chunks_done:,} of {progress.chunks_total:,} chunks{more}",
        f"{progress.seconds:.1f} s",
    ]
    rate = states_per_s(progress)
    if rate:
        told.append(f"{_short(rate)} states/s")
    if progress.oldest_seconds is not None and progress.oldest_seconds >= OLDEST_TOLD_S:
        told.append(f"oldest chunk {progress.oldest_seconds:.0f} s")
    if progress.failures:
        told.append(plural(progress.failures, "failure"))
    left = None if progress.ended or progress.kernel_s < LEAST_S else left_of(progress)
    if left is not None and left.wall_s >= (progress.oldest_seconds or 0.0):
        told.append(f"{'at least' if left.at_least else 'about'} {clock_time(left.wall_s)} left")
    return ", ".join(told)


def clock_time(seconds: float) -> str:
    """Write a time for people: 40 s, 3:05 min, 2:10 h, 12 days, 1,600 years."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    if whole < 2 * DAY_S:
        return f"{whole // 3600}:{whole // 60 % 60:02d} h"
    if whole < 2 * YEAR_S:
        return f"{round(whole / DAY_S):,} days"
    return f"{round(whole / YEAR_S):,} years"


def _short(number: float) -> str:
    """Write a large number with three digits: 950, 12.3 k, 1.75 M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        # What rounds to 1,000 of a unit is 1 of the next.
        if number >= 0.9995 * size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f}"

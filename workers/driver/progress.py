"""The progress of a run: jobs done, states per second, and the estimated time left.

**Jobs** are puzzles. A job is done when its answer is complete, however many chunks it takes.

**States per second** is the number of states of finished chunks divided by their kernel time, times
the number of busy processes. Waiting for a chunk does not change it.

**Time left** is the planner's estimate for the remaining chunks, times the ratio of actual to
expected time of the finished ones. Chunks of split rows and of stages have no estimate: their time
raises the ratio. The ratio of few chunks is uncertain, so 1 counts as much as FEW_CHUNKS chunks.
The time left is a lower bound while some remaining chunk has no estimate. It is not shown while it
is shorter than the oldest chunk has been in flight.
"""

from __future__ import annotations

from dataclasses import dataclass

from nightgrid.solvers.sentences import plural
from nightgrid.workers.driver.chunk_table import ChunkTable, State
from nightgrid.workers.runs.manifest import Run

LEAST_S = 1.0
"""Kernel seconds needed before the end is estimated."""
LEAST_SHARE = 0.01
"""Lower bound of the planned share when the rest is extrapolated from it."""
FEW_CHUNKS = 4
"""Number of chunks whose ratio has a weight of one half (of its logarithm)."""
OLDEST_SHOWN_S = 2.0
"""Age from which the oldest chunk in flight is shown."""
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
    """Unfinished chunks without an estimate of the planner."""
    expected_total_s: float = 0.0
    """Planner's estimate for the other unfinished chunks."""
    expected_done_s: float = 0.0
    """Planner's estimate for the finished ones."""
    states: int = 0
    """States kept in the chunks that were read."""
    kernel_ns: int = 0
    """Kernel time of the chunks that were read."""
    jobs_done: int
    """Jobs whose answer is complete."""
    jobs_total: int
    """Jobs of the run planned so far."""
    in_flight: int
    failures: int
    """Failed attempts that this driver noted."""
    seconds: float
    game: str = ""
    processes: int = 1
    """Processes that solve chunks."""
    oldest_seconds: float | None = None
    """Age of the oldest chunk in flight; None if there is none."""
    planned_share: float = 1.0
    """Share of the puzzles that is planned; totals refer to it."""

    @property
    def kernel_s(self) -> float:
        """Kernel time of the chunks that were read."""
        return self.kernel_ns / 1e9

    @property
    def ended(self) -> bool:
        """Whether everything planned is done."""
        return self.jobs_done >= self.jobs_total and self.chunks_done >= self.chunks_total


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """The estimated time left of a run."""

    core_s: float
    """Seconds of one process."""
    wall_s: float
    """Seconds with all processes."""
    at_least: bool
    """Whether it is a lower bound."""


def progress_of(
    table: ChunkTable, run: Run, *, processes: int, seconds: float, now: float, failures: int = 0
) -> Progress:
    """Return the progress of a run; `now` is monotonic seconds, as in the table's flights."""
    chunks = [chunk for chunk in table if chunk.state is not State.HALVED]
    foreseen = [(c.expected_s, c.has_result) for c in chunks if c.expected_s is not None]
    readings = [chunk.reading for chunk in chunks if chunk.reading is not None]
    flights, jobs = table.flights(), table.parts()
    jobs_done = sum(reading.answered for reading in readings)
    jobs_done += sum(
        any(c.is_unanswered for c in job) or not any(c.is_open_part for c in job) for job in jobs
    )
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
    """Return the states per second of all busy processes; None: not known yet."""
    if not progress.kernel_s:
        return None
    # Between two stages of a count, no process is busy for a moment.
    at_work = min(progress.processes, progress.in_flight) or progress.processes
    return progress.states / progress.kernel_s * at_work


def left_of(progress: Progress) -> Left | None:
    """Estimate the time left; None: the planner made no estimate."""
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
    """Format the progress of a run as one line."""
    more = "" if progress.planned_share == 1.0 else " so far"
    shown = [
        f"{progress.jobs_done:,} of {progress.jobs_total:,} jobs{more}",
        f"{progress.chunks_done:,} of {progress.chunks_total:,} chunks{more}",
        f"{progress.seconds:.1f} s",
    ]
    rate = states_per_s(progress)
    if rate:
        shown.append(f"{_short(rate)} states/s")
    if progress.oldest_seconds is not None and progress.oldest_seconds >= OLDEST_SHOWN_S:
        shown.append(f"oldest chunk {progress.oldest_seconds:.0f} s")
    if progress.failures:
        shown.append(plural(progress.failures, "failure"))
    left = None if progress.ended or progress.kernel_s < LEAST_S else left_of(progress)
    if left is not None and left.wall_s >= (progress.oldest_seconds or 0.0):
        shown.append(f"{'at least' if left.at_least else 'about'} {clock_time(left.wall_s)} left")
    return ", ".join(shown)


def clock_time(seconds: float) -> str:
    """Format a time: 40 s, 3:05 min, 2:10 h, 12 days, 1,600 years."""
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
    """Format a large number with three digits: 950, 12.3 k, 1.75 M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        # 1,000 of a unit after rounding is 1 of the next.
        if number >= 0.9995 * size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f}"

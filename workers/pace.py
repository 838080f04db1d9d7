"""How far a run is, how fast it goes, and when it will have ended."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

WINDOW_S = 60.0
"""The pace is that of the last minute: hard chunks come first, small ones last."""
STEP_S = 0.5
"""Progress that comes sooner after another is not kept."""
LEAST_S = 1.0
"""Nothing is said of a pace over a shorter time."""
LEAST_SHARE = 0.01
"""Of the share that is planned, where the rest is estimated from it."""
OLDEST_TOLD_S = 2.0
"""A chunk in flight is told of only when it is older."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is."""

    run_id: str
    chunks_done: int
    chunks_total: int
    """Grows when parts come back split or chunks are broken up."""
    rows_done: int
    rows_total: int
    in_flight: int
    failures: int
    """Deaths and failures of chunks seen by this driver."""
    seconds: float
    states: int = 0
    """States that solvers kept, in the chunks that are done."""
    expected_done_s: float = 0.0
    """What the planner expected the chunks to take that are done ..."""
    expected_total_s: float = 0.0
    """... and all of them, as far as it expected anything."""
    oldest_seconds: float | None = None
    """How long ago the oldest chunk in flight was sent; None: none is."""
    planned_share: float = 1.0
    """Share of the puzzles that is planned: totals are of these alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Figures that no single progress holds; None: not known yet."""

    jobs_per_s: float | None = None
    states_per_s: float | None = None
    left_s: float | None = None
    """Estimated seconds to the end."""


class PaceKeeper:
    """Feels the pace of one run; a progress of another run begins anew."""

    def __init__(self) -> None:
        self._seen: deque[Progress] = deque()

    def __call__(self, progress: Progress) -> Pace:
        """Take a progress in, and say how fast the run goes."""
        seen = self._seen
        if seen and (seen[-1].run_id != progress.run_id or seen[-1].seconds > progress.seconds):
            seen.clear()
        if not seen or progress.seconds - seen[-1].seconds >= STEP_S:
            seen.append(progress)
        while len(seen) > 1 and progress.seconds - seen[1].seconds >= WINDOW_S:
            seen.popleft()
        first = seen[0]
        elapsed_s = progress.seconds - first.seconds
        if elapsed_s < LEAST_S:
            return Pace()
        return Pace(
            jobs_per_s=max(0, progress.rows_done - first.rows_done) / elapsed_s,
            states_per_s=max(0, progress.states - first.states) / elapsed_s,
            left_s=_left_s(first, progress),
        )


def _left_s(first: Progress, last: Progress) -> float | None:
    """Estimate the seconds left by what was expected of chunks, or else by their number."""
    elapsed_s = last.seconds - first.seconds
    done_s = last.expected_done_s - first.expected_done_s
    share = max(last.planned_share, LEAST_SHARE)
    left_s = last.expected_total_s / share - last.expected_done_s
    if done_s > 0 and left_s > 0:
        return left_s * elapsed_s / done_s
    chunks = last.chunks_done - first.chunks_done
    left = last.chunks_total / share - last.chunks_done
    return None if chunks <= 0 else left * elapsed_s / chunks


def told_of(progress: Progress, pace: Pace) -> str:
    """Say for people how far a run is, how fast it goes, and when it will have ended."""
    more = "" if progress.planned_share == 1.0 else " so far"
    said = [
        f"{progress.rows_done:,} of {progress.rows_total:,} jobs{more}",
        f"{progress.chunks_done:,} of {progress.chunks_total:,} chunks{more}",
        f"{progress.seconds:.1f} s",
    ]
    if pace.states_per_s:
        said.append(f"{_short(pace.states_per_s)} states/s")
    if progress.oldest_seconds is not None and progress.oldest_seconds >= OLDEST_TOLD_S:
        said.append(f"oldest chunk {progress.oldest_seconds:.0f} s")
    if progress.failures:
        said.append(f"{progress.failures} failures")
    if pace.left_s is not None and progress.chunks_done < progress.chunks_total:
        said.append(f"about {clock_time(pace.left_s)} left")
    return ", ".join(said)


def clock_time(seconds: float) -> str:
    """Write a time for people: 40 s, 3:05 min, 2:10 h."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole // 60 % 60:02d} h"


def _short(number: float) -> str:
    """Write a large number with three digits: 950, 12.3 k, 1.75 M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f}"


__all__ = ["Pace", "PaceKeeper", "Progress", "clock_time", "told_of"]

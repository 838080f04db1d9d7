"""How fast a run goes and when it will have ended, from what its driver tells now and then."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from workers.reconciler import Progress

WINDOW_S = 60.0
"""The pace is that of the last minute: hard chunks come first, small ones last."""
STEP_S = 0.5
"""Progress that comes sooner after another is not kept."""
LEAST_S = 1.0
"""Nothing is said of a pace over a shorter time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Figures that no single progress holds; None: not known yet."""

    jobs_per_s: float | None = None
    states_per_s: float | None = None
    left_s: float | None = None
    """Estimated seconds to the end, chunk for chunk: chunks are made to take alike long."""


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
        chunks = progress.chunks_done - first.chunks_done
        left = progress.chunks_total - progress.chunks_done
        return Pace(
            jobs_per_s=max(0, progress.rows_done - first.rows_done) / elapsed_s,
            states_per_s=max(0, progress.states - first.states) / elapsed_s,
            left_s=None if chunks <= 0 else left * elapsed_s / chunks,
        )


__all__ = ["Pace", "PaceKeeper"]

"""Follow the planner of a run that is worked while it is planned."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.runs.manifest import (
    Run,
    Segment,
    SegmentTakenError,
    has_plan,
    open_run,
    read_segments,
)

LOOK_SECONDS = 0.05
"""How often is looked whether the planner has come further."""


class PlanWatch:
    """Tells what a planner has added to a run; `check_planner` raises if nobody plans any more."""

    def __init__(self, lake: Lake, check_planner: Callable[[], None] | None) -> None:
        self._lake = lake
        self._check_planner = check_planner
        self._next_at = 0.0

    def check(self, run: Run) -> None:
        """Raise if a run is not planned to its end and nobody is at it."""
        if run.planned:
            return
        if self._check_planner is None:
            raise PermanentError(f"run {run.run_id} is not planned to its end, and nobody is at it")
        self._check_planner()

    def news(self, run: Run) -> tuple[bool, tuple[Segment, ...]]:
        """Tell, if it is time, whether the plan is complete, and which segments are new."""
        now = time.monotonic()
        if run.planned or now < self._next_at:
            return run.planned, ()
        self._next_at = now + LOOK_SECONDS
        # In this order: when the plan is there, all of its segments are.
        planned = has_plan(self._lake, run.run_id)
        return planned, self.new_segments(run)

    def wait(self, run_id: str, stop: threading.Event) -> None:
        """Wait until a run may be worked: where files are not created exclusively, until it is
        planned. There its planner might write over what a driver has added, or the other way round.
        """
        while not self._lake.is_exclusive and not has_plan(self._lake, run_id):
            self.check(open_run(self._lake, run_id))
            if stop.wait(10 * LOOK_SECONDS):
                return

    def new_segments(self, run: Run) -> tuple[Segment, ...]:
        """Read what has been added to a run whose plan is not complete.

        Raises SegmentTakenError when another driver has added to it.
        """
        if run.planned:
            return ()
        new = read_segments(self._lake, run.run_id, len(run.segments))
        if any(segment.kind != "plan" for segment in new):
            raise SegmentTakenError(f"run {run.run_id}: another driver has added to it")
        return new

    def completed(self, run: Run) -> Run:
        """Read what is said of the whole plan, with the segments that are known of the run."""
        return replace(open_run(self._lake, run.run_id), segments=run.segments)

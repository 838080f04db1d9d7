"""The loop of a driver: work what is left of a run, step by step, until it is finished."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.workers.driver.chunk_records import State
from nightgrid.workers.driver.collector import Collector
from nightgrid.workers.driver.executors import Executor
from nightgrid.workers.driver.growing_run import POLL_SECONDS, GrowingRun
from nightgrid.workers.driver.patience import Patience
from nightgrid.workers.driver.progress import Progress, progress_of
from nightgrid.workers.driver.reconciler import Reconciler
from nightgrid.workers.runs.chunk_results import DamagedResultError
from nightgrid.workers.runs.manifest import Run, SegmentTakenError, read_segments
from nightgrid.workers.runs.run_files import done_chunks
from nightgrid.workers.settings import Settings


@dataclass
class DriverLoop:
    """The loop over a run: each step makes what transitions of its chunks it can, then returns."""

    lake: Lake
    growing: GrowingRun
    executor: Executor
    collector: Collector
    on_progress: Callable[[Progress], None]
    settings: Settings
    patience: Patience

    def __post_init__(self) -> None:
        self.chunks_resumed = self.growing.table.number_in(State.DONE)
        self._reconciler = Reconciler(self.lake, self.growing, self.executor, self.settings)
        self._begun = time.monotonic()

    @property
    def game(self) -> str:
        """Which game the run is of."""
        return self.growing.run.question.game

    def work(self, stop: threading.Event) -> None:
        """Work until nothing is left, or until asked to stop."""
        reconciler = self._reconciler
        self.patience.insist(reconciler.adopt, "adopt")
        self.patience.attempt(reconciler.reconcile)
        try:
            self._work(stop)
        finally:
            reconciler.note_transitions()

    def _work(self, stop: threading.Event) -> None:
        growing, reconciler, table = self.growing, self._reconciler, self.growing.table
        reconciled_at, read_again_at = time.monotonic(), 0
        while not stop.is_set():
            if not growing.run.planned:
                growing.check_planner()
                self.patience.attempt(growing.take_in_plan)
            self.patience.attempt(reconciler.settle_failures)
            self.patience.attempt(self._read_results)
            self.patience.attempt(growing.add_stages)
            self.patience.attempt(reconciler.submit)
            self.patience.attempt(growing.drop_obsolete)
            self.collector.step(table)
            self._report()
            if growing.run.planned and table.is_settled:
                if read_again_at == len(growing.run.segments):
                    return
                read_again_at = len(growing.run.segments)
                self._read_again()
                continue
            self.patience.attempt(self._listen)
            if time.monotonic() - reconciled_at >= self.settings.reconcile_seconds:
                self.patience.attempt(reconciler.reconcile)
                reconciled_at = time.monotonic()

    def _read_results(self) -> None:
        self.growing.read_results(self.collector)

    def _listen(self) -> None:
        soon = not self.growing.run.planned or self.collector.is_behind(self.growing.table)
        self._reconciler.listen(POLL_SECONDS if soon else self.settings.poll_seconds)

    def _read_again(self) -> None:
        """Read results again that a worker may have taken back."""
        table = self.growing.table
        for chunk in list(table):
            if chunk.state is State.READ and chunk.is_staged:
                table.move("read_again", chunk.key)

    def _report(self) -> None:
        now = time.monotonic()
        self.on_progress(
            progress_of(
                self.growing.table,
                self.growing.run,
                processes=self.executor.processes,
                seconds=now - self._begun,
                now=now,
            )
        )


def work_to_the_end(
    loop: DriverLoop, begin: Callable[[], DriverLoop], stop: threading.Event
) -> tuple[DriverLoop, dict[str, Any] | None]:
    """Work a run until it is finished, or until asked to stop.

    Returns the loop that worked it last, and what the end of the run says of it, None where it
    has none yet. `begin` makes a loop of what the lake has of the run now.
    """
    while not stop.is_set():
        if not _worked(loop, stop):
            # A driver on another machine has added to the run, or results of it are gone: go on
            # from what it is now.
            loop = begin()
        elif not stop.is_set():
            finish = partial(loop.collector.finish, loop.growing.table)
            try:
                return loop, loop.patience.insist(finish, "finish")
            except DamagedResultError as error:
                loop.collector.set_aside(error)
                loop = begin()
    return loop, None


def _worked(loop: DriverLoop, stop: threading.Event) -> bool:
    """Work until nothing is left or until asked to stop; tell whether the driver knew the run."""
    try:
        loop.work(stop)
    except SegmentTakenError:
        return False
    is_done = partial(_is_done, loop.lake, loop.growing.run)
    return stop.is_set() or loop.patience.insist(is_done, "look whether it is done")


def _is_done(lake: Lake, run: Run) -> bool:
    """Tell whether a run has no more segments than these, and no chunk in them is to be worked."""
    if run.segments != read_segments(lake, run.run_id):
        return False
    # A worker that stood still may have taken back a chunk whose states it had missed long ago.
    done = done_chunks(lake, run.run_id)
    return all(ref.key in done for ref in run.chunks())

"""The loop of a driver: work what is left of a run, step by step, until it is finished."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from nightgrid.archive import outages
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import RefusalError, TransientError
from nightgrid.workers.driver.chunk_records import State
from nightgrid.workers.driver.collector import Collector
from nightgrid.workers.driver.executors import Executor
from nightgrid.workers.driver.growing_run import POLL_SECONDS, GrowingRun
from nightgrid.workers.driver.progress import Progress, progress_of
from nightgrid.workers.driver.reconciler import TRANSIENT_PAUSE_SECONDS, Reconciler
from nightgrid.workers.logs import get_logger
from nightgrid.workers.runs.chunk_results import DamagedResultError
from nightgrid.workers.runs.manifest import Run, SegmentTakenError, read_segments
from nightgrid.workers.runs.run_files import done_chunks
from nightgrid.workers.settings import Settings

Found = TypeVar("Found")

log = get_logger("nightgrid.driver")


@dataclass
class DriverLoop:
    """The loop over a run: each step makes what transitions of its chunks it can, then returns."""

    lake: Lake
    growing: GrowingRun
    executor: Executor
    collector: Collector
    on_progress: Callable[[Progress], None]
    settings: Settings

    def __post_init__(self) -> None:
        self.chunks_resumed = self.growing.table.number_in(State.DONE)
        self._reconciler = Reconciler(self.lake, self.growing, self.executor, self.settings)
        self._begun = time.monotonic()
        self._trouble_since: dict[str, float] = {}

    @property
    def game(self) -> str:
        """Which game the run is of."""
        return self.growing.run.question.game

    def work(self, stop: threading.Event) -> None:
        """Work until nothing is left, or until asked to stop."""
        reconciler = self._reconciler
        reconciler.adopt()
        self._guarded(reconciler.reconcile)
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
                self._guarded(growing.take_in_plan)
            self._guarded(reconciler.settle_failures)
            self._guarded(self._read_results)
            self._guarded(growing.add_stages)
            self._guarded(reconciler.submit)
            self._guarded(growing.drop_obsolete)
            self.collector.step(table)
            self._report()
            if growing.run.planned and table.is_settled:
                if read_again_at == len(growing.run.segments):
                    return
                read_again_at = len(growing.run.segments)
                self._read_again()
                continue
            self._guarded(self._listen)
            if time.monotonic() - reconciled_at >= self.settings.reconcile_seconds:
                self._guarded(reconciler.reconcile)
                reconciled_at = time.monotonic()

    def _guarded(self, step: Callable[[], None]) -> None:
        """Run a step; bear for a while with a broker or a lake that fails it."""
        name = step.__name__
        try:
            step()
        except (SegmentTakenError, RefusalError):
            raise
        except TransientError as error:
            now = time.monotonic()
            since = self._trouble_since.setdefault(name, now)
            if now - since > self.settings.broker_patience_seconds:
                raise
            left_s = self.settings.broker_patience_seconds - (now - since)
            outages.report_outage(f"what run {self.growing.run.run_id} needs", error, left_s)
            if since == now:
                log.warning("driver waits", step=name, error=str(error))
            time.sleep(TRANSIENT_PAUSE_SECONDS)
        else:
            if self._trouble_since.pop(name, None) is not None and not self._trouble_since:
                outages.end_outage(f"what run {self.growing.run.run_id} needs")

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
                return loop, _patiently(finish, loop.settings)
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
    return stop.is_set() or _patiently(is_done, loop.settings)


def _is_done(lake: Lake, run: Run) -> bool:
    """Tell whether a run has no more segments than these, and no chunk in them is to be worked."""
    if run.segments != read_segments(lake, run.run_id):
        return False
    # A worker that stood still may have taken back a chunk whose states it had missed long ago.
    done = done_chunks(lake, run.run_id)
    return all(ref.key in done for ref in run.chunks())


def _patiently(step: Callable[[], Found], settings: Settings) -> Found:
    """Take a step; bear with a lake that fails it for `broker_patience_seconds`."""
    deadline = time.monotonic() + settings.broker_patience_seconds
    while True:
        try:
            return step()
        except RefusalError:
            raise
        except TransientError:
            if time.monotonic() > deadline:
                raise
            time.sleep(TRANSIENT_PAUSE_SECONDS)

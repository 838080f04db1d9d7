"""Drive a run to its end: keep a bounded window in flight and believe only the lake."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any, TypeVar

from nightgrid.archive import outages
from nightgrid.archive.lake.identity import make_lake_id
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import RefusalError, TransientError
from nightgrid.workers.driver.chunk_records import State
from nightgrid.workers.driver.collector import Collector
from nightgrid.workers.driver.executors import Executor
from nightgrid.workers.driver.growing_run import LOOK_SECONDS, GrowingRun
from nightgrid.workers.driver.progress import Progress, progress_of
from nightgrid.workers.driver.reconciler import TRANSIENT_PAUSE_SECONDS, Reconciler
from nightgrid.workers.logs import bound, get_logger
from nightgrid.workers.processes import locked
from nightgrid.workers.runs.chunk_results import DamagedResultError
from nightgrid.workers.runs.ended import ensure_results
from nightgrid.workers.runs.manifest import Run, SegmentTakenError, read_segments
from nightgrid.workers.runs.notes import is_cancelled
from nightgrid.workers.runs.run_files import done_chunks
from nightgrid.workers.settings import Settings, load_settings
from nightgrid.workers.tracing import span

Found = TypeVar("Found")

log = get_logger("nightgrid.driver")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """How a run ended, or how far it was when its driver was asked to stop."""

    run_id: str
    finished: bool
    job_count: int
    answered_count: int
    """Jobs that needed no work when the run was planned."""
    statuses: dict[str, int]
    """Result rows by status; empty unless finished."""
    chunks_total: int
    chunks_resumed: int
    """Chunks that were done before this driver began."""
    failures: int
    resubmissions: int
    kernel_ns: int
    seconds: float
    cancelled: bool = False
    """Whether it is not finished because the run was cancelled."""


def drive(
    lake: Lake,
    run_id: str,
    executor: Executor,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    settings: Settings | None = None,
    check_planner: Callable[[], None] | None = None,
    stopping: threading.Event | None = None,
) -> RunSummary:
    """Work what a run still needs, then finish it.

    A run that is not planned to its end is worked while it is planned: `check_planner` raises if
    no process does so any more.

    May be called again after any kind of end: it does only the rest. Called from the main thread,
    it returns early, with `finished` false, on SIGINT and SIGTERM, and from any thread when
    `stopping` is set or the run is cancelled (nightgrid.workers.runs.notes). Raises TransientError
    when broker or lake stay away for `broker_patience_seconds`, or when another driver on this
    machine has this run. Drivers on several machines do a run no harm: they work it together.
    """
    settings = settings or load_settings()
    begun = time.monotonic()
    ended = ensure_results(lake, run_id)
    refusal = f"another driver is working run {run_id}"
    with (
        bound(run=run_id),
        span("drive", run=run_id),
        locked(settings.side_dir, f"driver-{run_id}", refusal),
        _stop_signals(stopping or threading.Event()) as stop,
        Collector(lake, run_id, settings.side_dir) as collector,
    ):
        make_lake_id(lake.url)
        # A count over generated boards fetches nothing, and nothing else would sweep its lake.
        lake.sweep_staging()
        watch = _Watch(lake, run_id, stop, settings.reconcile_seconds, on_progress)

        def begin() -> _Driver:
            growing = GrowingRun(lake, run_id, settings.stage_sizes, check_planner)
            return _Driver(lake, growing, executor, collector, watch.pass_on, settings)

        watch.look()
        driver = begin()
        if ended is None:
            log.info("run driven", jobs=driver.growing.run.job_count, game=driver.game)
            driver, ended = _driven(driver, begin, stop)
    summary = _summary_of(driver, ended, cancelled=watch.cancelled, begun=begun)
    log.info(
        "run ended",
        run=run_id,
        finished=summary.finished,
        game=driver.game,
        statuses=summary.statuses,
        chunks=summary.chunks_total,
        failures=summary.failures,
        resubmissions=summary.resubmissions,
        seconds=round(summary.seconds, 3),
    )
    return summary


class _Watch:
    """Looks now and then whether a run is cancelled, which stops its driver."""

    def __init__(
        self,
        lake: Lake,
        run_id: str,
        stop: threading.Event,
        every_s: float,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._lake = lake
        self._run_id = run_id
        self._stop = stop
        self._every_s = every_s
        self._on_progress = on_progress
        self._look_at = 0.0
        self.cancelled = False
        """Whether the run was cancelled when it was looked at last."""

    def look(self) -> None:
        """Look whether the run is cancelled, unless that was done a moment ago."""
        if time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + self._every_s
        # A lake that fails just now is asked again soon.
        with contextlib.suppress(TransientError):
            self.cancelled = is_cancelled(self._lake, self._run_id)
        if self.cancelled:
            self._stop.set()

    def pass_on(self, progress: Progress) -> None:
        """Look, and pass progress on to the caller of `drive`."""
        self.look()
        if self._on_progress is not None:
            self._on_progress(progress)


def _summary_of(
    driver: _Driver, ended: Mapping[str, Any] | None, *, cancelled: bool, begun: float
) -> RunSummary:
    """Sum up a run; `ended` is what its end says of it, None for one that is not at its end.

    `begun` is when `drive` was called, in seconds of the monotonic clock.
    """
    run, table = driver.growing.run, driver.growing.table
    return RunSummary(
        run_id=run.run_id,
        finished=ended is not None,
        job_count=run.job_count,
        answered_count=run.answered_count,
        statuses=ended["statuses"] if ended is not None else {},
        chunks_total=table.counts.chunks_total,
        chunks_resumed=driver.chunks_resumed,
        failures=table.failures,
        resubmissions=sum(table.made[name] for name in ("requeue", "retry", "reopen")),
        kernel_ns=ended["kernel_ns"] if ended is not None else 0,
        seconds=time.monotonic() - begun,
        cancelled=ended is None and cancelled,
    )


@dataclass
class _Driver:
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
            outages.tell(f"what run {self.growing.run.run_id} needs", error, left_s)
            if since == now:
                log.warning("driver waits", step=name, error=str(error))
            time.sleep(TRANSIENT_PAUSE_SECONDS)
        else:
            if self._trouble_since.pop(name, None) is not None and not self._trouble_since:
                outages.over(f"what run {self.growing.run.run_id} needs")

    def _read_results(self) -> None:
        self.growing.read_results(self.collector)

    def _listen(self) -> None:
        soon = not self.growing.run.planned or self.collector.is_behind(self.growing.table)
        self._reconciler.listen(LOOK_SECONDS if soon else self.settings.poll_seconds)

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


def _driven(
    driver: _Driver, begin: Callable[[], _Driver], stop: threading.Event
) -> tuple[_Driver, dict[str, Any] | None]:
    """Work a run until it is finished, or until asked to stop.

    Returns the driver that worked it last, and what the end of the run says of it, None where it
    has none yet. `begin` makes a driver of what the lake has of the run now.
    """
    while not stop.is_set():
        if not _worked(driver, stop):
            # A driver on another machine has added to the run, or results of it are gone: go on
            # from what it is now.
            driver = begin()
        elif not stop.is_set():
            finish = partial(driver.collector.finish, driver.growing.table)
            try:
                return driver, _patiently(finish, driver.settings)
            except DamagedResultError as error:
                driver.collector.set_aside(error)
                driver = begin()
    return driver, None


def _worked(driver: _Driver, stop: threading.Event) -> bool:
    """Work until nothing is left or until asked to stop; tell whether the driver knew the run."""
    try:
        driver.work(stop)
    except SegmentTakenError:
        return False
    is_done = partial(_is_done, driver.lake, driver.growing.run)
    return stop.is_set() or _patiently(is_done, driver.settings)


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


@contextmanager
def _stop_signals(stop: threading.Event) -> Iterator[threading.Event]:
    """Turn the first SIGINT or SIGTERM into a request to stop; a second one acts as ever."""
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    old: dict[int, Any] = {}

    def ask(number: int, _frame: FrameType | None) -> None:
        stop.set()
        signal.signal(number, old[number])

    for number in (int(signal.SIGINT), int(signal.SIGTERM)):
        old[number] = signal.signal(number, ask)
    try:
        yield stop
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)

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
from typing import Any

from structlog.contextvars import bound_contextvars

from nightgrid.archive.lake.identity import make_lake_id
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.driver.collector import Collector
from nightgrid.workers.driver.driver_loop import DriverLoop, work_to_the_end
from nightgrid.workers.driver.executors import Executor
from nightgrid.workers.driver.growing_run import GrowingRun
from nightgrid.workers.driver.patience import Patience
from nightgrid.workers.driver.progress import Progress
from nightgrid.workers.logs import get_logger
from nightgrid.workers.processes import locked
from nightgrid.workers.runs.finishing.ended import ensure_results
from nightgrid.workers.runs.status import is_cancelled
from nightgrid.workers.settings import Settings, load_settings
from nightgrid.workers.tracing import span

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
    `stopping` is set or the run is cancelled (nightgrid.workers.runs.status).

    Raises TransientError when broker or lake stay away for `broker_patience_seconds`, when it is
    asked to stop while a step that must succeed fails, as at its start and its end, or when another
    driver on this machine has this run. Drivers on several machines do a run no harm: they work it
    together.
    """
    settings = settings or load_settings()
    begun = time.monotonic()
    refusal = f"another driver is working run {run_id}"
    with (
        bound_contextvars(run=run_id),
        span("drive", run=run_id),
        locked(settings.side_dir, f"driver-{run_id}", refusal),
        _stop_signals(stopping or threading.Event()) as stop,
        Collector(lake, run_id, settings.side_dir) as collector,
    ):
        patience = Patience(run_id, settings.broker_patience_seconds, stop)
        ended = patience.insist(partial(ensure_results, lake, run_id), "look for an end")
        patience.insist(partial(make_lake_id, lake.url), "read the lake's id")
        # A count over generated boards fetches nothing, and nothing else would sweep its lake.
        patience.insist(lake.sweep_staging, "sweep")
        watch = _Watch(lake, run_id, stop, settings.reconcile_seconds, on_progress)

        def begin() -> DriverLoop:
            # This forgets failures of an earlier loop: they say nothing about steps of this one.
            growing = patience.insist(
                partial(GrowingRun, lake, run_id, settings.stage_sizes, check_planner), "open"
            )
            return DriverLoop(lake, growing, executor, collector, watch.pass_on, settings, patience)

        watch.poll()
        loop = begin()
        if ended is None:
            log.info("run driven", jobs=loop.growing.run.job_count, game=loop.game)
            loop, ended = work_to_the_end(loop, begin, stop)
    summary = _summary_of(loop, ended, cancelled=watch.cancelled, begun=begun)
    log.info(
        "run ended",
        run=run_id,
        finished=summary.finished,
        game=loop.game,
        statuses=summary.statuses,
        chunks=summary.chunks_total,
        failures=summary.failures,
        resubmissions=summary.resubmissions,
        seconds=round(summary.seconds, 3),
    )
    return summary


class _Watch:
    """Reads every few seconds whether a run is cancelled, and stops its driver if so."""

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
        self._poll_at = 0.0
        self.cancelled = False
        """Whether the run was cancelled at the last poll."""

    def poll(self) -> None:
        """Read whether the run is cancelled, unless that was done less than `every_s` ago."""
        if time.monotonic() < self._poll_at:
            return
        self._poll_at = time.monotonic() + self._every_s
        # A lake that fails now is read again at the next poll.
        with contextlib.suppress(TransientError):
            self.cancelled = is_cancelled(self._lake, self._run_id)
        if self.cancelled:
            self._stop.set()

    def pass_on(self, progress: Progress) -> None:
        """CancelCheck, and pass progress on to the caller of `drive`."""
        self.poll()
        if self._on_progress is not None:
            self._on_progress(progress)


def _summary_of(
    loop: DriverLoop, ended: Mapping[str, Any] | None, *, cancelled: bool, begun: float
) -> RunSummary:
    """Sum up a run; `ended` is what its end says of it, None for one that is not at its end.

    `begun` is when `drive` was called, in seconds of the monotonic clock.
    """
    run, table = loop.growing.run, loop.growing.table
    return RunSummary(
        run_id=run.run_id,
        finished=ended is not None,
        job_count=run.job_count,
        answered_count=run.answered_count,
        statuses=ended["statuses"] if ended is not None else {},
        chunks_total=table.counts.chunks_total,
        chunks_resumed=loop.chunks_resumed,
        failures=table.failures,
        resubmissions=sum(table.made[name] for name in ("requeue", "retry", "reopen")),
        kernel_ns=ended["kernel_ns"] if ended is not None else 0,
        seconds=time.monotonic() - begun,
        cancelled=ended is None and cancelled,
    )


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

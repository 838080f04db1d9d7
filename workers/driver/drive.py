"""Drive one run to its end in this process, for a night or a count."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeVar

from structlog.contextvars import bound_contextvars

from nightgrid.archive import outages
from nightgrid.archive.lake.identity import make_lake_id
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import RefusalError, TransientError
from nightgrid.workers.broker.redis_keys import BATCH
from nightgrid.workers.driver.driver import Driver
from nightgrid.workers.driver.outbox import Outbox
from nightgrid.workers.driver.progress import Progress
from nightgrid.workers.logs import get_logger
from nightgrid.workers.processes import locked
from nightgrid.workers.runs.manifest import read_done
from nightgrid.workers.settings import Settings, load_settings
from nightgrid.workers.tracing import span

log = get_logger("nightgrid.driver")

Found = TypeVar("Found")

PAUSE_SECONDS = 0.2
"""Pause after a failure, before the next try."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """How a run ended, or its progress when its driver was asked to stop."""

    run_id: str
    finished: bool
    job_count: int
    answered_count: int
    """Jobs that needed no work when the run was planned."""
    statuses: dict[str, int]
    """Result rows by status; empty unless finished."""
    chunks_total: int
    chunks_resumed: int
    """Chunks that were done before this driver started."""
    failures: int
    resubmissions: int
    kernel_ns: int
    seconds: float
    cancelled: bool = False
    """Whether it is unfinished because the run was cancelled."""


def drive(
    lake: Lake,
    run_id: str,
    outbox: Outbox,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    settings: Settings | None = None,
    queue: str = BATCH,
    check_planner: Callable[[], None] | None = None,
    stopping: threading.Event | None = None,
) -> RunSummary:
    """Work off what a run still needs, then finish it.

    May be called again however the last call ended: it does only the rest. Returns early, with
    `finished` false, when the run is cancelled or `stopping` is set, and in the main thread on
    SIGINT and SIGTERM. `check_planner` is for a run that is still being planned: it raises if no
    process plans it any more.

    Raises TransientError if broker or lake fail for `broker_patience_seconds` or another driver on
    this machine has the run, AllRefuseError if all workers refuse for that time, and RefusalError
    if this process does.
    """
    settings = settings or load_settings()
    begun = time.monotonic()
    with (
        bound_contextvars(run=run_id),
        span("drive", run=run_id),
        locked(settings.side_dir, f"driver-{run_id}", f"another driver is working run {run_id}"),
        _stop_signals(stopping or threading.Event()) as stop,
    ):
        patience = Patience(f"what run {run_id} needs", settings.broker_patience_seconds, stop)

        def begin() -> tuple[dict[str, Any] | None, Driver]:
            make_lake_id(lake.url)
            # A count over generated boards fetches nothing, and nothing else would clean up its
            # lake.
            lake.sweep_staging()
            return read_done(lake, run_id), Driver(
                lake, run_id, outbox, settings, queue=queue, check_planner=check_planner
            )

        ended, driver = patience.insist(begin)
        if ended is None:
            log.info("run driven", jobs=driver.run.job_count, game=driver.run.question.game)
        while ended is None and not stop.is_set() and not driver.cancelled:
            driver.check_planner()
            try:
                is_worked = driver.step()
                if on_progress is not None:
                    on_progress(driver.progress)
                if is_worked and not stop.is_set():
                    ended = driver.finish()
                elif not stop.is_set():
                    for announcement in outbox.wait(driver.pause_s):
                        driver.hear(announcement)
                patience.succeeded()
            except TransientError as error:
                patience.failed(error)
    summary = _summary_of(driver, ended, begun)
    log.info(
        "run ended",
        run=run_id,
        finished=summary.finished,
        game=driver.run.question.game,
        statuses=summary.statuses,
        chunks=summary.chunks_total,
        failures=summary.failures,
        resubmissions=summary.resubmissions,
        seconds=round(summary.seconds, 3),
    )
    return summary


def _summary_of(driver: Driver, ended: Mapping[str, Any] | None, begun: float) -> RunSummary:
    """Summarize a run; `ended` is the content of DONE.json, None before that."""
    run = driver.run
    return RunSummary(
        run_id=run.run_id,
        finished=ended is not None,
        job_count=run.job_count,
        answered_count=run.answered_count,
        statuses=ended["statuses"] if ended is not None else {},
        chunks_total=driver.progress.chunks_total,
        chunks_resumed=driver.chunks_resumed,
        failures=driver.failures,
        resubmissions=driver.resubmissions,
        kernel_ns=ended["kernel_ns"] if ended is not None else 0,
        seconds=time.monotonic() - begun,
        cancelled=ended is None and driver.cancelled,
    )


@contextmanager
def _stop_signals(stop: threading.Event) -> Iterator[threading.Event]:
    """Turn the first SIGINT or SIGTERM into a request to stop; a second one acts as usual."""
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


class Patience:
    """Timeout of an outage: time without any success, reset by a success."""

    def __init__(self, what: str, seconds: float, stop: threading.Event) -> None:
        """Set what is waited for, the timeout, and the event that ends the waiting."""
        self._what, self._seconds, self._stop = what, seconds, stop
        self._since: float | None = None

    def failed(self, error: TransientError) -> None:
        """Pause after a failure. Raises `error` after the timeout, and a RefusalError at once."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
            log.warning("driver waits", error=str(error))
        left_s = self._seconds - (now - self._since)
        if isinstance(error, RefusalError) or left_s < 0:
            raise error
        outages.report_outage(self._what, error, left_s)
        time.sleep(PAUSE_SECONDS)

    def succeeded(self) -> None:
        """End the outage, if there is one."""
        if self._since is not None:
            self._since = None
            outages.end_outage(self._what)

    def insist(self, step: Callable[[], Found]) -> Found:
        """Retry a step until it succeeds. Also raises its error when asked to stop."""
        while True:
            try:
                found = step()
            except TransientError as error:
                if self._stop.is_set():
                    raise
                self.failed(error)
            else:
                self.succeeded()
                return found

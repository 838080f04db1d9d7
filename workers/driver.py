"""Drive a run to its end: keep a bounded window in flight and believe only the lake."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from archive.finishing import finish_run
from archive.lake import Lake
from archive.runfiles import read_done
from solvers.errors import TransientError
from workers.executors import Executor
from workers.locks import alone
from workers.reconciler import TRANSIENT_PAUSE_SECONDS, Progress, Reconciler
from workers.settings import Settings


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


def drive(
    lake: Lake,
    run_id: str,
    executor: Executor,
    on_progress: Callable[[Progress], None] | None = None,
    *,
    settings: Settings | None = None,
) -> RunSummary:
    """Work what a run still needs, then finish it.

    May be called again after any kind of end: it does only the rest. Called from the main thread,
    it returns early, with `finished` false, on SIGINT and SIGTERM. Raises TransientError when
    broker or lake stay away for `broker_patience_seconds`, or when another driver has this run.
    """
    settings = settings or Settings()
    begun = time.monotonic()
    done = read_done(lake, run_id)
    refusal = f"another driver is working run {run_id}"
    with alone(settings.side_dir, f"driver-{run_id}", refusal), _stop_signals() as stop:
        driver = Reconciler(lake, run_id, executor, on_progress, settings)
        if done is None:
            driver.work(stop)
            done = None if stop.is_set() else _patiently(lambda: finish_run(lake, run_id), settings)
    return RunSummary(
        run_id=run_id,
        finished=done is not None,
        job_count=driver.run.job_count,
        answered_count=driver.run.answered_count,
        statuses=done["statuses"] if done is not None else {},
        chunks_total=driver.chunks_total,
        chunks_resumed=driver.chunks_resumed,
        failures=driver.failures,
        resubmissions=driver.resubmissions,
        kernel_ns=done["kernel_ns"] if done is not None else 0,
        seconds=time.monotonic() - begun,
    )


def _patiently(step: Callable[[], dict[str, Any]], settings: Settings) -> dict[str, Any]:
    deadline = time.monotonic() + settings.broker_patience_seconds
    while True:
        try:
            return step()
        except TransientError:
            if time.monotonic() > deadline:
                raise
            time.sleep(TRANSIENT_PAUSE_SECONDS)


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """Turn the first SIGINT or SIGTERM into a request to stop; a second one acts as ever."""
    stop = threading.Event()
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


__all__ = ["Progress", "RunSummary", "drive"]

"""Stop cancelled work while it runs.

Kernels release the interpreter's lock, and read a flag where they read the clock; a thread sets it.
The lake says whether work is cancelled: the thread reads it every few seconds, and at once when a
key in Redis says so (nightgrid.workers.broker.stop_keys).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.workers.logs import get_logger
from nightgrid.workers.runs.status import is_cancelled

log = get_logger("nightgrid.worker")

KEY_POLL_SECONDS = 0.25
LAKE_POLL_SECONDS = 5.0

CancelCheck = Callable[[], ReasonCode | None]
"""Reads from the lake why a piece of work is to stop; None while it is to go on."""


@dataclass(frozen=True, slots=True)
class Watcher:
    """Sets the stop flag of cancelled work."""

    is_requested: Callable[[str], bool]
    """Returns whether Redis has a request to stop a job or run."""

    @contextmanager
    def watching(self, name: str, check: CancelCheck) -> Iterator[Stop]:
        """Yield the stop flag of the work in the block, which is about the job or run `name`."""
        stop, over = Stop(), threading.Event()

        def watch() -> None:
            lake_at = time.monotonic() + LAKE_POLL_SECONDS
            while not over.wait(KEY_POLL_SECONDS):
                if not (time.monotonic() >= lake_at or self.is_requested(name)):
                    continue
                lake_at = time.monotonic() + LAKE_POLL_SECONDS
                # A lake that fails now is read again.
                with suppress(NightgridError):
                    why = check()
                    if why is not None:
                        log.info("stopped", about=name, reason=str(why))
                        stop.set(why)
                        return

        threading.Thread(target=watch, name="stop", daemon=True).start()
        try:
            yield stop
        finally:
            over.set()


@contextmanager
def watching(watcher: Watcher | None, name: str, check: CancelCheck) -> Iterator[Stop | None]:
    """Yield the stop flag of `Watcher.watching`, or None without a watcher."""
    if watcher is None:
        yield None
        return
    with watcher.watching(name, check) as stop:
        yield stop


def run_cancel_check(lake: Lake, run_id: str) -> CancelCheck:
    """Return a check for whether a run is cancelled."""
    return lambda: ReasonCode.CANCELLED if is_cancelled(lake, run_id) else None

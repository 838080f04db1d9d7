"""Stop cancelled work while it runs.

Kernels release the interpreter's lock, and read a flag where they read the clock; a thread sets it
as soon as it finds in the lake that the run is cancelled.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.workers.logs import get_logger
from nightgrid.workers.runs.status import is_cancelled

log = get_logger("nightgrid.worker")

POLL_SECONDS = 0.8
"""Pause between two looks at the lake; chunks that take less time are not looked at."""


@contextmanager
def watching(lake: Lake, run_id: str) -> Iterator[Stop]:
    """Yield the stop flag of the work in the block, which is about a run."""
    stop, over = Stop(), threading.Event()

    def watch() -> None:
        while not over.wait(POLL_SECONDS):
            # A lake that fails now is read again.
            with suppress(NightgridError):
                if is_cancelled(lake, run_id):
                    log.info("stopped", about=run_id, reason=str(ReasonCode.CANCELLED))
                    stop.set(ReasonCode.CANCELLED)
                    return

    threading.Thread(target=watch, name="stop", daemon=True).start()
    try:
        yield stop
    finally:
        over.set()

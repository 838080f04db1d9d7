"""Stop cancelled work while it runs.

Kernels release the interpreter's lock, and read a flag where they read the clock; a thread sets it.
The lake says whether work is cancelled: the thread reads it every few seconds, and at once when a
key in Redis says so (nightgrid.workers.broker.notices).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.workers.logs import get_logger
from nightgrid.workers.runs.status import is_cancelled

log = get_logger("nightgrid.worker")

KEY_POLL_SECONDS = 0.25
LAKE_POLL_SECONDS = 5.0


@contextmanager
def watching(
    is_requested: Callable[[str], bool] | None, lake: Lake, run_id: str
) -> Iterator[Stop | None]:
    """Yield the stop flag of the work in the block, which is about a run.

    `is_requested` returns whether Redis has a request to stop a run; without it, yield None.
    """
    if is_requested is None:
        yield None
        return
    stop, over = Stop(), threading.Event()

    def watch() -> None:
        lake_at = time.monotonic() + LAKE_POLL_SECONDS
        while not over.wait(KEY_POLL_SECONDS):
            if not (time.monotonic() >= lake_at or is_requested(run_id)):
                continue
            lake_at = time.monotonic() + LAKE_POLL_SECONDS
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

"""How long a driver tolerates a failing lake or broker, and what people are told meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from nightgrid.archive import outages
from nightgrid.solvers.errors import RefusalError, TransientError
from nightgrid.workers.logs import get_logger

Found = TypeVar("Found")

log = get_logger("nightgrid.driver")

PAUSE_SECONDS = 0.2
"""Pause after a failure, before the next try."""


class Patience:
    """Counts for how long nothing has succeeded; a success ends the outage."""

    def __init__(self, what: str, seconds: float, stop: threading.Event) -> None:
        """Take what is waited for, for how long, and what ends the waiting."""
        self._what, self._seconds, self._stop = what, seconds, stop
        self._since: float | None = None

    def failed(self, error: TransientError) -> None:
        """Pause after a failure. Raises `error` after the time, and a RefusalError at once."""
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
        """End the outage, if there was one."""
        if self._since is not None:
            self._since = None
            outages.end_outage(self._what)

    def insist(self, step: Callable[[], Found]) -> Found:
        """Try a step until it succeeds. Raises its error when asked to stop, too."""
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

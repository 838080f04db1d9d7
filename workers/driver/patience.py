"""How long a driver bears with a broker or a lake that fails it, and how it says that it waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from nightgrid.archive import outages
from nightgrid.solvers.errors import RefusalError, TransientError
from nightgrid.workers.logs import get_logger
from nightgrid.workers.runs.manifest import SegmentTakenError

Found = TypeVar("Found")

log = get_logger("nightgrid.driver")

PAUSE_SECONDS = 0.2
"""Pause after a broker or a lake failed, before the next try."""


class Patience:
    """Bears with steps of one run that fail for now, each for `seconds` in a row.

    SegmentTakenError and RefusalError are raised at once: another driver or a worker answered, so
    nothing is away.
    """

    def __init__(self, run_id: str, seconds: float, stop: threading.Event) -> None:
        """Take how long a step may fail, and what ends the waiting for one that must succeed."""
        self._what = f"what run {run_id} needs"
        self._seconds = seconds
        self._stop = stop
        self._failing_since: dict[str, float] = {}
        """Steps that failed when they were last tried, in seconds of the monotonic clock."""

    def attempt(self, step: Callable[[], object], name: str = "") -> None:
        """Try a step once, and pause where it fails. Raises its TransientError after the time."""
        try:
            step()
        except (SegmentTakenError, RefusalError):
            raise
        except TransientError as error:
            self._bear(name or step.__name__, error)
        else:
            self._succeeded(name or step.__name__)

    def insist(self, step: Callable[[], Found], name: str) -> Found:
        """Try a step until it succeeds, and return what it found.

        A success ends the outage, and failures of other steps are forgotten: such a step stands
        between two stages of the work, and what failed before may never be tried again.

        Raises its TransientError after the time, and at once when the driver is asked to stop.
        """
        while True:
            try:
                found = step()
            except (SegmentTakenError, RefusalError):
                raise
            except TransientError as error:
                if self._stop.is_set():
                    raise
                self._bear(name, error)
            else:
                self._forget()
                return found

    def _forget(self) -> None:
        if self._failing_since:
            self._failing_since.clear()
            outages.end_outage(self._what)

    def _bear(self, name: str, error: TransientError) -> None:
        now = time.monotonic()
        since = self._failing_since.setdefault(name, now)
        if now - since > self._seconds:
            raise error
        outages.report_outage(self._what, error, self._seconds - (now - since))
        if since == now:
            log.warning("driver waits", step=name, error=str(error))
        time.sleep(PAUSE_SECONDS)

    def _succeeded(self, name: str) -> None:
        if self._failing_since.pop(name, None) is not None and not self._failing_since:
            outages.end_outage(self._what)

"""Stop cancelled work: the checks that read the lake, and the watcher that runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.workers.runs.status import is_cancelled

CancelCheck = Callable[[], ReasonCode | None]
"""Reads from the lake why a piece of work is to stop; None while it is to go on."""


class Watcher(Protocol):
    """Stops cancelled work of a process (nightgrid.workers.broker.notices.stop_thread)."""

    def watching(
        self, name: str, check: CancelCheck, deadline_at: float | None = None
    ) -> AbstractContextManager[Stop]:
        """Yield the stop of the work in the block, which is about the job or run `name`."""


@contextmanager
def watching(
    watcher: Watcher | None, name: str, check: CancelCheck, deadline_at: float | None = None
) -> Iterator[Stop | None]:
    """Yield the stop of `Watcher.watching`, or None without a watcher."""
    if watcher is None:
        yield None
        return
    with watcher.watching(name, check, deadline_at) as stop:
        yield stop


def run_cancel_check(lake: Lake, run_id: str) -> CancelCheck:
    """Return a check for whether a run is cancelled."""
    return lambda: ReasonCode.CANCELLED if is_cancelled(lake, run_id) else None

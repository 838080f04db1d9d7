"""Stop work that is not wanted any more: what tells so, and what stops it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.workers.runs.status import is_cancelled

Look = Callable[[], ReasonCode | None]
"""Looks in the lake why a piece of work is not wanted any more; None: it is wanted."""


class Watcher(Protocol):
    """Watches what a process works (nightgrid.workers.broker.stop_thread)."""

    def watching(
        self, name: str, look: Look, deadline_at: float | None = None
    ) -> AbstractContextManager[Stop]:
        """Give a stop for the work in the block, which is about the job or run `name`."""


@contextmanager
def watching(
    watcher: Watcher | None, name: str, look: Look, deadline_at: float | None = None
) -> Iterator[Stop | None]:
    """Give the stop of a watcher as `Watcher.watching`; None without one."""
    if watcher is None:
        yield None
        return
    with watcher.watching(name, look, deadline_at) as stop:
        yield stop


def run_look(lake: Lake, run_id: str) -> Look:
    """Look whether a run is cancelled."""
    return lambda: ReasonCode.CANCELLED if is_cancelled(lake, run_id) else None

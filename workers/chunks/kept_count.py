"""The tables of a staged count, which a process keeps from one of its parts to the next.

To prepare a board takes longer than a small part, and memory that is asked for anew has to be
cleared by the system, page by page, before it can be used.
"""

from __future__ import annotations

import threading

from nightgrid.solvers.algebra import LayeredCount
from nightgrid.workers.freed_memory import give_back

KEPT_SECONDS = 20.0
"""Tables that no part has asked for in this time are given up: longer than a barrier lasts, as a
rule, and short beside what else a worker may want the memory for."""

Key = tuple[str, str, str]
"""Lake, run and job: they settle board and budget."""


class KeptTables:
    """At most one count, which nobody else has while it is in use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: tuple[Key, LayeredCount] | None = None
        self._timer: threading.Timer | None = None

    def take(self, key: Key) -> LayeredCount | None:
        """Take the count of a job, as good as new; a count of another job is given up."""
        with self._lock:
            kept = self._empty()
        if kept is None or kept[0] != key:
            return None
        kept[1].renew()
        return kept[1]

    def keep(self, key: Key, count: LayeredCount) -> None:
        """Keep a count that is done with for the job's next part."""
        with self._lock:
            self._empty()
            self._kept = (key, count)
            self._timer = threading.Timer(KEPT_SECONDS, self.drop)
            self._timer.daemon = True
            self._timer.start()

    def drop(self) -> None:
        """Give up what is kept, and memory that was freed beside it."""
        with self._lock:
            kept = self._empty()
        if kept is not None:
            del kept
            give_back()

    def _empty(self) -> tuple[Key, LayeredCount] | None:
        kept, self._kept = self._kept, None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return kept


kept_tables = KeptTables()

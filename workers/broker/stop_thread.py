"""A thread in each process that solves: it stops what is not wanted any more while it is worked.

Kernels let go of the interpreter's lock, and look at the budget's stop where they look at the
clock. What is wanted stands in the lake: the thread looks there when it is asked to
(nightgrid.workers.broker.stop_requests), and every few seconds unasked.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import redis

from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.stop import Stop
from nightgrid.workers.broker.stop_requests import read_stop_requests
from nightgrid.workers.logs import get_logger
from nightgrid.workers.settings import Settings
from nightgrid.workers.stopping import Look

log = get_logger("nightgrid.worker")

REQUEST_SECONDS = 0.25
"""How often the thread looks for requests, while something is worked."""
LOOK_SECONDS = 5.0
"""How often it looks in the lake unasked, ..."""
LOOK_ALONE_SECONDS = 0.75
"""... and while the server does not answer."""


@dataclass(eq=False, slots=True)
class _Work:
    name: str
    look: Look
    deadline_at: float | None
    stop: Stop = field(default_factory=Stop)
    request: str | None = None
    look_at: float = 0.0


class StopThread:
    """Watches what a process works, in one thread that waits while nothing is worked."""

    def __init__(self, settings: Settings, client: redis.Redis) -> None:
        self._settings, self._client = settings, client
        self._works: list[_Work] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @contextmanager
    def watching(self, name: str, look: Look, deadline_at: float | None = None) -> Iterator[Stop]:
        """Give a stop for the work in the block, which is about the job or run `name`.

        `deadline_at`: Unix time at which to look in the lake whether it is over.
        """
        work = _Work(name, look, deadline_at)
        with self._changed:
            self._works.append(work)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="stops", daemon=True)
                self._thread.start()
            self._changed.notify()
        try:
            yield work.stop
        finally:
            with self._changed:
                self._works.remove(work)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._works:
                    self._changed.wait()
            # What is done in less needs no look.
            time.sleep(REQUEST_SECONDS)
            with self._changed:
                works = [work for work in self._works if work.stop.reason_code is None]
            if works:
                self.look_after(works)

    def look_after(self, works: list[_Work]) -> None:
        """Look once, at the requests and where that is due in the lake."""
        answers = True
        try:
            requests = read_stop_requests(
                self._client, self._settings, [work.name for work in works]
            )
        except redis.RedisError:
            requests, answers = [work.request for work in works], False
        now = time.monotonic()
        for work, request in zip(works, requests, strict=True):
            first, is_new = not work.look_at, request != work.request
            work.request = request
            if first:
                # A request from before the work began is answered by this look, too.
                work.look_at = now + (0.0 if is_new else LOOK_SECONDS)
            late = work.deadline_at is not None and time.time() >= work.deadline_at
            alone = not answers and now >= work.look_at - LOOK_SECONDS + LOOK_ALONE_SECONDS
            if is_new or late or alone or now >= work.look_at:
                work.look_at = now + LOOK_SECONDS
                self._look(work)

    def _look(self, work: _Work) -> None:
        # A lake that fails just now is asked again soon.
        with suppress(NightgridError):
            why = work.look()
            if why is not None:
                log.info("stopped", about=work.name, reason=str(why))
                work.stop.set(why)

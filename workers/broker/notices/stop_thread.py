"""Stop cancelled work while it runs: a thread in each process that solves.

Kernels release the interpreter's lock, and read the budget's stop where they read the clock. The
lake says whether work is cancelled: the thread reads it at each request
(nightgrid.workers.broker.notices.stop_requests), and every few seconds without one.
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
from nightgrid.workers.broker.notices.stop_requests import read_stop_requests
from nightgrid.workers.logs import get_logger
from nightgrid.workers.settings import Settings
from nightgrid.workers.stopping import CancelCheck

log = get_logger("nightgrid.worker")

REQUEST_POLL_SECONDS = 0.25
"""How often the thread reads requests, while its process works."""
LAKE_POLL_SECONDS = 5.0
"""How often it reads the lake without a request, ..."""
LAKE_POLL_ALONE_SECONDS = 0.75
"""... and while the server does not answer."""


@dataclass(eq=False, slots=True)
class _Work:
    name: str
    check: CancelCheck
    deadline_at: float | None
    stop: Stop = field(default_factory=Stop)
    request: str | None = None
    check_at: float = 0.0


class StopThread:
    """Stops cancelled work of a process, in one thread that waits while the process is idle."""

    def __init__(self, settings: Settings, client: redis.Redis) -> None:
        self._settings, self._client = settings, client
        self._works: list[_Work] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @contextmanager
    def watching(
        self, name: str, check: CancelCheck, deadline_at: float | None = None
    ) -> Iterator[Stop]:
        """Give a stop for the work in the block, which is about the job or run `name`.

        `deadline_at`: Unix time from which the lake is read whether the deadline has passed.
        """
        work = _Work(name, check, deadline_at)
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
            # Work that ends sooner is not worth a check.
            time.sleep(REQUEST_POLL_SECONDS)
            with self._changed:
                works = [work for work in self._works if work.stop.reason_code is None]
            if works:
                self.poll(works)

    def poll(self, works: list[_Work]) -> None:
        """Read the requests once, and the lake for each piece of work for which that is due."""
        answers = True
        try:
            requests = read_stop_requests(
                self._client, self._settings, [work.name for work in works]
            )
        except redis.RedisError:
            requests, answers = [work.request for work in works], False
        now = time.monotonic()
        for work, request in zip(works, requests, strict=True):
            first, is_new = not work.check_at, request != work.request
            work.request = request
            if first:
                # This check also answers a request from before the work began.
                work.check_at = now + (0.0 if is_new else LAKE_POLL_SECONDS)
            late = work.deadline_at is not None and time.time() >= work.deadline_at
            alone = (
                not answers and now >= work.check_at - LAKE_POLL_SECONDS + LAKE_POLL_ALONE_SECONDS
            )
            if is_new or late or alone or now >= work.check_at:
                work.check_at = now + LAKE_POLL_SECONDS
                self._check_lake(work)

    def _check_lake(self, work: _Work) -> None:
        # A lake that fails now is read again at the next poll.
        with suppress(NightgridError):
            why = work.check()
            if why is not None:
                log.info("stopped", about=work.name, reason=str(why))
                work.stop.set(why)

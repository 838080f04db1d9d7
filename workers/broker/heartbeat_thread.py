"""Write a worker's heartbeat to Redis, and stop the worker when it has stalled.

Celery over Redis has states in which a worker's main process is alive and takes no message any
more: an acknowledgement that fails while the server restarts leaves its prefetch window full for
ever. The supervisor starts the worker again; what it had in hand is worked again.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import redis
from celery.worker import state
from celery.worker.request import Request

from nightgrid.archive.lake.identity import read_lake_id
from nightgrid.archive.lake.location import is_folder
from nightgrid.solvers.errors import NightgridError
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.turns import note_end
from nightgrid.workers.broker.worker_keys import write_heartbeat
from nightgrid.workers.logs import get_logger
from nightgrid.workers.settings import Settings

log = get_logger("nightgrid.worker")

STALL_SECONDS = 20.0
"""A worker that has nothing to do for this long while its queues hold messages has stalled."""
LAKE_CHECK_SECONDS = 30.0
"""How often a worker checks that its lake still has the id that it serves."""
SETTLE_SECONDS = 3.0
"""An acknowledgement that has not gone through by then has failed."""
_acknowledging: deque[tuple[float, Any]] = deque()


class AcknowledgedRequest(Request):  # type: ignore[misc]
    """A request whose acknowledgement is checked.

    If it fails, the worker's prefetch window stays full, and only a log line says so.
    """

    def acknowledge(self) -> None:
        """Acknowledge, which the event loop does a moment later, and remember to check that."""
        if not self.acknowledged:
            note_end(self)
        super().acknowledge()
        _acknowledging.append((time.monotonic(), self._message))


def stop_worker(reason: str) -> None:
    """Ask this worker to end what it is working on, and exit."""
    if state.should_stop is None:
        log.warning("worker stops", reason=reason)
        state.should_stop = os.EX_TEMPFAIL


class HeartbeatThread(threading.Thread):
    """Writes the worker's heartbeat, and stops a worker that takes no message from its queues."""

    def __init__(self, settings: Settings, worker: str, about: dict[str, Any]) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._settings = settings
        self._worker = worker
        self._about = about
        self._queues: Sequence[str] = about["queues"]
        self._idle_since: float | None = None
        self._stop_since: float | None = None
        self._check_lake_at = 0.0

    def run(self) -> None:
        """Write a heartbeat and check the worker, until the process ends."""
        client = connect(self._settings)
        while True:
            try:
                write_heartbeat(client, self._settings, self._worker, self._about)
                self._stop_if_stalled(client)
            except redis.RedisError as error:
                self._idle_since = None
                log.warning("server does not answer", error=str(error))
            self._check_acknowledgements()
            self._check_lake()
            self._exit_if_overdue()
            time.sleep(self._settings.liveness_interval_seconds)

    def _check_acknowledgements(self) -> None:
        now = time.monotonic()
        while _acknowledging and now - _acknowledging[0][0] > SETTLE_SECONDS:
            _, message = _acknowledging.popleft()
            if not message.acknowledged:
                stop_worker("an acknowledgement failed")

    def _check_lake(self) -> None:
        """Stop the worker if another lake has taken the place of the one that it serves.

        A worker that began before the file system was mounted found an empty folder there. A
        bucket is not checked: its client does not survive the forks of this process.
        """
        now = time.monotonic()
        if now < self._check_lake_at or "lake_id" not in self._about:
            return
        if not is_folder(self._settings.lake):
            return
        self._check_lake_at = now + LAKE_CHECK_SECONDS
        with contextlib.suppress(NightgridError):
            found = read_lake_id(self._settings.lake)
            if found not in (None, self._about["lake_id"]):
                stop_worker("another lake lies where this worker's was")

    def _stop_if_stalled(self, client: redis.Redis) -> None:
        pipe = client.pipeline(transaction=False)
        prefix = key_prefix(self._settings)
        for queue in self._queues:
            pipe.llen(f"{prefix}{queue}")
        busy = len(state.active_requests) + len(state.reserved_requests) > 0
        now = time.monotonic()
        if busy or not any(pipe.execute()):
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        elif now - self._idle_since > STALL_SECONDS:
            stop_worker(f"messages wait, and none was taken for {STALL_SECONDS:g} s")

    def _exit_if_overdue(self) -> None:
        """Exit at once when stopping has taken longer than any task may."""
        now = time.monotonic()
        if state.should_stop is None:
            self._stop_since = None
        elif self._stop_since is None:
            self._stop_since = now
        elif now - self._stop_since > self._settings.hard_limit_seconds:
            os._exit(os.EX_TEMPFAIL)

"""Write a worker's heartbeat to Redis, and stop the worker when it has stalled.

With Redis, Celery has states in which a worker's main process is alive but takes no messages: after
an acknowledgement fails while the server restarts, its prefetch window stays full. The supervisor
restarts the worker, and its tasks run again.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import redis
from celery.worker import state

from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.queues import waiting_count
from nightgrid.workers.broker.worker_keys import write_heartbeat
from nightgrid.workers.chunks.refusals import sees_other_lake
from nightgrid.workers.logs import get_logger
from nightgrid.workers.settings import Settings

log = get_logger("nightgrid.worker")

STALL_SECONDS = 8.0
"""A worker that idles for this long while its queue holds messages has stalled. Longer than the
pause of a worker that refuses work."""


class HeartbeatThread(threading.Thread):
    """Writes the worker's heartbeat, and stops a worker that takes no message from its queue."""

    def __init__(self, settings: Settings, worker: str, about: dict[str, Any]) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._settings = settings
        self._worker = worker
        self._about = about
        self._taking_at = time.monotonic()
        """When the worker was last busy or its queue last empty."""

    def run(self) -> None:
        """Write heartbeats and check for stalls until the process ends."""
        client = connect(self._settings)
        while True:
            why = ""
            if sees_other_lake(self._settings.lake, self._about["lake_id"]):
                why = "another lake is where this worker's was"
            try:
                write_heartbeat(client, self._settings, self._worker, self._about)
                why = why or self._stall(client)
            except redis.RedisError as error:
                self._taking_at = time.monotonic()
                log.warning("server does not answer", error=str(error))
            if why and state.should_stop is None:
                log.warning("worker stops", reason=why)
                state.should_stop = os.EX_TEMPFAIL
            time.sleep(self._settings.tuning.liveness_interval_seconds)

    def _stall(self, client: redis.Redis) -> str:
        busy = state.active_requests or state.reserved_requests
        queues = self._about["queues"]
        if busy or not any(waiting_count(client, self._settings, queue) for queue in queues):
            self._taking_at = time.monotonic()
        if time.monotonic() - self._taking_at > STALL_SECONDS:
            return f"messages wait, and none was taken for {STALL_SECONDS:g} s"
        return ""

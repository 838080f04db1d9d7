"""Start and end of a worker process: its log, warm kernels, children and heartbeat."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from typing import Any

import redis
from celery import signals
from celery.worker import state

from nightgrid.archive.games import ranking_game
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import MEANT
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.queues import waiting_count
from nightgrid.workers.broker.redis_keys import make_lake_id
from nightgrid.workers.broker.worker_keys import write_heartbeat
from nightgrid.workers.celery_worker.this_worker import SETTINGS, WORKER_ID
from nightgrid.workers.chunks.refusals import sees_other_lake
from nightgrid.workers.freed_memory import map_large, trim
from nightgrid.workers.logs import get_logger, take_over_logging
from nightgrid.workers.processes import die_with_parent
from nightgrid.workers.settings import Settings
from nightgrid.workers.tracing import begin_tracing, flush_traces

log = get_logger("nightgrid.worker")

NOTICE_SECONDS = 0.5
"""How often a worker checks whether a child has died."""
STALL_SECONDS = 8.0
"""A worker that idles for this long while its queue holds messages has stalled. Longer than the
pause of a worker that refuses work."""
_solvers: dict[str, str] = {}
"""Versions of the solvers loaded at startup, by game."""


@signals.setup_logging.connect  # type: ignore[untyped-decorator]
def _set_up_logging(**_: Any) -> None:
    # NightgridTask logs how a task ended, with its chunk.
    take_over_logging(logging.INFO, quiet=("celery.app.trace", "celery.worker.strategy"))


@signals.worker_init.connect  # type: ignore[untyped-decorator]
def _warm_kernels(**_: Any) -> None:
    # Before the fork, so that every child inherits the compiled kernels and the mapped words.
    for name in SETTINGS.game_names:
        begun = time.monotonic()
        try:
            game = bind_game(name)
            game.warm()
        except Exception as error:  # noqa: BLE001 - a game that cannot be loaded must not take the others along
            log.warning("game not warm", game=name, error=f"{type(error).__name__}: {error}")
        else:
            _solvers[name] = game.solver_version
            log.info("game warm", game=name, seconds=round(time.monotonic() - begun, 3))
    if SETTINGS.rank:
        _warm_ranker()


def _warm_ranker() -> None:
    """Load the ranker and its kernels once for all children."""
    begun = time.monotonic()
    # Otherwise the buffers of one board would pile up with those of the next.
    map_large()
    try:
        bind_game(str(ranking_game()), ask=MEANT).warm()
        trim()
    except Exception as error:  # noqa: BLE001 - a worker that cannot rank solves all the same
        log.warning("ranker not warm", error=f"{type(error).__name__}: {error}")
    else:
        log.info("ranker warm", seconds=round(time.monotonic() - begun, 3))


@signals.worker_process_init.connect  # type: ignore[untyped-decorator]
def _end_with_parent(**_: Any) -> None:
    die_with_parent()
    # After the fork, because a thread sends the spans.
    begin_tracing(SETTINGS.trace_url, "worker")


@signals.worker_process_shutdown.connect  # type: ignore[untyped-decorator]
def _end_child(**_: Any) -> None:
    flush_traces()


@signals.worker_ready.connect  # type: ignore[untyped-decorator]
def _notice_deaths(sender: Any, **_: Any) -> None:
    # By default the pool checks only every 5 s whether the task of a dead child is lost.
    maintain = getattr(sender.pool, "maintain_pool", None)
    if maintain is not None:
        sender.timer.call_repeatedly(NOTICE_SECONDS, maintain)


@signals.worker_ready.connect  # type: ignore[untyped-decorator]
def _start_heartbeat(sender: Any, **_: Any) -> None:
    about = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "queues": sorted(sender.app.amqp.queues.consume_from),
        "processes": sender.controller.concurrency,
        "started_at": time.time(),
        "lake_id": make_lake_id(SETTINGS),
        # Without the options of the URL.
        "lake": SETTINGS.lake.partition("?")[0],
        "solvers": dict(_solvers),
    }
    HeartbeatThread(SETTINGS, WORKER_ID, about).start()


class HeartbeatThread(threading.Thread):
    """Writes the worker's heartbeat, and stops a worker that takes no message from its queue.

    With Redis, Celery has states in which a worker's main process is alive but takes no messages:
    after an acknowledgement fails while the server restarts, its prefetch window stays full. The
    supervisor restarts the worker, and its tasks run again.
    """

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

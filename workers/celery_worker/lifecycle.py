"""Start and end of a worker process: its log, warm kernels, children and heartbeat."""

from __future__ import annotations

import logging
import os
import socket
import time
from typing import Any

from celery import signals

from nightgrid.archive.games import ranking_game
from nightgrid.archive.words.binding import bind_game
from nightgrid.solvers.algebra import MEANT
from nightgrid.workers.broker.redis_keys import make_lake_id
from nightgrid.workers.celery_worker.heartbeat_thread import HeartbeatThread
from nightgrid.workers.celery_worker.this_worker import SETTINGS, WORKER_ID
from nightgrid.workers.freed_memory import map_large, trim
from nightgrid.workers.logs import get_logger, take_over_logging
from nightgrid.workers.processes import die_with_parent
from nightgrid.workers.tracing import begin_tracing, flush_traces

log = get_logger("nightgrid.worker")

NOTICE_SECONDS = 0.5
"""How often a worker checks whether a child has died."""
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

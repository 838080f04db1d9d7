"""This worker process: its settings, its name, its lake and Redis, its announcements."""

from __future__ import annotations

import os
import uuid

import redis

from nightgrid.archive.lake.storage import Lake
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.notices import Announcement, announce
from nightgrid.workers.logs import get_logger
from nightgrid.workers.settings import program_settings

log = get_logger("nightgrid.worker")

WORKER_ID = os.environ.get("NIGHTGRID_WORKER_ID") or f"worker-{uuid.uuid4().hex[:12]}"
"""Names this worker process and its children; it changes with every restart."""
SETTINGS = program_settings()
_open: dict[int, tuple[Lake, redis.Redis]] = {}


def connections() -> tuple[Lake, redis.Redis]:
    """Open the lake and Redis once per process, after the fork."""
    pid = os.getpid()
    if pid not in _open:
        _open.clear()
        _open[pid] = (Lake.open(SETTINGS.lake), connect(SETTINGS))
    return _open[pid]


def notify_driver(driver: str, announcement: Announcement) -> None:
    """Announce what became of a chunk to the driver process that sent it."""
    try:
        announce(connections()[1], SETTINGS, driver, announcement)
    except redis.RedisError as error:
        # The driver finds the chunk's result in the lake anyway.
        log.warning("not announced", chunk=announcement.ref.name, error=str(error))

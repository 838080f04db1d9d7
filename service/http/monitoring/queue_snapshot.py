"""A snapshot of the queue: open jobs by game and state, living workers, the load of batches."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import redis

from nightgrid.archive.lake.storage import Lake
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.queues import Demand, QueueStatus, demand, overview
from nightgrid.workers.broker.redis_keys import INTERACTIVE
from nightgrid.workers.broker.worker_keys import living_workers, refusals
from nightgrid.workers.cluster.supervisor import has_begun_workers
from nightgrid.workers.ondemand.submissions import open_jobs
from nightgrid.workers.runs.run_files import folder
from nightgrid.workers.settings import Settings

SNAPSHOT_S = 1.0
"""Lifetime of a snapshot, however many pages show it."""
WAITING, RUNNING = "queued", "running"
"""States of open jobs: not started, or started by a worker."""
LOOKED_AT = 200
"""Most open jobs, the oldest first, that are checked for a start; others count as waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSnapshot:
    """The open jobs and the available workers."""

    jobs: Counter[tuple[str, str]]
    """Open jobs by game and state."""
    oldest_s: float | None
    """Age of the oldest open job, waiting or running; None if there is none."""
    alive: dict[str, dict[str, Any]] | None
    """The living workers by name; None while no server answers."""
    refusing: dict[str, str] = field(default_factory=dict)
    queues: dict[str, QueueStatus] = field(default_factory=dict)
    starting: bool = False
    """Whether no worker is alive, and some are starting on this machine."""
    batch: Demand | None = None
    damaged: int = 0
    """Unreadable submission files."""

    def number(self, *states: str) -> int:
        """Count open jobs of some states."""
        return sum(count for (_, state), count in self.jobs.items() if state in states)

    @property
    def serves(self) -> bool:
        """Return whether a living worker serves on-demand solves."""
        return any(INTERACTIVE in about["queues"] for about in (self.alive or {}).values())


def take_snapshot(lake: Lake, settings: Settings) -> QueueSnapshot:
    """Take a snapshot of the open jobs in the lake and of the server, which may be dead."""
    found = open_jobs(lake)
    jobs: Counter[tuple[str, str]] = Counter()
    now = time.time()
    oldest_s: float | None = None
    for number, wanted in enumerate(found.wanted.values()):
        begun = number < LOOKED_AT and lake.list(f"{folder(wanted.run_id)}/started")
        jobs[wanted.last.question.game, RUNNING if begun else WAITING] += 1
        oldest_s = max(oldest_s or 0.0, now - wanted.submitted_at)
    snapshot = QueueSnapshot(
        jobs=jobs,
        oldest_s=oldest_s,
        alive=None,
        starting=has_begun_workers(settings),
        damaged=len(found.damaged),
    )
    with suppress(redis.RedisError, OSError), connect(settings) as client:
        alive, refusing = living_workers(client, settings), refusals(client, settings)
        return replace(
            snapshot,
            alive=alive,
            starting=snapshot.starting and not alive,
            refusing=refusing,
            queues=overview(client, settings),
            batch=demand(client, settings),
        )
    return snapshot

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
"""A snapshot is taken so often, however many pages show it."""
WAITING, RUNNING = "queued", "running"
"""States of open jobs: no worker has begun, a worker has."""
LOOKED_AT = 200
"""Open jobs, the oldest, of which it is looked whether a worker has begun; others wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSnapshot:
    """What there is to do, and which workers do it."""

    jobs: Counter[tuple[str, str]]
    """Open jobs by game and state."""
    oldest_s: float | None
    """Age of the oldest open job, waiting or worked; None without one."""
    alive: dict[str, dict[str, Any]] | None
    """The living workers by name; None while no server answers."""
    refusing: dict[str, str] = field(default_factory=dict)
    queues: dict[str, QueueStatus] = field(default_factory=dict)
    starting: bool = False
    """Whether no worker lives, and some are being started on this machine."""
    batch: Demand | None = None
    damaged: int = 0
    """Files among the submissions that are none."""

    def number(self, *states: str) -> int:
        """Count open jobs of some states."""
        return sum(count for (_, state), count in self.jobs.items() if state in states)

    @property
    def serves(self) -> bool:
        """Return whether a living worker takes on-demand solves."""
        return any(INTERACTIVE in about["queues"] for about in (self.alive or {}).values())


def take_snapshot(lake: Lake, settings: Settings) -> QueueSnapshot:
    """Take a snapshot of the open jobs in the lake and of the server; a dead one is no error."""
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

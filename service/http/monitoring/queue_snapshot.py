"""A snapshot of the queue: open jobs by game and state, living workers, the load of batches."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from typing import Any

import redis

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.notices.job_refusals import refusals_of
from nightgrid.workers.broker.queues import INTERACTIVE, Demand, QueueStatus, demand, overview
from nightgrid.workers.broker.worker_keys import living_workers, refusals
from nightgrid.workers.cluster.supervisor import has_begun_workers
from nightgrid.workers.ondemand.record_files import read_records
from nightgrid.workers.settings import Settings

SNAPSHOT_S = 1.0
"""A snapshot is taken so often, however many pages show it."""
REFUSED_JOBS = 100
"""Jobs that have waited longest, of which a snapshot tells who could not work them: it is taken
once a second, and `status` and `doctor` look at more."""
WAITING, RUNNING, RUN = "queued", "running", "run"
"""States of open jobs: no worker has begun, a worker has, it became a run of its own."""


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
    refused: dict[str, str] = field(default_factory=dict)
    """Other workers that could not work a job that waits, with a reason each."""
    queues: dict[str, QueueStatus] = field(default_factory=dict)
    starting: bool = False
    """Whether no worker lives, and some are being started on this machine."""
    batch: Demand | None = None
    damaged: int = 0
    """What lies among the records and is none."""

    def number(self, *states: str) -> int:
        """Count open jobs of some states."""
        return sum(count for (_, state), count in self.jobs.items() if state in states)

    @property
    def serves(self) -> bool:
        """Tell whether a living worker takes on-demand solves."""
        return any(INTERACTIVE in about["queues"] for about in (self.alive or {}).values())


def take_snapshot(lake: Lake, settings: Settings) -> QueueSnapshot:
    """Take a snapshot of the records in the lake and of the server; a dead server is no error."""
    records = read_records(lake)
    jobs: Counter[tuple[str, str]] = Counter()
    now = time.time()
    oldest_s: float | None = None
    waiting: list[tuple[float, str]] = []
    for record in records.open:
        state = RUN if record.run_id is not None else RUNNING if record.worker else WAITING
        jobs[record.question.game, state] += 1
        oldest_s = max(oldest_s or 0.0, now - record.submitted_at)
        if state == WAITING:
            waiting.append((record.submitted_at, record.job_id))
    snapshot = QueueSnapshot(
        jobs=jobs,
        oldest_s=oldest_s,
        alive=None,
        starting=has_begun_workers(settings),
        damaged=len(records.bad),
    )
    with suppress(redis.RedisError, OSError, TransientError), connect(settings) as client:
        alive, refusing = living_workers(client, settings), refusals(client, settings)
        # What can be worked by none of several workers waits longest.
        longest = [job for _, job in nsmallest(REFUSED_JOBS, waiting)]
        return replace(
            snapshot,
            alive=alive,
            starting=snapshot.starting and not alive,
            refusing=refusing,
            refused=refusals_of(client, settings, longest, refusing),
            queues=overview(settings),
            batch=demand(settings),
        )
    return snapshot

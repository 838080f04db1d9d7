"""How long a new job would wait for those before it, by what each is expected to take.

A small job waits for those that stand before it in the queue. A large one becomes a run of its own,
which leaves the queue at once and shares the batch workers with the runs of other large jobs: each
of these delays it for as long as the shorter of the two takes.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass

import redis

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Budget, Expected
from nightgrid.solvers.errors import NightgridError
from nightgrid.workers.broker.lake_keys import key_prefix
from nightgrid.workers.broker.queues import INTERACTIVE, waiting_in_order
from nightgrid.workers.caches import BoundedCache, Cached
from nightgrid.workers.driver.progress import clock_time
from nightgrid.workers.ondemand.budgets import is_for_run, small_budget
from nightgrid.workers.ondemand.record import BadRecordError
from nightgrid.workers.ondemand.record_files import list_jobs, read_record
from nightgrid.workers.settings import Settings

LOOK_S = 0.25
"""How long a look at the queue and at the open jobs counts."""
JOB_S = 0.02
"""What a job costs beside its solve: its record, its message, its files."""
SHARE = "/share"
"""What the message ends with that calls a process to a job of another."""
SMALL = Expected(seconds=0.0)
NOTED_MAX = 10_000
"""Jobs of which it is kept what they are expected to take."""
READ_AT_ONCE = 100
"""Records that one look reads; the next look reads further ones."""
ENDED_S = 60.0
"""A job that was noted so long ago, and has no record and no message, has ended."""
NOT_BEGUN_S = 5.0
"""How long it is kept that no worker has begun a job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Noted:
    """What is known of a job."""

    expected: Expected
    budget: Budget
    noted_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Queue:
    """The messages that wait."""

    waiting: list[str]
    """The jobs of the first."""
    number: int
    """How many there are."""

    @property
    def is_whole(self) -> bool:
        """Tell whether the job of each message is known."""
        return self.number <= len(self.waiting)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What there is to do before another job."""

    queue_s: float
    """What the jobs that wait are expected to take in their first task."""
    large_s: tuple[float, ...]
    """What each open job is expected to take that is too large for one task."""

    @property
    def is_idle(self) -> bool:
        """Tell whether a new job would wait for none, whatever it is expected to take."""
        return not (self.queue_s or self.large_s)


def too_long(what: str, wait_s: float, most_s: float) -> str:
    """Say, as a clause, that a job or several would wait longer than is wanted."""
    return (
        f"{what} would wait about {clock_time(wait_s)} for the jobs that come first; expected at "
        f"most {clock_time(most_s)}"
    )


class ExpectedWait:
    """Tells how long a new job would wait. One for a service or command; any thread may use it."""

    def __init__(
        self,
        client: redis.Redis,
        lake: Lake,
        settings: Settings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._lake = lake
        self._settings = settings
        self._looked = Cached(self._look, LOOK_S)
        self._clock = clock
        self._noted: BoundedCache[str, _Noted] = BoundedCache(NOTED_MAX)
        self._read_at: dict[str, float] = {}
        """When the record was read last of each open job of which nothing is known."""

    def note(self, job_id: str, expected: Expected, budget: Budget | None = None) -> None:
        """Keep what a job that is about to wait is expected to take, and its budget."""
        budget = budget or self._settings.budget
        known = self._noted.get(job_id)
        if known is not None:
            # A job that is under way has the larger budget of two clients.
            budget = max(known.budget, budget, key=lambda each: each.seconds)
        noted = _Noted(expected=expected, budget=budget, noted_at=self._clock())
        self._noted.put(job_id, noted)

    def look(self) -> Look:
        """Tell what there is to do; each record costs some reads of the lake."""
        return self._looked.get()

    def with_job(self, look: Look, expected: Expected, budget: Budget | None = None) -> Look:
        """Tell what there is to do once a new job was accepted after a look."""
        noted = _Noted(expected=expected, budget=budget or self._settings.budget)
        large_s = (*look.large_s, expected.seconds) if self._is_large(noted) else look.large_s
        return Look(queue_s=look.queue_s + self._first_task_s(noted), large_s=large_s)

    def wait_s(
        self, expected: Expected, budget: Budget | None = None, look: Look | None = None
    ) -> float:
        """Estimate how long others delay a new job, by a look of now or one that is given."""
        look = look or self.look()
        wait_s = look.queue_s / self._settings.interactive_processes
        if self._is_large(_Noted(expected=expected, budget=budget or self._settings.budget)):
            # No job takes longer than its budget.
            own_s = min(expected.seconds, self._settings.ondemand_total_seconds)
            delays = sum(min(other_s, own_s) for other_s in look.large_s)
            wait_s += delays / self._settings.batch_processes
        return wait_s

    def _is_large(self, noted: _Noted) -> bool:
        return is_for_run(noted.expected, noted.budget, self._settings)

    def _look(self) -> Look:
        """Look at the queue in Redis and at the records in the lake."""
        before = self._clock() - ENDED_S
        queue = self._queue()
        jobs = self._open_jobs(queue, before)
        large = {
            job: each.expected.seconds
            for job, each in jobs.items()
            if each and self._is_large(each)
        }
        if queue is None:
            # What is accepted lies in the lake, and is sent when the server is back.
            waiting = [job for job in jobs if job not in large]
            queue = _Queue(waiting=waiting, number=len(waiting))
        return Look(queue_s=self._queue_s(queue), large_s=tuple(large.values()))

    def _queue(self) -> _Queue | None:
        """Look at the queue in Redis; None where the server does not answer."""
        try:
            waiting = waiting_in_order(self._client, self._settings, INTERACTIVE)
            number = int(self._client.llen(f"{key_prefix(self._settings)}{INTERACTIVE}"))
        except redis.RedisError:
            return None
        return _Queue(waiting=waiting, number=number)

    def _queue_s(self, queue: _Queue) -> float:
        tasks = [self._task_s(job) for job in queue.waiting]
        # Of a long queue the first are looked at, and the others are taken to be like them.
        return sum(tasks) * max(1.0, queue.number / max(1, len(tasks)))

    def _open_jobs(self, queue: _Queue | None, before: float) -> dict[str, _Noted | None]:
        """Tell what is known of each job that has a record; drop what was noted of ended ones."""
        found: dict[str, _Noted | None] = {}
        # A lake that does not answer refuses the job by itself.
        with suppress(NightgridError):
            jobs = list_jobs(self._lake)
            if queue is not None and queue.is_whole:
                self._drop_ended({*jobs, *queue.waiting}, before)
            # These come last, so that they are what was used last.
            found = {job: self._noted.get(job) for job in jobs}
            for job in self._to_read([job for job, noted in found.items() if noted is None]):
                found[job] = self._read(job)
        return found

    def _drop_ended(self, wanted: Collection[str], before: float) -> None:
        """Drop what was noted before a time of jobs that have no record and no message.

        The message of a cancelled job stays in the queue, and counts as what the job is noted with.
        """

        def has_ended(job: str) -> bool:
            # A job is noted before its record is written.
            noted = None if job in wanted else self._noted.get(job)
            return noted is not None and noted.noted_at < before

        self._noted.drop_where(has_ended)

    def _to_read(self, unknown: list[str]) -> list[str]:
        """Choose those whose records a look reads: the ones that were not read for longest."""
        self._read_at = {job: self._read_at.get(job, -math.inf) for job in unknown}
        until = self._clock() - NOT_BEGUN_S
        due = [job for job in unknown if self._read_at[job] <= until]
        return heapq.nsmallest(READ_AT_ONCE, due, key=self._read_at.__getitem__)

    def _read(self, job: str) -> _Noted | None:
        """Read what the worker of a job expects that came another way; None before it begins."""
        self._read_at[job] = self._clock()
        with suppress(BadRecordError):
            record = read_record(self._lake, job)
            if record is not None and record.worker is not None:
                self.note(job, record.expected or SMALL, record.budget.part)
        return self._noted.get(job)

    def _task_s(self, job_id: str) -> float:
        if job_id.endswith(SHARE):
            # A call to a process that is idle.
            return 0.0
        noted = self._noted.get(job_id)
        if noted is None:
            # Of a job that came another way nothing is known. It takes `ondemand_seconds` in one
            # task at most, and half of that is said of it.
            return self._settings.ondemand_seconds / 2
        return self._first_task_s(noted)

    def _first_task_s(self, noted: _Noted) -> float:
        if self._is_large(noted):
            # Of what is too large for it, a task makes a run.
            return JOB_S
        most_s = small_budget(noted.budget, self._settings).seconds
        return min(noted.expected.seconds + JOB_S, most_s)

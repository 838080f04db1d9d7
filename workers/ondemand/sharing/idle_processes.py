"""Notify idle processes of a job on demand: to take ranges of it, or to lend their cores."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import redis

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.app import SHARE_ONDEMAND
from nightgrid.workers.broker.loans import Loan, machine_id
from nightgrid.workers.broker.queues import idle_processes
from nightgrid.workers.broker.queues import send as publish
from nightgrid.workers.broker.shares import NOTIFIED_MAX, OPENED_WITHIN_S, Share
from nightgrid.workers.ondemand.jobs.submitting import client_of
from nightgrid.workers.ondemand.jobs.task_progress import TaskProgress, teller
from nightgrid.workers.ondemand.record import Record
from nightgrid.workers.ondemand.sharing.layer_threads import Borrow
from nightgrid.workers.settings import Settings


@dataclass(frozen=True, slots=True)
class IdleProcesses:
    """The processes of a lake's workers, as one of them sees the others."""

    client: redis.Redis
    settings: Settings

    def opening(self, record: Record) -> Opening:
        """Give what shares a job and notifies the processes that are idle then."""
        return Opening(self, record)

    def borrowing(self, record: Record) -> Borrow:
        """Give what asks the processes that are idle for their cores."""

        def borrow() -> Loan | None:
            with suppress(redis.RedisError, TransientError):
                # More cores than this machine has are of no use to threads.
                queues = self.queues()[: (os.cpu_count() or 1) - 1]
                if not queues:
                    return None
                token = uuid.uuid4().hex
                loan = Loan.of(self.client, self.settings, token, len(queues))
                loan.open()
                about = {"machine": machine_id(), "borrower": os.getpid()}
                self.notify(record, queues, {"token": token, **about})
                return loan
            return None

        return borrow

    def telling(self, record: Record) -> Callable[[TaskProgress], None]:
        """Give what tells clients that wait how far the task of a job is."""
        return teller(self.client, self.settings, record.job_id)

    def queues(self) -> list[str]:
        """Name the queue of each process that is idle. Raises RedisError."""
        idle = idle_processes(self.client, self.settings)
        return [queue for queue, many in idle.items() for _ in range(many)][:NOTIFIED_MAX]

    def notify(self, record: Record, queues: list[str], call: dict[str, Any]) -> None:
        """Send a message about a job to each of these queues. Raises RedisError, TransientError."""
        for queue in queues:
            about = f"{record.job_id}/share"
            message = {**call, "message": record.message}
            publish(client_of(self.settings), SHARE_ONDEMAND, queue, about, message)


@dataclass(slots=True)
class Opening:
    """Shares one job and notifies the processes that are idle, before it is shared or then."""

    idle: IdleProcesses
    record: Record
    _prepared: Share | None = field(default=None, init=False)
    _prepared_at: float = field(default=0.0, init=False)
    _notified: int = field(default=0, init=False)

    def prepare(self) -> None:
        """Notify the processes that are idle, so that they take the board up meanwhile."""
        with suppress(redis.RedisError, TransientError):
            self._notify(None)

    def _notify(self, shape: tuple[int, int, int] | None) -> Share | None:
        queues = self.idle.queues()
        if not queues:
            return None
        token = uuid.uuid4().hex
        share = Share.join(self.idle.client, self.idle.settings, token)
        if shape is None:
            share.announce()
        else:
            share.open(*shape, len(queues))
        self.idle.notify(self.record, queues, {"token": token})
        if shape is None:
            self._notified, self._prepared, self._prepared_at = len(queues), share, time.monotonic()
        return share

    def __call__(self, first: int, steps: int, size: int) -> Share | None:
        """Share the steps from the first on; None while no process is idle."""
        with suppress(redis.RedisError, TransientError):
            prepared = self._prepared
            if prepared is None or time.monotonic() - self._prepared_at > OPENED_WITHIN_S:
                return self._notify((first, steps, size))
            prepared.open(first, steps, size, self._notified)
            return prepared
        return None

    def close(self) -> None:
        """Dismiss those that were notified before, and are not needed."""
        with suppress(redis.RedisError):
            if self._prepared is not None:
                self._prepared.close()

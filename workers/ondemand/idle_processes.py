"""Notify idle processes of a job on demand that shares what is left of it."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass

import redis

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.app import SHARE_ONDEMAND
from nightgrid.workers.broker.queues import idle_processes
from nightgrid.workers.broker.queues import send as publish
from nightgrid.workers.broker.shares import Share
from nightgrid.workers.ondemand.jobs.submitting import client_of
from nightgrid.workers.ondemand.record import Record
from nightgrid.workers.ondemand.sharing import Open
from nightgrid.workers.settings import Settings

NOTIFIED_MAX = 32
"""Processes that are notified of one job, at most."""


@dataclass(frozen=True, slots=True)
class IdleProcesses:
    """The processes of a lake's workers, as one of them sees the others."""

    client: redis.Redis
    settings: Settings

    def opening(self, record: Record) -> Open:
        """Return a function that shares a job and notifies the processes that are idle then."""

        def open_share(first: int, steps: int, size: int) -> Share | None:
            with suppress(redis.RedisError, TransientError):
                idle = idle_processes(self.client, self.settings)
                if not any(idle.values()):
                    return None
                token = uuid.uuid4().hex
                share = Share.open(self.client, self.settings, token, first, steps)
                call = {"token": token, "steps": steps, "size": size, "message": record.message}
                queues = [queue for queue, many in idle.items() for _ in range(many)]
                for queue in queues[:NOTIFIED_MAX]:
                    about = f"{record.job_id}/share"
                    publish(client_of(self.settings), SHARE_ONDEMAND, queue, about, call)
                return share
            return None

        return open_share

"""How many jobs each key has open: counted in memory, and kept in the lake over restarts.

runs/opened/<key>/<job_id>    a client with this key wants this job, which had not ended

The number of jobs that end unseen is found when a key is at its limit: a job without a submission
has ended. A file that is lost lets a key have one job more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.guard.access import Client
from nightgrid.service.http.problems import Problem
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.sentences import plural
from nightgrid.workers.ondemand.results import find_row
from nightgrid.workers.ondemand.submissions import has_submission, is_job_id

OPENED = "runs/opened"
GRACE_S = 30.0
"""A job is added before its record is written: for so long it counts without one."""
RETRY_AFTER_S = 5


class OpenJobs:
    """The open jobs of the clients of a service. Any thread may call it."""

    def __init__(self, lake: Lake, clock: Callable[[], float] = time.monotonic) -> None:
        """Read what an earlier service has left."""
        self._lake = lake
        self._clock = clock
        self._lock = threading.Lock()
        self._of: dict[str, dict[str, float]] = {}
        """Jobs by client, each with the time at which it was added."""
        for path in lake.list(OPENED):
            name, _, job_id = path.removeprefix(f"{OPENED}/").partition("/")
            if is_job_id(job_id):
                self._of.setdefault(name, {})[job_id] = -GRACE_S
        for name in list(self._of):
            self._drop_ended(name)

    def add(self, client: Client, job_id: str) -> None:
        """Count a job that a client is about to open; one that it has open counts once.

        Raises Problem with 429 for a client that has as many open as its key allows.
        """
        if client.jobs is None:
            return
        with self._lock:
            mine = self._of.setdefault(client.name, {})
            if job_id in mine:
                return
            if len(mine) >= client.jobs:
                self._drop_ended(client.name)
            if len(mine) >= client.jobs:
                raise Problem(
                    "too-many-jobs",
                    f"this key may have {plural(client.jobs, 'job')} open at once",
                    headers={"Retry-After": str(RETRY_AFTER_S)},
                )
            mine[job_id] = self._clock()
        # A count that is kept nowhere is worth no failure of the request.
        with suppress(NightgridError):
            self._lake.write_bytes(_path(client.name, job_id), b"", durable=False)

    def ended(self, job_id: str) -> None:
        """Count a job no more, whichever clients had it open."""
        with self._lock:
            names = [name for name, jobs in self._of.items() if jobs.pop(job_id, None) is not None]
        for name in names:
            self._forget(name, job_id)

    def left(self, client: Client, job_id: str) -> None:
        """Count a job no more for one client, which does not want it any more."""
        with self._lock:
            gone = self._of.get(client.name, {}).pop(job_id, None)
        if gone is not None:
            self._forget(client.name, job_id)

    def count(self, name: str) -> int:
        """Tell how many jobs a key has open, those that ended unseen included."""
        with self._lock:
            return len(self._of.get(name, ()))

    def _drop_ended(self, name: str) -> None:
        """Count no more what has no record in the lake."""
        now, mine = self._clock(), self._of[name]
        for job_id, added_at in list(mine.items()):
            # While the lake does not answer, a job counts as open.
            with suppress(NightgridError):
                if has_submission(self._lake, job_id):
                    continue
                if now - added_at >= GRACE_S or find_row(self._lake, job_id) is not None:
                    del mine[job_id]
                    self._forget(name, job_id)

    def _forget(self, name: str, job_id: str) -> None:
        with suppress(NightgridError):
            self._lake.delete(_path(name, job_id), durable=False)


def _path(name: str, job_id: str) -> str:
    return f"{OPENED}/{name}/{job_id}"

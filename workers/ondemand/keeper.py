"""The keeper: drives the runs that on-demand jobs became, and sends again what was lost.

`python -m nightgrid.workers.ondemand.keeper`, one for each lake; a second one does no harm.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import closing
from typing import Any

import redis

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.without_pandas import keep_pandas_out
from nightgrid.solvers.errors import NightgridError
from nightgrid.workers.broker.queues import INTERACTIVE, URGENT, Watch, traffic
from nightgrid.workers.broker.redis_keys import connect, known_gone, living
from nightgrid.workers.driver.driver import drive
from nightgrid.workers.driver.executors import PATIENCE_INTERVALS, CeleryExecutor
from nightgrid.workers.logs import get_logger
from nightgrid.workers.ondemand.jobs import find_row, open_records, record_path, send
from nightgrid.workers.processes import die_with_parent
from nightgrid.workers.runs.manifest import read_done
from nightgrid.workers.runs.notes import is_cancelled
from nightgrid.workers.settings import Settings

log = get_logger("nightgrid.keeper")

LOOK_SECONDS = 1.0
RUNS_AT_ONCE = 4
SWEEP_SECONDS = 3600.0
"""How often half-written files of killed writers are deleted."""
RUN_PAUSE_SECONDS = 30.0
"""Pause before a run that could not be driven to its end is taken up again."""


class Keeper:
    """Looks after the on-demand jobs of one lake."""

    def __init__(self, lake: Lake, settings: Settings) -> None:
        self._lake = lake
        self._settings = settings
        self._client = connect(settings)
        self._sent: dict[str, tuple[int, float]] = {}
        """Jobs sent again: how many attempts they had then, and when."""
        self._seen: dict[str, tuple[tuple[object, ...], float]] = {}
        """Jobs as they were seen last, and since when: clocks of other hosts may be wrong."""
        self._silent_since: dict[str, float] = {}
        patience_s = PATIENCE_INTERVALS * settings.liveness_interval_seconds
        self._watch = Watch(patience_s=patience_s)
        self._patience_s = patience_s
        self._drivers: dict[str, threading.Thread] = {}
        self._not_before: dict[str, float] = {}
        self._sweep_at = 0.0

    def run(self, stop: threading.Event) -> None:
        """Look about once a second until told to stop."""
        while not stop.wait(LOOK_SECONDS):
            try:
                self.sweep()
                self.look()
            except (NightgridError, redis.RedisError) as error:
                log.warning("keeper waits", error=str(error))

    def sweep(self) -> None:
        """Delete half-written files of killed writers, unless that was done a short while ago."""
        now = time.monotonic()
        if now >= self._sweep_at:
            self._sweep_at = now + SWEEP_SECONDS
            self._lake.sweep_staging()

    def look(self) -> None:
        """Look once at every open job."""
        records = open_records(self._lake)
        if not records:
            return
        jobs = {record["job_id"] for record in records}
        self._sent = {job: sent for job, sent in self._sent.items() if job in jobs}
        self._seen = {job: seen for job, seen in self._seen.items() if job in jobs}
        self._drivers = {r: t for r, t in self._drivers.items() if t.is_alive()}
        # A job that was sent again after its last worker began waits for its message, too.
        waiting = [r["job_id"] for r in records if r["run_id"] is None and not self._has_begun(r)]
        gone = self._watch.gone(waiting, traffic(self._client, self._settings, INTERACTIVE))
        for record in records:
            self._look_at(record, gone)

    def _has_begun(self, record: dict[str, Any]) -> bool:
        attempts, _ = self._sent.get(record["job_id"], (0, 0.0))
        return record["worker"] is not None and record["attempts"] > attempts

    def _look_at(self, record: dict[str, Any], gone: set[str]) -> None:
        job, run_id = record["job_id"], record["run_id"]
        if run_id is not None:
            if read_done(self._lake, run_id) is not None:
                self._lake.delete(record_path(job))
            elif self._may_drive(run_id) and not is_cancelled(self._lake, run_id):
                thread = threading.Thread(target=self._drive, args=(run_id,), daemon=True)
                self._drivers[run_id] = thread
                thread.start()
        elif find_row(self._lake, job) is not None:
            self._lake.delete(record_path(job))
        elif job in gone or self._is_lost(record):
            log.info("sent again", job=job, attempts=record["attempts"])
            self._sent[job] = record["attempts"], time.monotonic()
            send(record, self._settings)

    def _may_drive(self, run_id: str) -> bool:
        if run_id in self._drivers or len(self._drivers) >= RUNS_AT_ONCE:
            return False
        return time.monotonic() >= self._not_before.get(run_id, 0.0)

    def _is_lost(self, record: dict[str, Any]) -> bool:
        """Tell whether a job's worker is gone, or nothing was heard of it for too long."""
        job, now = record["job_id"], time.monotonic()
        state = record["attempts"], record["worker"], self._sent.get(job)
        if self._seen.get(job, (None, 0.0))[0] != state:
            self._seen[job] = state, now
        if now - self._seen[job][1] > self._settings.ondemand_overdue_seconds:
            return True
        if not self._has_begun(record):
            return False
        worker = record["worker"]
        dead, _ = known_gone(self._client, self._settings, [worker])
        if dead:
            return True
        if worker in living(self._client, self._settings):
            self._silent_since.pop(worker, None)
            return False
        since = self._silent_since.setdefault(worker, now)
        return now - since > self._patience_s

    def _drive(self, run_id: str) -> None:
        try:
            with closing(CeleryExecutor(self._settings, URGENT)) as executor:
                drive(self._lake, run_id, executor, settings=self._settings)
        except Exception as error:  # noqa: BLE001
            # Whatever it is, this thread is alone with it: pause, lest it fails every second.
            self._not_before[run_id] = time.monotonic() + RUN_PAUSE_SECONDS
            log.warning("run not driven to its end", run=run_id, error=str(error))


def main() -> None:
    """Keep, as a program, until SIGTERM."""
    die_with_parent()
    keep_pandas_out()
    settings = Settings()
    keeper = Keeper(Lake.open(settings.lake), settings)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    log.info("keeper up", pid=os.getpid())
    keeper.run(stop)
    # Drivers are threads; their runs go on from the lake when a keeper is up again.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()

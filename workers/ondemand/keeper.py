"""The keeper: drives the runs that on-demand jobs became, and sends again what was lost.

`python -m nightgrid.workers.ondemand.keeper`, one for each lake; a second one does no harm.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

import redis

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.without_pandas import keep_pandas_out
from nightgrid.archive.results.files import merge_answers
from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.notices.job_notifications import notify_of_job
from nightgrid.workers.broker.notices.job_refusals import job_refusals
from nightgrid.workers.broker.queues import INTERACTIVE, Watch, traffic
from nightgrid.workers.broker.stop_keys import request_stop
from nightgrid.workers.broker.worker_keys import exited_workers, living_workers
from nightgrid.workers.cluster.probe import KEEPER, write_heartbeat
from nightgrid.workers.driver.outbox import GONE_INTERVALS
from nightgrid.workers.freed_memory import trim
from nightgrid.workers.logs import get_logger
from nightgrid.workers.metrics import KEEPER_POLL, SENT_AGAIN
from nightgrid.workers.ondemand.cancelling import (
    drop_left_states,
    drop_old_ends,
    end_with_run,
    expire,
)
from nightgrid.workers.ondemand.jobs.rows import close_record, ends, find_row, find_rows
from nightgrid.workers.ondemand.jobs.submitting import send
from nightgrid.workers.ondemand.record import Record
from nightgrid.workers.ondemand.record_files import (
    delete_record,
    drop_over,
    end_record,
    read_records,
    record_path,
    set_aside,
    write_record,
)
from nightgrid.workers.ondemand.run_drivers import RunDrivers, Spent, WantedRun
from nightgrid.workers.ondemand.task.ending import end_over_budget
from nightgrid.workers.processes import die_with_parent
from nightgrid.workers.runs.manifest import has_run, open_run, read_done
from nightgrid.workers.runs.status import is_cancelled
from nightgrid.workers.settings import Settings, program_settings
from nightgrid.workers.tracing import begin_tracing, flush_traces
from nightgrid.workers.upkeep import days_ago, old_runs, prune_runs

log = get_logger("nightgrid.keeper")

POLL_SECONDS = 1.0
MERGE_SECONDS = 30.0
"""How often small files of answers are merged."""
_UNSAID = "are workers of another version, or of a copy of this lake?"
"""What may be at fault where no worker has said why it could not work a job."""
SWEEP_SECONDS = 3600.0
"""How often half-written files of killed writers are deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """The last time that a job was sent again."""

    attempts: int
    """Attempts that it had then."""
    at: float


class Keeper:
    """Sends lost jobs on demand of one lake again, drives their runs, ends those that expired."""

    def __init__(self, lake: Lake, settings: Settings) -> None:
        self._lake = lake
        self._settings = settings
        self._client = connect(settings)
        self._sent: dict[str, _Sent] = {}
        """Jobs sent again."""
        self._observed: dict[str, tuple[tuple[object, ...], float]] = {}
        """State of each job at the last poll, and since when on this host's monotonic clock."""
        self._silent_since: dict[str, float] = {}
        patience_s = GONE_INTERVALS * settings.tuning.liveness_interval_seconds
        self._watch = Watch(patience_s=patience_s)
        self._patience_s = patience_s
        self._drivers = RunDrivers(lake, settings)
        self._spent: dict[str, Spent] = {}
        self._refused: dict[str, str] = {}
        self._runs_to_drive: list[WantedRun] = []
        self._sweep_at = 0.0
        self._merge_at = time.monotonic() + MERGE_SECONDS

    def run(self, stop: threading.Event) -> None:
        """Poll about once a second until `stop` is set."""
        while not stop.wait(POLL_SECONDS):
            not_ready = ""
            try:
                self.sweep()
                self.poll()
                KEEPER_POLL.set_to_current_time()
            except Exception as error:  # noqa: BLE001 - other jobs are looked after next time
                known = isinstance(error, NightgridError | redis.RedisError)
                not_ready = f"the keeper waits: {str(error) if known else repr(error)}"
                log.warning("keeper waits", error=str(error) if known else repr(error))
            write_heartbeat(self._settings.side_dir, KEEPER, not_ready)

    def sweep(self) -> None:
        """Delete what killed writers and old runs left, and merge answers, each at its time."""
        now = time.monotonic()
        if now >= self._sweep_at:
            self._sweep_at = now + SWEEP_SECONDS
            self._lake.sweep_staging()
            drop_left_states(self._lake)
            drop_old_ends(self._lake, self._settings.runs_kept_days)
            old = old_runs(self._lake, days_ago(self._settings.runs_kept_days))
            prune_runs(self._lake, old)
        if now >= self._merge_at:
            self._merge_at = now + MERGE_SECONDS
            merge_answers(self._lake)
            # Its tables took more than all looks until the next merge will.
            trim()

    def poll(self) -> None:
        """Check every open job once. An error of one job leaves the others unharmed."""
        found = read_records(self._lake)
        for path, why in found.bad.items():
            try:
                aside = set_aside(self._lake, path)
            except PermanentError as error:
                log.warning("record not set aside", path=path, reason=why, error=str(error))
            else:
                log.warning("record set aside", path=path, now=aside, reason=why)
        for record in found.over:
            drop_over(self._lake, record.job_id)
        records = found.open
        self._spent, self._refused = self._drivers.spent(), self._drivers.refused()
        if not records:
            self._drivers.give_turns([])
            return
        jobs = {record.job_id for record in records}
        self._sent = {job: sent for job, sent in self._sent.items() if job in jobs}
        self._observed = {job: observed for job, observed in self._observed.items() if job in jobs}
        # A job that was sent again after its last worker began also waits for its message.
        waiting = [r.job_id for r in records if r.run_id is None and not self._has_begun(r)]
        gone = self._watch.gone(waiting, traffic(self._client, self._settings, INTERACTIVE))
        rows = find_rows(self._lake, [record.job_id for record in records if not record.run_id])
        self._runs_to_drive = []
        for record in records:
            try:
                self._check_record(record, rows.get(record.job_id), gone)
                if not self._lake.exists(record_path(record.job_id)):
                    notify_of_job(self._client, self._settings, record.job_id)
            except redis.RedisError:
                raise
            except Exception as error:  # noqa: BLE001 - an error of one job must not stop the others
                log.warning("job not looked after", job=record.job_id, error=repr(error))
        self._drivers.give_turns(self._runs_to_drive)

    def _has_begun(self, record: Record) -> bool:
        sent = self._sent.get(record.job_id)
        return record.worker is not None and record.attempts > (
            0 if sent is None else sent.attempts
        )

    def _check_record(self, record: Record, row: dict[str, Any] | None, gone: set[str]) -> None:
        job, run_id = record.job_id, record.run_id
        if record.is_late and (row is None or not ends(row, record)):
            log.info("expired", job=job, run=run_id)
            expire(self._lake, record)
            request_stop(self._settings, job, *([run_id] if run_id else []))
            return
        if run_id is not None:
            self._check_run(record, run_id)
            return
        if row is not None and ends(row, record):
            delete_record(self._lake, job)
        elif job in gone or self._is_lost(record):
            self._send_again(record)

    def _check_run(self, record: Record, run_id: str) -> None:
        if not has_run(self._lake, run_id):
            log.warning("run is gone", job=record.job_id, run=run_id)
            write_record(self._lake, replace(record, run_id=None, attempts=0, worker=None))
        elif read_done(self._lake, run_id) is not None:
            row = find_row(self._lake, record.job_id)
            covered = open_run(self._lake, run_id).budget == record.budget.part
            if row is None or covered:
                delete_record(self._lake, record.job_id)
            elif not close_record(self._lake, record.job_id, row):
                log.info("asked again under a larger budget", job=record.job_id, run=run_id)
        elif is_cancelled(self._lake, run_id):
            end_with_run(self._lake, record, "cancelled", f"its run {run_id} is cancelled")
        elif (spent := self._spent.get(run_id)) is not None and spent.budget == record.budget:
            log.warning("over budget", job=record.job_id, run=run_id, reason=spent.reason.sentence)
            end_over_budget(self._lake, record, spent.reason, spent.kernel_ns)
        elif (why := self._refused.get(run_id)) is not None:
            log.warning("refused", job=record.job_id, run=run_id, reason=why)
            end_with_run(self._lake, record, "refused", why)
        else:
            wanted = WantedRun(run_id, record.budget, record.submitted_at)
            self._runs_to_drive.append(wanted)

    def _send_again(self, record: Record) -> None:
        """Send a job whose message or worker is gone, unless no worker has begun it for long."""
        job, attempts = record.job_id, record.attempts
        in_vain = record.sent_in_vain + 1
        if in_vain > self._settings.tuning.ondemand_sends_max:
            told = job_refusals(self._client, self._settings, job)
            why = "; ".join(sorted(set(told.values()))) or _UNSAID
            reason = f"sent {in_vain - 1} times, and no worker could work it: {why}"
            log.warning("refused", job=job, reason=reason)
            end_record(self._lake, record, "refused", reason)
            return
        log.info("sent again", job=job, attempts=attempts)
        SENT_AGAIN.inc()
        self._sent[job] = _Sent(attempts=attempts, at=time.monotonic())
        # In the record, where the next keeper finds it.
        write_record(self._lake, replace(record, sent_in_vain=in_vain))
        send(record.message, self._settings)

    def _is_lost(self, record: Record) -> bool:
        """Tell whether a job's worker is dead, or the job has not changed for too long."""
        job, now = record.job_id, time.monotonic()
        state = record.attempts, record.worker, self._sent.get(job)
        if self._observed.get(job, (None, 0.0))[0] != state:
            self._observed[job] = state, now
        if now - self._observed[job][1] > self._settings.tuning.ondemand_overdue_seconds:
            return True
        worker = record.worker
        if worker is None or not self._has_begun(record):
            return False
        dead, _ = exited_workers(self._client, self._settings, [worker])
        if dead:
            return True
        if worker in living_workers(self._client, self._settings):
            self._silent_since.pop(worker, None)
            return False
        since = self._silent_since.setdefault(worker, now)
        return now - since > self._patience_s


def main() -> None:
    """Keep, as a program, until SIGTERM."""
    die_with_parent()
    keep_pandas_out()
    settings = program_settings()
    keeper = Keeper(Lake.open(settings.lake), settings)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    begin_tracing(settings.trace_url, "keeper")
    log.info("keeper up")
    keeper.run(stop)
    # Drivers are threads; their runs go on from the lake when a keeper is up again.
    flush_traces()
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()

"""Drive a run to its end: keep a small window of chunks in flight, and trust only the lake.

`Driver.step` is one pass. `Driver._settle` has the rule that finds lost chunks, `Driver._fail` the
consequences of a failed attempt: retry, halve, or poison.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa

from nightgrid.archive.lake.faults import MissingFileError, set_aside
from nightgrid.archive.lake.schemas import PARTS
from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.broker.notices import Announcement
from nightgrid.workers.broker.redis_keys import BATCH
from nightgrid.workers.chunks.result_rows import Row, heads_of, result_row
from nightgrid.workers.driver.chunk_table import IN_FLIGHT, Chunk, State
from nightgrid.workers.driver.growth import GrowingRun
from nightgrid.workers.driver.outbox import GONE_INTERVALS, Outbox, Place, Worker
from nightgrid.workers.driver.progress import Progress, progress_of
from nightgrid.workers.logs import get_logger
from nightgrid.workers.metrics import count_rows
from nightgrid.workers.runs.attempt_notes import read_attempts, read_note, write_failure
from nightgrid.workers.runs.finishing.finish import finish_run
from nightgrid.workers.runs.manifest import Run, SegmentTakenError, count_segments
from nightgrid.workers.runs.run_files import ChunkRef, DamagedResultError, done_chunks, done_path
from nightgrid.workers.runs.status import is_cancelled
from nightgrid.workers.settings import Settings

log = get_logger("nightgrid.driver")

HALVED_AFTER = 2
"""Failed attempts after which a chunk of many rows is halved, to isolate a bad row."""
NOWHERE_SECONDS = 0.1
"""A message missing in two checks that far apart is lost. While it moves from the queue to a
worker, it is in neither for a moment."""
PLAN_POLL_SECONDS = 0.05
"""How often a driver checks for new segments of the planner."""
UNRECOVERABLE = Reason(code=ReasonCode.UNRECOVERABLE_JOB)


class AllRefuseError(TransientError):
    """Every living worker refuses the chunks of a run: another version, lake or missing words."""


class Driver:
    """Drives one run, using a table of its chunks and the state of the lake.

    Call `step` repeatedly, with a pause of `pause_s` in between, and `finish` when it returns True.
    Both may be called again after a TransientError. Any number of drivers share an outbox. Two
    drivers of the same run do no harm.
    """

    def __init__(
        self,
        lake: Lake,
        run_id: str,
        outbox: Outbox,
        settings: Settings,
        *,
        queue: str = BATCH,
        check_planner: Callable[[], None] | None = None,
    ) -> None:
        """Open the run. `check_planner` raises if its planner has died."""
        self._lake = lake
        self._run_id = run_id
        self._outbox = outbox
        self._settings = settings
        self.queue = queue
        """The queue of the first segment; later segments go to `batch`."""
        self._check_planner = check_planner
        self._begun = time.monotonic()
        self._heard: deque[Announcement] = deque()
        self._unseen = 0
        """Consecutive announcements of results that are not in this lake."""
        self.failures = 0
        """Failed attempts that this driver noted."""
        self.cancelled = False
        """Whether the run was cancelled at the last check; then nothing is sent."""
        self.resubmissions = 0
        """How often a chunk had to be sent again."""
        self._open()
        self.chunks_resumed = self._table.number_in(State.DONE)

    def _open(self) -> None:
        self._growing = GrowingRun(self._lake, self._run_id, self._settings.tuning)
        self._table = self._growing.table
        self._look_at = 0.0

    @property
    def run(self) -> Run:
        """The run as last read."""
        return self._growing.run

    @property
    def queue_left(self) -> str:
        """The queue of the remaining chunks."""
        return self.queue if len(self.run.segments) <= 1 else BATCH

    @property
    def pause_s(self) -> float:
        """Seconds to wait for announcements before the next step."""
        return self._settings.tuning.poll_seconds if self.run.planned else PLAN_POLL_SECONDS

    @property
    def progress(self) -> Progress:
        """The progress of the run."""
        now = time.monotonic()
        return progress_of(
            self._table,
            self.run,
            processes=self._outbox.processes(self.queue_left),
            seconds=now - self._begun,
            failures=self.failures,
            now=now,
        )

    def hear(self, announcement: Announcement) -> None:
        """Record a worker's announcement for the next step."""
        if announcement.ref.run_id == self._run_id:
            self._heard.append(announcement)

    def check_planner(self) -> None:
        """Raise if the run is not completely planned and its planner has died."""
        if self.run.planned:
            return
        if self._check_planner is None:
            raise PermanentError(
                f"run {self._run_id} is not planned to its end, and no process plans it"
            )
        self._check_planner()

    def step(self) -> bool:
        """Make one pass without waiting; return True once every chunk has its result.

        Raises TransientError if the lake or the broker fails, and AllRefuseError if no worker can
        do the work.
        """
        try:
            return self._step()
        except SegmentTakenError:
            # Another driver has added to the run.
            self._open()
        except MissingFileError:
            # Another driver has ended the run, and with it its files.
            if not self._has_ended():
                raise
            self._open()
        return False

    def _has_ended(self) -> bool:
        return self._lake.exists(done_path(self._run_id))

    def _step(self) -> bool:
        growing, table = self._growing, self._table
        if not growing.run.planned:
            growing.take_in_plan()
        while self._heard:
            self._take(self._heard[0])
            self._heard.popleft()
        if time.monotonic() >= self._look_at:
            self._look()
        if self.cancelled:
            return False
        self._read_results()
        growing.add_stages()
        self._send()
        if growing.run.planned and table.is_settled:
            return self._is_done()
        self._require_workers()
        return False

    def _require_workers(self) -> None:
        """Raise TransientError if no worker can work in this lake."""
        why = self._outbox.refusal(self.queue_left)
        if why:
            raise AllRefuseError(f"no worker can work here: {why}")
        if self._unseen > self._settings.attempts_max * self._outbox.window(self.queue_left):
            raise TransientError(
                f"{self._unseen} chunks were announced as done, and this lake has no result for "
                "them: the workers work in another copy of it, or it is not what is mounted here"
            )

    def _is_done(self) -> bool:
        """Check the lake again: results may be missing, or another driver may have added chunks."""
        if self._has_ended():
            return True
        if count_segments(self._lake, self._run_id) != len(self.run.segments):
            self._open()
            return False
        self._look()
        return self._table.is_settled

    def finish(self) -> dict[str, Any]:
        """Merge the chunk results into results, solutions and DONE.json; return the latter.

        Raises TransientError for a damaged chunk result: its chunk is solved again.
        """
        try:
            done = finish_run(self._lake, self._run_id)
        except DamagedResultError as error:
            self._set_aside(error)
            self._open()
            raise TransientError(f"{error}; its chunk is solved again") from error
        self._outbox.publish_demand(self._run_id, 0)
        return done

    # -- sending ------------------------------------------------------------------

    def _send(self) -> None:
        """Send chunks until the window is full; a row on its last attempt is sent alone."""
        table, window = self._table, self._outbox.window(self.queue_left)
        if any(map(self._has_last_chance, table.chunks_in(*IN_FLIGHT))):
            return
        while table.in_flight < window:
            chunk = next(filter(self._may_be_sent, table.chunks_in(State.READY)), None)
            if chunk is None:
                return
            ref = table.ref(chunk.key)
            if table.is_unrecoverable(chunk):
                self._end_unworked(ref, Status.OVER_BUDGET, UNRECOVERABLE)
                continue
            self._outbox.send(ref, self.queue_left)
            table.send(chunk.key, time.monotonic())
            if self._has_last_chance(chunk):
                return

    def _may_be_sent(self, chunk: Chunk) -> bool:
        is_alone = not self._table.in_flight
        return self._growing.has_sources(chunk) and (is_alone or not self._has_last_chance(chunk))

    def _has_last_chance(self, chunk: Chunk) -> bool:
        """Return whether one more death of its worker makes a row poison, whatever the cause."""
        if chunk.rows_left > 1 or chunk.attempt < self._settings.attempts_max:
            return False
        last = read_note(self._lake, replace(self._table.ref(chunk.key), attempt=chunk.attempt - 1))
        failure = None if last is None else last.failure
        return failure is not None and failure.code is ReasonCode.WORKER_LOST

    def _end_unworked(self, ref: ChunkRef, status: Status, reason: Reason) -> list[Row]:
        """Write a chunk result without solving anything; return its jobs."""
        rows = self._lake.read_row_groups(ref.manifest_path, [ref.chunk])
        part = [result_row(head, str(status), reason) for head in heads_of(rows)]
        self._lake.write_table(ref.result_path, pa.Table.from_pylist(part, PARTS), new=True)
        self._table.move("land", ref.key)
        jobs: list[Row] = rows.select(["job_id", "puzzle_id"]).to_pylist()
        return jobs

    # -- results ----------------------------------------------------------------------

    def _take(self, heard: Announcement) -> None:
        chunk = self._table.get(heard.ref.key)
        if chunk is None or chunk.flight is None:
            return
        if heard.event == "done":
            if self._lake.exists(heard.ref.result_path):
                self._table.move("land", chunk.key)
                self._unseen = 0
            else:
                # If the lake is slow to show new files, the next check finds it.
                self._unseen += 1
        elif heard.ref.attempt != chunk.attempt:
            return
        elif heard.event == "failed":
            self._fail(chunk, heard.reason)
        else:
            self._send_again(chunk, heard.reason.sentence)
            # Results of other chunks that this one needs may be missing.
            self._look_at = 0.0

    def _read_results(self) -> None:
        try:
            self._growing.read_results()
        except DamagedResultError as error:
            self._set_aside(error)
            self._send_again(self._table[error.ref.key], "its result was damaged")

    def _set_aside(self, error: DamagedResultError) -> None:
        """Move a damaged result aside, so that its chunk is solved again."""
        aside = set_aside(self._lake, error.ref.result_path)
        log.warning("result set aside", chunk=error.ref.name, to=aside, reason=str(error))

    # -- lost chunks --------------------------------------------------------------

    def _look(self) -> None:
        """List chunk results and started attempts, and update every chunk."""
        table = self._table
        if self.run.segments and self._has_ended():
            raise SegmentTakenError(f"run {self._run_id}: another driver has ended it")
        self.cancelled = is_cancelled(self._lake, self._run_id)
        looked_at = self._outbox.look()
        attempts = read_attempts(self._lake, self._run_id)
        done = done_chunks(self._lake, self._run_id)
        for chunk in list(table):
            if chunk.state is State.HALVED:
                continue
            if chunk.key in done:
                if not chunk.has_result:
                    table.move("land", chunk.key)
            elif chunk.has_result:
                self._send_again(chunk, "its result is gone")
            else:
                is_begun = attempts.get(chunk.key, 0) >= chunk.attempt
                self._settle(chunk, looked_at, is_begun=is_begun)
        self._look_at = time.monotonic() + self._settings.tuning.reconcile_seconds
        waiting = 0 if self.cancelled else table.number_in(State.READY) + table.in_flight
        self._outbox.publish_demand(self._run_id, waiting)

    def _settle(self, chunk: Chunk, looked_at: float, *, is_begun: bool) -> None:
        """Find out whether a chunk without a result is lost.

        - Its attempt has failed if the note says so, or if the worker that wrote the note is gone.
        - The same attempt is sent again if that worker was stopped, if the message is missing, or
          if a worker took it a while ago and has not started.
        - Otherwise it is in flight.
        """
        ref = self._table.ref(chunk.key)
        attempt = read_note(self._lake, ref) if is_begun else None
        if attempt is not None:
            self._table.begin(chunk.key, attempt.worker, time.monotonic())
            worker = self._outbox.worker(attempt.worker)
            if attempt.failure is not None:
                self._fail(chunk, attempt.failure)
            elif worker is Worker.GONE:
                self._fail(chunk, Reason(code=ReasonCode.WORKER_LOST))
            elif worker is Worker.LEFT:
                self._send_again(chunk, "its worker was stopped")
        flight = chunk.flight
        if flight is None:
            return
        place = self._outbox.place(ref, flight.sent_at)
        if place is Place.NOWHERE:
            limit_s = NOWHERE_SECONDS
        elif place is Place.TAKEN and attempt is None:
            limit_s = GONE_INTERVALS * self._settings.tuning.liveness_interval_seconds
        else:
            flight.missing_since = None
            return
        since = flight.missing_since = flight.missing_since or looked_at
        if looked_at - since > limit_s:
            self._send_again(chunk, "its message was lost")

    def _send_again(self, chunk: Chunk, why: str) -> None:
        """Mark a chunk to be sent again as the same attempt, which does not count as a retry."""
        ref = self._table.ref(chunk.key)
        log.info("chunk sent again", chunk=ref.name, reason=why)
        self._lake.delete(ref.started_path, durable=False)
        self._table.move("requeue", chunk.key)
        self.resubmissions += 1

    def _fail(self, chunk: Chunk, why: Reason) -> None:
        """Note that an attempt failed; then retry, halve the chunk, or make its row poison."""
        ref = self._table.ref(chunk.key)
        if self._lake.exists(ref.result_path):
            # Another worker has solved it, or this one did just before it died.
            self._table.move("land", chunk.key)
            return
        if write_failure(self._lake, ref, why):
            self.failures += 1
            log.warning("chunk failed", chunk=ref.name, attempt=ref.attempt, reason=why.sentence)
        if chunk.rows_left > 1 and ref.attempt >= HALVED_AFTER:
            self._growing.halve(chunk)
        elif chunk.rows_left <= 1 and ref.attempt >= self._settings.attempts_max:
            self._poison(ref, why)
        else:
            self._table.move("fail", chunk.key)
            self.resubmissions += 1

    def _poison(self, ref: ChunkRef, why: Reason) -> None:
        reason = replace(why, sentence=f"{why.sentence} ({ref.attempt} attempts)")
        count_rows(self.run.question.game, {str(Status.POISON): 1})
        for row in self._end_unworked(ref, Status.POISON, reason):
            log.error(
                "poison",
                chunk=ref.name,
                job=row["job_id"],
                puzzle=row["puzzle_id"],
                reason=reason.sentence,
                reason_code=str(reason.code),
            )

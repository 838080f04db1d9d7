"""The table of chunks against the lake and the executor: what is sent, heard, lost and given up.

Chunks that were in one worker when it died are all suspect, and most are innocent: no two suspects
are in flight at once, and before a suspect is given up it is in flight alone.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.broker.notices.announcements import Announcement
from nightgrid.workers.chunks.result_rows import poison_reason
from nightgrid.workers.driver.chunk_records import IN_FLIGHT, Chunk, State
from nightgrid.workers.driver.chunk_table import ChunkTable
from nightgrid.workers.driver.executors import Executor, MessageStatus
from nightgrid.workers.driver.follow_up_chunks import write_unworked_result
from nightgrid.workers.driver.growing_run import GrowingRun
from nightgrid.workers.driver.patience import PAUSE_SECONDS
from nightgrid.workers.logs import get_logger
from nightgrid.workers.metrics import CHUNKS, count_rows
from nightgrid.workers.runs.attempts import Attempts, read_start, write_attempts
from nightgrid.workers.runs.run_files import ChunkKey, folder
from nightgrid.workers.settings import Settings

log = get_logger("nightgrid.driver")

UNRECOVERABLE = Reason(code=ReasonCode.UNRECOVERABLE_JOB)


class AllRefuseError(TransientError):
    """Every worker that lives refuses the chunks of a run, for reasons that are not the run's."""


class Reconciler:
    """Makes the transitions of a run's chunks that the lake and the executor tell of."""

    def __init__(
        self, lake: Lake, growing: GrowingRun, executor: Executor, settings: Settings
    ) -> None:
        self._lake = lake
        self._growing = growing
        self._table = growing.table
        self._executor = executor
        self._settings = settings
        self._limits = Limits(
            failures=settings.attempts_max, interruptions=settings.interruptions_max
        )
        self._begun = self._heard_at = time.monotonic()
        self._announced: deque[Announcement] = deque()
        self._transient_row = 0
        """Times in a row that a broker or a lake failed a worker, since a chunk was last done."""
        self._transient_why = ""
        self._refusals: dict[str, str] = {}
        """Workers that cannot work here, with their reasons, since a chunk was last done."""
        self._noted = Counter(self._table.made)
        """Transitions that are among the figures."""
        self._unseen_row = 0
        """Chunks announced as done that this lake has no result of, since one was last done."""

    # -- out ---------------------------------------------------------------------------------

    def adopt(self) -> None:
        """Take over what an earlier driver sent and a worker has begun: it may still be at it."""
        begun = set(self._lake.list(f"{folder(self._table.run_id)}/started"))
        for chunk in list(self._table.ready()):
            ref = self._table.ref(chunk.key)
            if ref.started_path in begun:
                self._table.adopt(chunk.key, read_start(self._lake, ref), self._begun)

    def submit(self) -> None:
        """Send chunks until the window is full, or none may be sent now.

        Raises AllRefuseError while all workers refuse them, or work in another lake: one may be
        mended, or another come. Raises TransientError while broker or lake fail every worker.
        """
        self._fill_window()
        if self._transient_row > self._settings.attempts_max * self._executor.window:
            raise TransientError(self._transient_why)
        if self._unseen_row > self._settings.attempts_max * self._executor.window:
            raise TransientError(
                f"{self._unseen_row} chunks were announced as done, and this lake has no result of "
                "them: the workers work in another copy of it, or it is not what is mounted here"
            )
        workers = self._executor.workers
        if workers and workers <= self._refusals.keys():
            reasons = sorted({self._refusals[worker] for worker in workers})
            raise AllRefuseError(f"no worker can work here: {'; '.join(reasons)}")

    def _fill_window(self) -> None:
        while self._table.in_flight < self._executor.window:
            ready = filter(self._growing.has_sources, self._table.ready())
            chunk = choose(self._table, ready, self._limits)
            if chunk is None:
                return
            ref = self._table.ref(chunk.key)
            if self._table.jobs.is_unrecoverable(chunk):
                write_unworked_result(self._lake, ref, Status.OVER_BUDGET, UNRECOVERABLE)
                self._table.move("skip", chunk.key)
                self._transient_row = 0
                continue
            self._executor.submit(ref)
            self._table.send(chunk.key, time.monotonic())

    # -- back --------------------------------------------------------------------------------

    def listen(self, patience_s: float) -> None:
        """Take announcements; what one of them fails on is found again in the lake."""
        if not self._announced:
            self._announced += self._executor.poll(self._table.run_id, patience_s)
        while self._announced:
            self._hear(self._announced.popleft())

    def _hear(self, announcement: Announcement) -> None:
        self._heard_at = time.monotonic()
        chunk = self._table.get(announcement.ref.key)
        if chunk is None or chunk.state is State.BROKEN_UP:
            return
        if announcement.event == "done":
            if chunk.has_result:
                return
            if self._has_result(chunk.key):
                self._land(chunk.key)
            elif chunk.state in IN_FLIGHT:
                # Where the lake is slow to show files, the next look finds it.
                self._unseen_row += 1
        elif chunk.flight is None or chunk.flight.ref.attempt != announcement.ref.attempt:
            return
        elif announcement.event == "transient":
            self._try_again(chunk, announcement.why)
        elif announcement.event == "refused":
            self._pass_on(chunk, announcement)
        else:
            self._fail(chunk, announcement.why)

    def _try_again(self, chunk: Chunk, why: Reason) -> None:
        """Send a chunk again that did not fail by itself, as long as anything else gets done."""
        self._transient_row, self._transient_why = self._transient_row + 1, why.sentence
        self._send_again(chunk, why.sentence)
        for source in self._growing.sources(chunk):
            # The worker has found that states are gone, and deleted the result that promised them.
            if source.has_result and not self._has_result(source.key):
                log.warning("states lost", chunk=self._table.ref(source.key).name)
                self._table.move("reopen", source.key)
        time.sleep(PAUSE_SECONDS)

    def _send_again(self, chunk: Chunk, why: str) -> None:
        """Let a chunk be sent once more, and say in the log why it will be worked twice."""
        log.info("chunk sent again", chunk=self._table.ref(chunk.key).name, reason=why)
        self._table.move("requeue", chunk.key)

    def _pass_on(self, chunk: Chunk, refusal: Announcement) -> None:
        """Send a chunk again that a worker could not work for reasons of its own."""
        if refusal.worker not in self._refusals:
            log.warning("worker refuses", worker=refusal.worker, reason=refusal.why.sentence)
        self._refusals[refusal.worker] = refusal.why.sentence
        self._table.move("requeue", chunk.key)

    def _has_result(self, key: ChunkKey) -> bool:
        return self._lake.exists(self._table.ref(key).result_path)

    def _land(self, key: ChunkKey) -> None:
        self._table.move("land", key)
        self._transient_row = 0
        self._unseen_row = 0
        self._refusals.clear()

    # -- what did not come back --------------------------------------------------------------

    def reconcile(self) -> None:
        """Compare what is in flight with the lake, then ask the executor about the rest."""
        for chunk in list(self._table.chunks_in(*IN_FLIGHT)):
            if self._has_result(chunk.key):
                self._land(chunk.key)
            elif chunk.state is State.SENT:
                self._has_begun(chunk)
        status = self._executor.status(self._table.flights())
        for chunk in list(self._table.chunks_in(*IN_FLIGHT)):
            if chunk.flight is not None:
                self._settle_flight(chunk, status.get(chunk.flight.ref))
        waiting = self._table.number_in(State.READY, State.FAILED) + self._table.in_flight
        self.note_transitions()
        self._executor.publish_demand(self._table.run_id, waiting)

    def note_transitions(self) -> None:
        """Count the transitions since the last call."""
        made = Counter(self._table.made)
        for transition, number in (made - self._noted).items():
            CHUNKS.labels(transition).inc(number)
        self._noted = made

    def _settle_flight(self, chunk: Chunk, status: MessageStatus | None) -> None:
        """Send a chunk again, or count a failure, if its message or its worker is gone."""
        flight, key = chunk.flight, chunk.key
        assert flight is not None
        if status is MessageStatus.WAITING or (status is not None and self._has_begun(chunk)):
            # It has its turn yet, or Redis has handed the message to another worker meanwhile.
            return
        now, overdue_s = time.monotonic(), self._settings.chunk_overdue_seconds
        if status is MessageStatus.DEAD_WORKER:
            # The result may have been written after we looked and before the worker died.
            if self._has_result(key):
                self._land(key)
            elif chunk.state is State.ADOPTED:
                interrupted = Reason(code=ReasonCode.INTERRUPTED)
                self._note_failure(chunk, interrupted, after_interruption(chunk.attempts))
            else:
                self._fail(chunk, Reason(code=ReasonCode.WORKER_LOST))
        elif status is MessageStatus.LOST_MESSAGE:
            log.info("message lost", chunk=flight.ref.name)
            self._table.move("requeue", key)
        elif flight.start is not None:
            if now - flight.seen_at > overdue_s:
                late = f"nothing heard for {overdue_s:g} s after it began"
                self._fail(chunk, Reason(code=ReasonCode.OVERDUE, sentence=late))
        elif now - max(flight.submitted_at, self._heard_at) > overdue_s:
            self._send_again(chunk, f"no worker began it within {overdue_s:g} s")

    def _has_begun(self, chunk: Chunk) -> bool:
        """Read whether a worker has begun a chunk since the last poll."""
        assert chunk.flight is not None
        start = read_start(self._lake, chunk.flight.ref)
        if start is None or start == chunk.flight.start:
            return False
        self._table.begin(chunk.key, start, time.monotonic())
        return True

    # -- what failed -------------------------------------------------------------------------

    def _fail(self, chunk: Chunk, why: Reason) -> None:
        self._note_failure(chunk, why, after_failure(chunk.attempts, why))

    def _note_failure(self, chunk: Chunk, why: Reason, attempts: Attempts) -> None:
        """Count a failure, in the lake first: this driver may die, too."""
        ref = self._table.ref(chunk.key)
        write_attempts(self._lake, ref, attempts)
        self._table.fail(chunk.key, attempts)
        log.warning("chunk failed", chunk=ref.name, attempt=ref.attempt, reason=why.sentence)

    def settle_failures(self) -> None:
        """Try what failed again, or break it up, or call its row poison."""
        for chunk in list(self._table.chunks_in(State.FAILED)):
            if not self._limits.are_reached(chunk.attempts):
                self._table.move("retry", chunk.key)
            elif chunk.rows_left > 1:
                self._growing.break_up(chunk)
            else:
                reason = poison_reason_of(chunk.attempts, self._limits)
                ref = self._table.ref(chunk.key)
                count_rows(self._growing.run.question.game, {str(Status.POISON): 1})
                for row in write_unworked_result(self._lake, ref, Status.POISON, reason):
                    log.error(
                        "poison",
                        chunk=ref.name,
                        job=row["job_id"],
                        puzzle=row["puzzle_id"],
                        reason=reason.sentence,
                        reason_code=str(reason.code),
                    )
                self._table.move("poison", chunk.key)
                self._transient_row = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How often a chunk is tried."""

    failures: int
    """Failures after which it is given up, whichever they are."""
    interruptions: int
    """The same for deaths together with its driver, which it may not have caused."""

    def are_reached(self, attempts: Attempts, more: int = 0) -> bool:
        """Tell whether a chunk is given up, if it fails so many times more."""
        failures, interruptions = len(attempts.failures) + more, attempts.interruptions + more
        return failures >= self.failures or interruptions >= self.interruptions


def choose(table: ChunkTable, ready: Iterable[Chunk], limits: Limits) -> Chunk | None:
    """Choose the next chunk of those that are `ready`; None: none may be sent now."""
    suspects = table.suspects_in_flight()
    if any(limits.are_reached(chunk.attempts, 1) for chunk in suspects):
        return None
    for chunk in ready:
        if not chunk.is_suspect:
            return chunk
        if not suspects and not (table.in_flight and limits.are_reached(chunk.attempts, 1)):
            return chunk
    return None


def after_failure(old: Attempts, reason: Reason) -> Attempts:
    """Count a failure."""
    return replace(old, attempt=old.attempt + 1, failures=(*old.failures, reason))


def after_interruption(old: Attempts) -> Attempts:
    """Count a death together with the driver."""
    return replace(old, attempt=old.attempt + 1, interruptions=old.interruptions + 1)


def poison_reason_of(attempts: Attempts, limits: Limits) -> Reason:
    """Say why a row is poison, in words that do not depend on what else was killed."""
    if len(attempts.failures) < limits.failures:
        return poison_reason(Reason(code=ReasonCode.INTERRUPTED), attempts.interruptions)
    ((usual, _),) = Counter(attempts.failures).most_common(1)
    return poison_reason(usual, len(attempts.failures))

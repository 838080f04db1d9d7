"""The keeper: drives the runs of all on-demand jobs, and ends those that nobody wants any more.

`python -m nightgrid.workers.ondemand.keeper`, one for each lake; a second one does no harm.
"""

from __future__ import annotations

import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import redis
from structlog.contextvars import bound_contextvars

from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.faults import set_aside
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.files import merge_answers
from nightgrid.archive.words.binding import game_of
from nightgrid.archive.words.dictionaries import with_words
from nightgrid.solvers.algebra import Outcome, Statistics, Status
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.broker import notices
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.broker.redis_keys import BATCH, INTERACTIVE
from nightgrid.workers.driver.driver import AllRefuseError, Driver
from nightgrid.workers.driver.outbox import CeleryOutbox, Outbox
from nightgrid.workers.driver.progress import Progress
from nightgrid.workers.freed_memory import trim
from nightgrid.workers.logs import get_logger
from nightgrid.workers.metrics import KEEPER_POLL
from nightgrid.workers.ondemand.answers import answer_of, put_answers
from nightgrid.workers.ondemand.results import answers, find_row
from nightgrid.workers.ondemand.submissions import (
    End,
    Wanted,
    delete_submissions,
    drop_ends,
    has_submission,
    open_jobs,
)
from nightgrid.workers.ondemand.submitting import end_with_run
from nightgrid.workers.processes import die_with_parent
from nightgrid.workers.runs.finishing.ended import ensure_plan
from nightgrid.workers.runs.job_keys import Answers
from nightgrid.workers.runs.manifest import has_plan, open_run, read_done
from nightgrid.workers.runs.plan.plan_pass import Asking, expected_s
from nightgrid.workers.runs.plan.planner import begin_run, extend_run
from nightgrid.workers.runs.run_files import done_path
from nightgrid.workers.runs.staged import frontier_folder
from nightgrid.workers.runs.status import (
    cancel_run,
    is_cancelled,
    resume_run,
)
from nightgrid.workers.runs.unanswered_jobs import Retry
from nightgrid.workers.settings import Settings, program_settings
from nightgrid.workers.tracing import begin_tracing, continued, flush_traces
from nightgrid.workers.upkeep import days_ago, old_runs, prune_runs

log = get_logger("nightgrid.keeper")

LOOK_SECONDS = 1.0
"""Interval at which all submissions are listed without a notice of a new one."""
LOOK_LEAST_SECONDS = 0.05
"""Shortest interval between listings."""
OPEN_MAX = 64
"""Small and large runs that are driven at once; the others wait, oldest first."""
LARGE_SHARE = 0.6
"""A job expected to take this share of the small limit goes to `batch` at once."""
SIZE_SECONDS = 5.0
"""Interval at which the states of a run are measured."""
MERGE_SECONDS = 30.0
"""Interval at which small files of answers are merged."""
SWEEP_SECONDS = 3600.0
"""Interval at which half-written files of killed writers, old ends and old runs are deleted."""


@dataclass(slots=True, kw_only=True)
class _Open:
    """A job whose run is driven."""

    wanted: Wanted
    run_id: str
    driver: Driver
    size_at: float = 0.0
    refused_since: float | None = None


class Keeper:
    """Drives the runs of the on-demand jobs of one lake."""

    def __init__(self, lake: Lake, settings: Settings, outbox: Outbox | None = None) -> None:
        self._lake = lake
        self._settings = settings
        self._client = connect(settings)
        self._outbox = outbox or CeleryOutbox(
            settings, runs=lambda: len(self._open), name=notices.KEEPER
        )
        self._open: dict[str, _Open] = {}
        self._begun_again: set[str] = set()
        """Runs that failed permanently once and were opened again."""
        self._merge_at = time.monotonic() + MERGE_SECONDS
        self._sweep_at = 0.0

    def run(self, stop: threading.Event) -> None:
        """Run the keeper until `stop` is set; it waits out failures of the lake and the broker."""
        while not stop.is_set():
            try:
                self.turn(LOOK_SECONDS)
                self.tidy()
                KEEPER_POLL.set_to_current_time()
            except Exception as error:  # noqa: BLE001 - other jobs are looked after next time
                known = isinstance(error, NightgridError | redis.RedisError)
                log.warning("keeper waits", error=str(error) if known else repr(error))
                stop.wait(LOOK_SECONDS)

    def turn(self, timeout_s: float) -> None:
        """Attend to all jobs once, then wait for announcements and handle those of single jobs.

        A new submission ends the wait too: any entry of the keeper's list does.
        """
        self.poll()
        ends_at = time.monotonic() + LOOK_LEAST_SECONDS
        while heard := self._outbox.wait(timeout_s):
            runs = {each.run_id: each for each in self._open.values()}
            moved = {announcement.ref.run_id for announcement in heard} & runs.keys()
            for announcement in heard:
                if announcement.ref.run_id in moved:
                    runs[announcement.ref.run_id].driver.hear(announcement)
            for run_id in moved:
                self._attend(runs[run_id].wanted)
            if time.monotonic() > ends_at:
                return

    def poll(self) -> None:
        """List the wanted jobs, and make one step for each driven one."""
        found = open_jobs(self._lake)
        for path, why in found.damaged.items():
            to = set_aside(self._lake, path)
            log.warning("submission set aside", path=path, to=to, reason=why)
        for job_id in self._open.keys() - found.wanted.keys():
            # Its last client has left.
            del self._open[job_id]
        for wanted in found.wanted.values():
            self._attend(wanted)

    def _attend(self, wanted: Wanted) -> None:
        """Attend to one job; an error of one must not stop the others."""
        job_id, was_open = wanted.job_id, wanted.job_id in self._open
        try:
            with bound_contextvars(job=job_id):
                self._look_after(wanted)
        except PermanentError as error:
            self._open.pop(job_id, None)
            if was_open and wanted.run_id not in self._begun_again:
                # Its run may have lost files: it is planned again next time.
                self._begun_again.add(wanted.run_id)
                log.warning("job not looked after", job=job_id, error=repr(error))
                return
            log.warning("refused", job=job_id, run=wanted.run_id, reason=str(error))
            with suppress(NightgridError):
                self._end(wanted, "refused", str(error))
        except Exception as error:  # noqa: BLE001 - it is looked after again at the next look
            log.warning("job not looked after", job=job_id, error=repr(error))

    def _look_after(self, wanted: Wanted) -> None:
        if wanted.is_late:
            log.info("expired", job=wanted.job_id)
            self._end(wanted, "expired", ReasonCode.DEADLINE.sentence)
            return
        opened = self._open.get(wanted.job_id)
        if opened is not None and opened.run_id != wanted.run_id:
            log.info("asked again under a larger budget", job=wanted.job_id)
            cancel_run(self._lake, opened.run_id, drop_states=True)
            del self._open[wanted.job_id]
            opened = None
        if opened is not None and opened.driver.cancelled:
            # It was cancelled, and submitted again since.
            del self._open[wanted.job_id]
            opened = None
        if opened is None and self._has_room(wanted):
            trace = wanted.submissions[0].trace
            with continued(trace, "drive", job=wanted.job_id, run=wanted.run_id):
                opened = self._begin(wanted)
                if opened is not None:
                    self._step(opened)
        elif opened is not None:
            opened.wanted = wanted
            self._step(opened)

    def _has_room(self, wanted: Wanted) -> bool:
        """Return whether another job of its kind may be driven: large ones hold up no small one."""
        is_large = wanted.last.expected_s > self._settings.ondemand_seconds
        kind = BATCH if is_large else INTERACTIVE
        return sum(each.driver.queue_left == kind for each in self._open.values()) < OPEN_MAX

    def _begin(self, wanted: Wanted) -> _Open | None:
        """Plan the run of a job, unless that is done; None if it has ended already."""
        lake, run_id = self._lake, wanted.run_id
        ensure_plan(lake, run_id)
        if is_cancelled(lake, run_id):
            if not has_submission(lake, wanted.job_id):
                # It is being cancelled right now: submissions are deleted first.
                return None
            resume_run(lake, run_id)
        row = find_row(lake, wanted.job_id)
        is_answered = row is not None and answers(row, wanted.budget)
        is_done = read_done(lake, run_id) is not None
        if is_answered or (is_done and row is not None):
            # A killed keeper left the submissions, or another run has answered them.
            self._over(wanted)
            return None
        if is_done:
            # Its results are lost.
            lake.delete(done_path(run_id))
        queue = self._plan(wanted)
        driver = Driver(lake, run_id, self._outbox, self._settings, queue=queue)
        opened = _Open(wanted=wanted, run_id=run_id, driver=driver)
        self._open[wanted.job_id] = opened
        return opened

    def _plan(self, wanted: Wanted) -> str:
        """Plan a run of one job; return the queue of its first chunks.

        Raises PermanentError for a job that cannot be solved here.
        """
        lake, settings, asked = self._lake, self._settings, wanted.last
        question, budget = asked.question, wanted.budget
        game = game_of(lake, question)
        if game.solver_version != question.solver_version:
            raise PermanentError(
                f"it was submitted for {question.game} solver {question.solver_version}, and the "
                f"keeper has {game.solver_version}"
            )
        puzzle = game.puzzle_from_json(with_words(lake, asked.puzzle))
        arrays = game.to_arrays([puzzle])
        closely = game.close_cost_s(arrays, question.ask)
        if not has_plan(lake, wanted.run_id):
            idle = self._outbox.idle_processes(BATCH)
            # A ranking is not divided; a job with an estimate is divided now or never.
            is_whole = question.ask.kind == "meant" or closely is not None
            asking = Asking(
                lake=lake,
                game=game,
                ask=question.ask,
                budget=budget.part,
                worker_count=idle,
                retry=Retry.ALL,
                # Others may have tried it in vain.
                expected_s=max(expected_s(game, question.ask, arrays)[0], asked.expected_s),
                solution_bytes=budget.solution_bytes,
                divide_into=1 if is_whole else idle,
                puzzle=canonical_json(asked.puzzle),
            )
            begin_run(asking, wanted.run_id, puzzle_count=1)
            extend_run(asking, puzzles_table(game, [puzzle]), wanted.run_id, Answers())
        # Only an estimate from a close look at the board counts.
        least_s = LARGE_SHARE * min(settings.ondemand_seconds, budget.part.seconds)
        is_large = closely is not None and closely > least_s
        is_divided = open_run(lake, wanted.run_id).divided_count > 0
        return BATCH if is_large or is_divided else INTERACTIVE

    def _step(self, opened: _Open) -> None:
        driver, wanted = opened.driver, opened.wanted
        try:
            is_worked = driver.step()
            if is_worked:
                driver.finish()
                self._over(wanted)
                return
            opened.refused_since = None
        except AllRefuseError as error:
            now = time.monotonic()
            opened.refused_since = opened.refused_since or now
            if now - opened.refused_since > self._settings.broker_patience_seconds:
                log.warning("refused", job=wanted.job_id, run=opened.run_id, reason=str(error))
                self._end(wanted, "refused", str(error))
            return
        progress = driver.progress
        spent = self._spent(opened, progress)
        if spent is not None:
            log.warning("over budget", job=wanted.job_id, run=opened.run_id, reason=spent.sentence)
            self._end_over_budget(opened, progress, spent)

    def _spent(self, opened: _Open, progress: Progress) -> Reason | None:
        """Return why a job has used up its total budget, if it has."""
        budget, now = opened.wanted.budget, time.monotonic()
        if progress.kernel_s > budget.total_seconds:
            why = f"the job's total of {budget.total_seconds:,g} s ran out"
            return Reason(code=ReasonCode.SECONDS, sentence=why)
        if now >= opened.size_at:
            opened.size_at = now + SIZE_SECONDS
            states_bytes = sum(self._lake.sizes(frontier_folder(opened.run_id)).values())
            if states_bytes > budget.total_bytes:
                why = f"the job's total of {budget.total_bytes:,} bytes of states ran out"
                return Reason(code=ReasonCode.TABLE_BYTES, sentence=why)
        return None

    def _end_over_budget(self, opened: _Open, progress: Progress, reason: Reason) -> None:
        """Write a result row; finished work is kept, and the run continues under larger totals."""
        lake, wanted, asked = self._lake, opened.wanted, opened.wanted.last
        outcome: Outcome[Any] = Outcome(
            status=Status.OVER_BUDGET,
            reason_code=reason.code,
            reason=reason.sentence,
            statistics=Statistics(kernel_ns=progress.kernel_ns),
        )
        budget = wanted.budget
        about = asked.question, asked.job_id, asked.puzzle_id, asked.puzzle
        put_answers(lake, [answer_of(*about, budget, outcome)])
        cancel_run(lake, opened.run_id, drop_states=True)
        self._over(wanted)

    def _over(self, wanted: Wanted) -> None:
        """Delete the submissions of a job that has a row."""
        delete_submissions(self._lake, wanted.submissions)
        self._open.pop(wanted.job_id, None)

    def _end(self, wanted: Wanted, end: End, reason: str) -> None:
        end_with_run(self._lake, wanted, end, reason)
        self._open.pop(wanted.job_id, None)

    def tidy(self) -> None:
        """Merge answers, and delete leftovers of killed writers and old runs, at intervals."""
        now = time.monotonic()
        if now >= self._sweep_at:
            self._sweep_at = now + SWEEP_SECONDS
            self._lake.sweep_staging()
            before = days_ago(self._settings.runs_kept_days)
            drop_ends(self._lake, before)
            prune_runs(self._lake, old_runs(self._lake, before))
        if now >= self._merge_at:
            self._merge_at = now + MERGE_SECONDS
            merge_answers(self._lake)
            # Its tables took more memory than anything until the next merge.
            trim()


def main() -> None:
    """Run the keeper as a program, until SIGTERM."""
    die_with_parent()
    settings = program_settings()
    keeper = Keeper(Lake.open(settings.lake), settings)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    begin_tracing(settings.trace_url, "keeper")
    log.info("keeper up")
    keeper.run(stop)
    flush_traces()


if __name__ == "__main__":
    main()

"""What a worker does with an on-demand job: solves it in one task, or plans a run for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.parts import Part
from nightgrid.archive.words.binding import game_of, open_game
from nightgrid.archive.words.dictionaries import with_words
from nightgrid.solvers.algebra import Budget, Expected, Outcome, Statistics, Status
from nightgrid.solvers.errors import NightgridError, PermanentError, TransientError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import Question
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.workers.chunks.inline_solutions import solve_whole
from nightgrid.workers.chunks.result_rows import exception_reason, poison_reason
from nightgrid.workers.chunks.solve import refusing, system_refusal
from nightgrid.workers.chunks.solved_rows import invalid_outcome
from nightgrid.workers.figures import note_rows
from nightgrid.workers.logs import bind
from nightgrid.workers.ondemand.answers import answer_of, put_answer
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.cancelling import expire
from nightgrid.workers.ondemand.jobs.rows import close_record, ends, find_row
from nightgrid.workers.ondemand.jobs.submitting import MESSAGE_KEYS, plan_job
from nightgrid.workers.ondemand.jobs.task_progress import TaskProgress
from nightgrid.workers.ondemand.record import UNSAID, BadRecordError, Record
from nightgrid.workers.ondemand.record_files import (
    read_ended,
    read_record,
    record_path,
    write_record,
)
from nightgrid.workers.ondemand.second_try import solve_twice_if_busy
from nightgrid.workers.ondemand.sharing.idle_processes import IdleProcesses
from nightgrid.workers.ondemand.sharing.layer_threads import count_with_threads
from nightgrid.workers.ondemand.sharing.ranges import solve_shared
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.runs.plan.open_jobs import Split
from nightgrid.workers.runs.status import cancel_run
from nightgrid.workers.settings import Settings
from nightgrid.workers.stopping import CancelCheck, Watcher, watching
from nightgrid.workers.tracing import span

EXPECTED_FROM_S = 1.0
"""What is expected to take less is answered before a person looks."""
RUN_FROM = 2.0
"""A job that is expected to take so many times what one task may becomes a run at once. In between
a task may well do: idle processes lend it their cores, and estimates are high as often as low."""


def solve_message(
    lake: Lake,
    message: Mapping[str, Any],
    settings: Settings,
    worker: str,
    watcher: Watcher | None = None,
    idle: IdleProcesses | None = None,
) -> dict[str, Any]:
    """Work one on-demand job: solve it, or plan a run for it; leave its result in the lake.

    The attempt is counted in the lake before the work begins; over the cap the job is poison. The
    watcher stops it when it is cancelled or its deadline passes: that is no attempt either.
    Raises RefusalError when this process cannot work the job, for reasons that are not the
    puzzle's: that counts no attempt.
    """
    with refusing():
        game, puzzle, question, budget, job = read_message(lake, message)
        bind(job=job, puzzle=game.puzzle_id(puzzle), game=game.name)
        found = _record_of(lake, message, budget, settings)
        if found is None:
            return {"job_id": job, "state": "ended"}
        record = replace(found, question=question)
        row = find_row(lake, job)
        if row is not None and ends(row, record):
            return {"job_id": job, "state": "done"}
        if record.is_late:
            expire(lake, record)
            return {"job_id": job, "state": "ended"}
        if record.run_id is not None:
            return {"job_id": job, "state": "run", "run_id": record.run_id}
        if record.attempts >= settings.attempts_max:
            # An attempt without a failure is one whose process did not live to tell.
            failure = record.failure or Reason(code=ReasonCode.WORKER_LOST)
            why = poison_reason(failure, record.attempts)
            poison: Outcome[Any] = Outcome(
                status=Status.POISON, reason_code=why.code, reason=why.sentence
            )
            return _file(lake, game, puzzle, record, poison)
        expected = game.expected(game.to_arrays([puzzle]), question.ask)
        begun = replace(
            record,
            expected=expected if expected.seconds >= EXPECTED_FROM_S else None,
            attempts=record.attempts + 1,
            worker=worker,
            started_at=time.time(),
            sent_in_vain=0,
        )
        write_record(lake, begun)
    check = job_cancel_check(lake, begun)
    try:
        with watching(watcher, job, check, begun.deadline_at) as stop:
            return _worked(lake, game, puzzle, begun, settings, stop, idle)
    except _FailedError:
        raise
    except NightgridError:
        # What failed is around the puzzle: this was no attempt at it.
        with suppress(NightgridError):
            write_record(lake, replace(record, worker=None))
        raise


def job_cancel_check(lake: Lake, record: Record) -> CancelCheck:
    """Return a check for whether a submission of a job is cancelled or past its deadline."""

    def check() -> ReasonCode | None:
        with suppress(BadRecordError):
            now = read_record(lake, record.job_id)
            if now is None or now.submitted_at != record.submitted_at:
                return ReasonCode.CANCELLED
            return ReasonCode.DEADLINE if now.is_late else None
        return None

    return check


def _worked(
    lake: Lake,
    game: Game[Any, Any],
    puzzle: Any,
    record: Record,
    settings: Settings,
    stop: Stop | None,
    idle: IdleProcesses | None,
) -> dict[str, Any]:
    budget = record.budget.part
    small = replace(small_budget(budget, settings), stop=stop)
    if is_for_run(record.expected, budget, settings):
        with refusing():
            return _became_run(lake, game, puzzle, record, settings)
    ask, parts = record.question.ask, list[Part]()
    try:
        with span("kernel", game=game.name, ask=str(ask)):
            outcome, parts = _solved(game, puzzle, record, small, settings, idle)
    except PermanentError as error:
        outcome = invalid_outcome(error)
    except NightgridError:
        raise
    except Exception as error:
        if small.stopped is not None:
            return _stopped(lake, record, small.stopped)
        if isinstance(error, OSError):
            raise system_refusal(error) from error
        raised = exception_reason(error)
        write_record(lake, replace(record, failure=raised, worker=None))
        raise _FailedError(raised.sentence) from error
    if small.stopped is not None and outcome.status is Status.OVER_BUDGET:
        return _stopped(lake, record, small.stopped)
    with refusing():
        is_long = outcome.reason_code is ReasonCode.SOLUTION_BYTES
        is_small = outcome.status is not Status.OVER_BUDGET
        if is_small or (small == budget and not is_long):
            return _file(lake, game, puzzle, record, outcome, parts)
        spent_s = outcome.statistics.kernel_ns / 1e9
        return _became_run(lake, game, puzzle, record, settings, spent_s)


def _became_run(
    lake: Lake,
    game: Game[Any, Any],
    puzzle: Any,
    record: Record,
    settings: Settings,
    spent_s: float = 0.0,
) -> dict[str, Any]:
    """Plan a run for a job on which one task has spent `spent_s` without an answer.

    It is expected to take as long again, or what its game says if that is longer.
    """
    expected_s = 0.0 if record.expected is None else record.expected.seconds
    run_id = plan_job(
        lake,
        game,
        puzzle,
        record.question.ask,
        record.budget,
        worker_count=settings.batch_processes,
        expected_s=max(spent_s, expected_s),
        split=_split_of(record, settings),
    )
    write_record(lake, replace(record, run_id=run_id))
    return {"job_id": record.job_id, "state": "run", "run_id": run_id}


def is_for_run(expected: Expected | None, budget: Budget, settings: Settings) -> bool:
    """Tell whether one task would mostly work a job in vain: it becomes a run at once.

    Only what a game says after a close look at the board counts.
    """
    if expected is None or not expected.passed:
        return False
    seconds = small_budget(budget, settings).seconds
    return seconds < budget.seconds and expected.seconds > RUN_FROM * seconds


def small_budget(budget: Budget, settings: Settings) -> Budget:
    """Tell what one task on demand may spend of a budget."""
    return replace(
        budget,
        table_bytes=min(budget.table_bytes, settings.ondemand_table_bytes),
        seconds=min(budget.seconds, settings.ondemand_seconds),
    )


def _solved(
    game: Game[Any, Any],
    puzzle: Any,
    record: Record,
    budget: Budget,
    settings: Settings,
    idle: IdleProcesses | None,
) -> tuple[Outcome[Any], list[Part]]:
    """Solve a job, with idle processes where that pays."""
    split = _split_of(record, settings)
    ask, worker = record.question.ask, record.worker or ""
    with_idle = idle if split != "never" else None
    if with_idle is not None:
        opening = with_idle.opening(record)
        try:
            shared = solve_shared(
                game,
                puzzle,
                ask,
                budget,
                split=split,
                worker=worker,
                open_share=opening,
                prepare=opening.prepare,
            )
        finally:
            opening.close()
        if shared is not None:
            return shared
    parts: list[Part] = []
    far = _Far(record, None if with_idle is None else with_idle.telling(record))

    def solve(each: Budget) -> Outcome[Any]:
        if with_idle is not None:
            counted = count_with_threads(
                game,
                puzzle,
                ask,
                each,
                split=split,
                worker=worker,
                borrow=with_idle.borrowing(record),
                tell=far.reached,
            )
            if counted is not None:
                parts[:] = counted[1]
                return counted[0]
        return solve_whole(game, puzzle, ask, each, settings)

    most_s = record.budget.part.seconds
    return solve_twice_if_busy(solve, budget, most_s, may_do=far.may_end_within), parts


class _Far:
    """How far a count by layers has come."""

    def __init__(self, record: Record, tell: Callable[[TaskProgress], None] | None) -> None:
        self._expected = record.expected or Expected(seconds=0.0)
        self._started_at = record.started_at or 0.0
        self._tell = tell

    def reached(self, layer: int, spent: Statistics) -> None:
        """Tell of a layer that was reached."""
        if self._tell is None:
            return
        shares = self._expected.passed
        passed = shares[layer] if layer < len(shares) else 0.0
        kernel_s = spent.kernel_ns / 1e9
        self._tell(
            TaskProgress(
                started_at=self._started_at,
                states=spent.states,
                kernel_s=kernel_s,
                passed=passed,
            )
        )

    def may_end_within(self, seconds: float) -> bool:
        """Tell whether so much of a core may do for the whole job.

        Only what a game says after a close look at the board counts.
        """
        return not self._expected.passed or self._expected.seconds <= RUN_FROM * seconds


def _split_of(record: Record, settings: Settings) -> Split:
    split: Any = record.split or settings.split
    return split


def _stopped(lake: Lake, record: Record, why: ReasonCode) -> dict[str, Any]:
    """Leave a job without an answer: it ended while it was worked, or its time is over."""
    if why is ReasonCode.DEADLINE:
        with suppress(BadRecordError):
            now = read_record(lake, record.job_id)
            if now is not None and not now.is_late:
                # Another client wants it for longer: the keeper sends it again.
                write_record(lake, replace(now, attempts=record.attempts - 1, worker=None))
                return {"job_id": record.job_id, "state": "queued"}
        expire(lake, record)
    return {"job_id": record.job_id, "state": "ended"}


class _FailedError(TransientError):
    """The solver raised: an attempt that counts."""


def _record_of(
    lake: Lake, message: Mapping[str, Any], budget: Budget, settings: Settings
) -> Record | None:
    """Read what is wanted of the job of a message; None: nothing any more."""
    job = message["job_id"]
    # What is damaged says nothing: the message has all that is needed.
    with suppress(BadRecordError):
        record = read_record(lake, job)
        if record is not None:
            return record
        if lake.exists(record_path(job)) or read_ended(lake, job) is not None:
            return None
    return Record(
        job_id=job,
        question=Question.from_json({**UNSAID, **message}),
        puzzle=message["puzzle"],
        budget=JobBudget.of(settings, budget),
        submitted_at=time.time(),
    )


def read_message(
    lake: Lake, message: Mapping[str, Any]
) -> tuple[Game[Any, Any], Any, Question, Budget, str]:
    """Read what a message asks: game, puzzle, question, budget and job.

    Raises PermanentError for what is no message, or none for this worker.
    """
    if set(message) | set(UNSAID) != MESSAGE_KEYS:
        raise PermanentError(f"expected a message with {', '.join(sorted(MESSAGE_KEYS))}")
    question = Question.from_json({**UNSAID, **message})
    game = game_of(lake, question)
    puzzle = game.puzzle_from_json(with_words(lake, message["puzzle"]))
    question = replace(question, solver_version=game.solver_version)
    job = question.job_id(game.puzzle_id(puzzle))
    if job != message["job_id"]:
        raise PermanentError(
            f"job {message['job_id']!r:.40} is {job} to this worker; expected the same solver "
            "version on both sides"
        )
    return game, puzzle, question, Budget(**message["budget"]), job


def end_over_budget(lake: Lake, record: Record, reason: Reason, kernel_ns: int) -> None:
    """End a job whose run has cost what the job may cost altogether.

    What was worked is kept: under a larger budget the run goes on.
    """
    assert record.run_id is not None
    cancel_run(lake, record.run_id, drop_states=True)
    question = open_run(lake, record.run_id).question
    game = open_game(lake, question.game)
    puzzle = game.puzzle_from_json(with_words(lake, record.puzzle))
    over: Outcome[Any] = Outcome(
        status=Status.OVER_BUDGET,
        reason_code=reason.code,
        reason=reason.sentence,
        statistics=Statistics(kernel_ns=kernel_ns),
    )
    _file(lake, game, puzzle, replace(record, question=question), over, is_worked=False)


def _file(
    lake: Lake,
    game: Game[Any, Any],
    puzzle: Any,
    record: Record,
    outcome: Outcome[Any],
    parts: Sequence[Part] = (),
    *,
    is_worked: bool = True,
) -> dict[str, Any]:
    """File the outcome: solutions and parts first, then the result that says it is done.

    What it took counts among the figures if it `is_worked` just now.
    """
    answer = answer_of(game, puzzle, record.question, record.budget, outcome, parts)
    with span("file", status=str(outcome.status)):
        put_answer(lake, answer)
    took = outcome.statistics if is_worked else Statistics()
    note_rows(game.name, {str(outcome.status): 1}, took.states, took.kernel_ns)
    close_record(lake, record.job_id, answer.row)
    return {"job_id": record.job_id, "state": "done", "status": str(outcome.status)}

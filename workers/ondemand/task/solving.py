"""What a worker does with an on-demand job: solves it in one task, or plans a run for it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from structlog.contextvars import bind_contextvars

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.algebra import Outcome, Status
from nightgrid.solvers.errors import NightgridError, PermanentError, TransientError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.workers.chunks.inline_solutions import solve_whole
from nightgrid.workers.chunks.result_rows import exception_reason, poison_reason
from nightgrid.workers.chunks.solve import refusing, system_refusal
from nightgrid.workers.chunks.solved_rows import invalid_outcome
from nightgrid.workers.ondemand.budgets import is_for_run, small_budget
from nightgrid.workers.ondemand.cancelling import expire, job_cancel_check
from nightgrid.workers.ondemand.jobs.rows import ends, find_row
from nightgrid.workers.ondemand.jobs.submitting import plan_job
from nightgrid.workers.ondemand.record import Record
from nightgrid.workers.ondemand.record_files import write_record
from nightgrid.workers.ondemand.task.ending import end_stopped, file_outcome
from nightgrid.workers.ondemand.task.messages import read_message, wanted_record
from nightgrid.workers.settings import Settings
from nightgrid.workers.stopping import Watcher, watching
from nightgrid.workers.tracing import span

EXPECTED_FROM_S = 1.0
"""What is expected to take less is answered before a person looks."""


def solve_message(
    lake: Lake,
    message: Mapping[str, Any],
    settings: Settings,
    worker: str,
    watcher: Watcher | None = None,
) -> dict[str, Any]:
    """Work one on-demand job: solve it, or plan a run for it; leave its result in the lake.

    The attempt is counted in the lake before the work begins; over the cap the job is poison. The
    watcher stops it when it is cancelled or its deadline passes: that is no attempt either.
    Raises RefusalError when this process cannot work the job, for reasons that are not the
    puzzle's: that counts no attempt.
    """
    with refusing():
        game, puzzle, question, budget, job = read_message(lake, message)
        puzzle_id = game.puzzle_id(puzzle)
        bind_contextvars(job=job, puzzle=puzzle_id, game=game.name)
        found = wanted_record(lake, message, puzzle_id, budget, settings)
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
            return file_outcome(lake, game, puzzle, record, poison)
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
            return _worked(lake, game, puzzle, begun, settings, stop)
    except _FailedError:
        raise
    except NightgridError:
        # What failed is around the puzzle: this was no attempt at it.
        with suppress(NightgridError):
            write_record(lake, replace(record, worker=None))
        raise


def _worked(
    lake: Lake,
    game: Game[Any, Any],
    puzzle: Any,
    record: Record,
    settings: Settings,
    stop: Stop | None,
) -> dict[str, Any]:
    budget = record.budget.part
    small = replace(small_budget(budget, settings), stop=stop)
    if is_for_run(record.expected, budget, settings):
        with refusing():
            return _became_run(lake, game, puzzle, record, settings)
    ask = record.question.ask
    try:
        with span("kernel", game=game.name, ask=str(ask)):
            outcome = solve_whole(game, puzzle, ask, small, settings)
    except PermanentError as error:
        outcome = invalid_outcome(error)
    except NightgridError:
        raise
    except Exception as error:
        if small.stopped is not None:
            return end_stopped(lake, record, small.stopped)
        if isinstance(error, OSError):
            raise system_refusal(error) from error
        raised = exception_reason(error)
        write_record(lake, replace(record, failure=raised, worker=None))
        raise _FailedError(raised.sentence) from error
    if small.stopped is not None and outcome.status is Status.OVER_BUDGET:
        return end_stopped(lake, record, small.stopped)
    with refusing():
        is_long = outcome.reason_code is ReasonCode.SOLUTION_BYTES
        is_small = outcome.status is not Status.OVER_BUDGET
        if is_small or (small == budget and not is_long):
            return file_outcome(lake, game, puzzle, record, outcome)
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
    split: Any = record.split or settings.split
    run_id = plan_job(
        lake,
        game,
        puzzle,
        record.question.ask,
        record.budget,
        worker_count=settings.batch_processes,
        expected_s=max(spent_s, expected_s),
        split=split,
    )
    write_record(lake, replace(record, run_id=run_id))
    return {"job_id": record.job_id, "state": "run", "run_id": run_id}


class _FailedError(TransientError):
    """The solver raised: an attempt that counts."""

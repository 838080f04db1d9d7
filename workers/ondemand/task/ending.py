"""How a job on demand ends: its outcome filed, or stopped without one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words.binding import open_game
from nightgrid.archive.words.dictionaries import with_words
from nightgrid.solvers.algebra import Outcome, Statistics, Status
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.workers.metrics import count_rows
from nightgrid.workers.ondemand.answers import answer_of, put_answer
from nightgrid.workers.ondemand.cancelling import expire
from nightgrid.workers.ondemand.jobs.rows import close_record
from nightgrid.workers.ondemand.record import BadRecordError, Record
from nightgrid.workers.ondemand.record_files import read_record, write_record
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.runs.status import cancel_run
from nightgrid.workers.tracing import span


def file_outcome(
    lake: Lake,
    game: Game[Any, Any],
    puzzle: Any,
    record: Record,
    outcome: Outcome[Any],
    *,
    is_worked: bool = True,
) -> dict[str, Any]:
    """File the outcome: solutions first, then the result that says it is done.

    What it took counts among the figures if it `is_worked` just now. Returns what the task reports.
    """
    answer = answer_of(game, puzzle, record.question, record.budget, outcome)
    with span("file", status=str(outcome.status)):
        put_answer(lake, answer)
    took = outcome.statistics if is_worked else Statistics()
    count_rows(game.name, {str(outcome.status): 1}, took.states, took.kernel_ns)
    close_record(lake, record.job_id, answer.row)
    return {"job_id": record.job_id, "state": "done", "status": str(outcome.status)}


def end_stopped(lake: Lake, record: Record, why: ReasonCode) -> dict[str, Any]:
    """Leave a job without an answer: it ended while it was worked, or its time is over.

    Returns what the task reports of it.
    """
    if why is ReasonCode.DEADLINE:
        with suppress(BadRecordError):
            now = read_record(lake, record.job_id)
            if now is not None and not now.is_late:
                # Another client wants it for longer: the keeper sends it again.
                write_record(lake, replace(now, attempts=record.attempts - 1, worker=None))
                return {"job_id": record.job_id, "state": "queued"}
        expire(lake, record)
    return {"job_id": record.job_id, "state": "ended"}


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
    file_outcome(lake, game, puzzle, replace(record, question=question), over, is_worked=False)

"""What a message on demand asks, and the record of the job that it is about."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.asked import find_asked
from nightgrid.archive.words.binding import game_of
from nightgrid.archive.words.dictionaries import with_words
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.errors import PermanentError, RefusalError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import Question
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.jobs.rows import find_row
from nightgrid.workers.ondemand.jobs.submitting import MESSAGE_KEYS
from nightgrid.workers.ondemand.record import UNSAID, BadRecordError, Record
from nightgrid.workers.ondemand.record_files import read_ended, read_record, record_path
from nightgrid.workers.settings import Settings


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
    job = question.job_id(game.subject(puzzle))
    if job != message["job_id"]:
        raise PermanentError(
            f"job {message['job_id']!r:.40} is {job} to this worker; expected the same solver "
            "version on both sides"
        )
    return game, puzzle, question, Budget(**message["budget"]), job


def wanted_record(
    lake: Lake, message: Mapping[str, Any], puzzle_id: str, budget: Budget, settings: Settings
) -> Record | None:
    """Read what is wanted of the job of a message; None: nothing any more.

    A message whose record is gone or damaged says itself what is wanted. Raises RefusalError where
    the lake knows neither the job nor its puzzle: a copy of a lake has its id, and workers of the
    copy get its messages.
    """
    job = message["job_id"]
    with suppress(BadRecordError):
        record = read_record(lake, job)
        if record is not None:
            return record
        if lake.exists(record_path(job)) or read_ended(lake, job) is not None:
            return None
        # A submitter keeps the puzzle before it makes the record.
        if find_asked(lake, puzzle_id) is None and find_row(lake, job) is None:
            raise RefusalError(
                f"puzzle {puzzle_id} was never asked in this lake: expected the lake of job {job}, "
                "and not another one with the same id, such as a copy"
            )
    return Record(
        job_id=job,
        question=Question.from_json({**UNSAID, **message}),
        puzzle=message["puzzle"],
        budget=JobBudget.of(settings, budget),
        submitted_at=time.time(),
    )

"""What a message on demand asks, and the record of the job that it is about."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words.binding import game_of
from nightgrid.archive.words.dictionaries import with_words
from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.errors import PermanentError, RefusalError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import Question
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.jobs.rows import ends, find_row
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
    job = question.job_id(game.puzzle_id(puzzle))
    if job != message["job_id"]:
        raise PermanentError(
            f"job {message['job_id']!r:.40} is {job} to this worker; expected the same solver "
            "version on both sides"
        )
    return game, puzzle, question, Budget(**message["budget"]), job


def wanted_record(
    lake: Lake, message: Mapping[str, Any], budget: Budget, settings: Settings
) -> Record | None:
    """Read what is wanted of the job of a message; None: nothing any more.

    A message whose record is damaged says itself what is wanted. Raises RefusalError where the lake
    has neither a record nor an answer: a copy of a lake has its id, and gets its messages as well.
    """
    job = message["job_id"]
    told = Record(
        job_id=job,
        question=Question.from_json({**UNSAID, **message}),
        puzzle=message["puzzle"],
        budget=JobBudget.of(settings, budget),
        submitted_at=time.time(),
    )
    try:
        record = read_record(lake, job)
    except BadRecordError:
        return told
    if record is not None:
        return record
    if lake.exists(record_path(job)) or read_ended(lake, job) is not None:
        return None
    row = find_row(lake, job)
    if row is None or not ends(row, told):
        raise RefusalError(
            f"job {job} was not asked in this lake: expected the lake of its submitter, and not "
            "another one with the same id, such as a copy"
        )
    return told

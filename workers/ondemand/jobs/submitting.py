"""Submit jobs on demand: answered from the lake if known, else by one task, or by a run if large.

A submitted job is a record in the lake (nightgrid.workers.ondemand.record_files) until it ends; the
message on the queue `interactive` is only what gets it worked soon.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from celery import Celery

from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.asked import AskedPuzzle, keep_asked
from nightgrid.archive.words.binding import bind_game, keep_game, lexicon_for
from nightgrid.archive.words.dictionaries import LakeDictionaries, keep_dictionary
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.canonical import canonical_json
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.question import QUESTION_FIELDS, question_of
from nightgrid.solvers.registry import DEFAULT_GAME, check_ask
from nightgrid.workers.app import SOLVE_ONDEMAND, client_app
from nightgrid.workers.broker.queues import INTERACTIVE
from nightgrid.workers.broker.queues import send as publish
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.jobs.rows import answers, find_row
from nightgrid.workers.ondemand.record import BadRecordError, Record, without_words
from nightgrid.workers.ondemand.record_files import (
    create_record,
    drop_over,
    raise_limits,
    read_record,
    record_path,
    set_aside,
)
from nightgrid.workers.runs.interests import add_interest, interest_name
from nightgrid.workers.runs.plan.open_jobs import Split
from nightgrid.workers.runs.plan.planner import plan_run
from nightgrid.workers.runs.retry import Retry
from nightgrid.workers.runs.status import resume_run
from nightgrid.workers.settings import Settings, load_settings

Row = Mapping[str, Any]
"""A row of the table `results`."""
MESSAGE_KEYS = frozenset({"job_id", *QUESTION_FIELDS, "budget", "puzzle"})
SUBMIT_TRIES = 5
"""How often a submitter looks again at a job that other processes end and begin meanwhile."""


def submit(
    lake: Lake,
    puzzle: Any,
    ask: Ask,
    *,
    game: str = DEFAULT_GAME,
    rules: str = "",
    lexicon: Lexicon | None = None,
    budget: Budget | None = None,
    settings: Settings | None = None,
    deadline_at: float | None = None,
    interest: str = "",
    split: str = "",
) -> str:
    """Ask for a puzzle to be solved soon; return the job's id.

    A word game without a lexicon is played with the words that the board brings along, which
    travel through the lake, or with the default one. Costs no task when the lake knows
    the answer or the job is under way; one that is under way gets the larger of the two budgets.
    What the lake calls poison is asked again, and what was refused or cancelled. `interest` tells
    the client from others that want the same (nightgrid.workers.runs.interests). `split` (auto,
    ahead or never) goes before the settings. After `deadline_at`, Unix time, the answer is not
    wanted any more.

    Raises TransientError when the broker is dead: the job is wanted all the same, since another
    submitter may rely on it, and the keeper sends it.
    """
    settings = settings or load_settings()
    check_ask(ask, game)
    words = None if ask.kind == "meant" else lexicon_for(game, puzzle, lexicon)
    bound = bind_game(game, rules, words, ask=ask)
    question = question_of(bound, ask)
    record = Record(
        job_id=question.job_id(bound.subject(puzzle)),
        question=question,
        puzzle=without_words(bound.puzzle_to_json(puzzle), puzzle),
        budget=JobBudget.of(settings, budget),
        submitted_at=time.time(),
        deadline_at=deadline_at,
        split=split or ("" if settings.split == "auto" else settings.split),
    )
    name = interest or interest_name()
    row = find_row(lake, record.job_id)
    if _is_taken_care_of(lake, record, name, row):
        return record.job_id
    known = LakeDictionaries(lake)
    keep_dictionary(lake, puzzle, known)
    keep_asked(lake, [AskedPuzzle(bound.puzzle_id(puzzle), game, dict(record.puzzle))])
    if len(canonical_json(record.puzzle)) > settings.tuning.ondemand_message_bytes:
        run_id = plan_job(lake, bound, puzzle, ask, record.budget)
        record = replace(record, run_id=run_id)
    else:
        keep_game(lake, bound)
    is_new = _want(lake, record, name, row)
    # Retention may have dropped the words before it could know that they are needed.
    keep_dictionary(lake, puzzle, known)
    if is_new and record.run_id is None:
        send(record.message, settings)
    return record.job_id


def _is_taken_care_of(lake: Lake, record: Record, interest: str, row: Row | None) -> bool:
    """Tell whether the lake answers what a submitter wants, or it is under way."""
    if row is not None and answers(row, record.budget):
        return True
    try:
        there = read_record(lake, record.job_id)
    except BadRecordError:
        return False
    if there is None or not there.covers(record):
        return False
    return _joins(lake, there, interest)


def _joins(lake: Lake, there: Record, interest: str) -> bool:
    """Add an interest to a submission; tell whether it is open still: it may just end."""
    add_interest(lake, there.job_id, there.submitted_at, interest)
    try:
        now = read_record(lake, there.job_id)
    except BadRecordError:
        return False
    return now is not None and now.submitted_at == there.submitted_at


def _want(lake: Lake, record: Record, interest: str, row: Row | None) -> bool:
    """Keep that a job is wanted; tell whether it was not before.

    `row` is the result that it had a moment ago. What another process answers meanwhile ends this
    submission as well: the worker that takes its message finds the answer. One that has become a
    run sends no message, and planning it took a while: so it is looked up once more.
    """
    job = record.job_id
    for attempt in range(SUBMIT_TRIES):
        if attempt or record.run_id is not None:
            row = find_row(lake, job)
        if row is not None and answers(row, record.budget):
            return False
        if create_record(lake, replace(record, besides=row["run_id"] if row else None)):
            add_interest(lake, job, record.submitted_at, interest)
            return True
        try:
            there = read_record(lake, job)
        except BadRecordError:
            set_aside(lake, record_path(job))
            continue
        if there is None:
            # It has just ended, or a killed process has left the record of what had.
            drop_over(lake, job)
        elif (there.covers(record) or raise_limits(lake, there, record)) and _joins(
            lake, there, interest
        ):
            return False
    raise TransientError(f"job {job} is ended and submitted by others at the same time")


def plan_job(
    lake: Lake,
    game: Game[Any, Any],
    puzzle: Any,
    ask: Ask,
    budget: JobBudget,
    *,
    worker_count: int = 2,
    expected_s: float = 0.0,
    split: Split = "auto",
) -> str:
    """Plan a run of one job, or take up the one that was cancelled; return its id.

    `expected_s` is what the job is expected to take, in seconds of one core: an estimate that
    replaces a smaller one by its size. From a second on the job is divided for so many workers.
    """
    table = puzzles_table(game, [puzzle])
    # What a run has called poison is asked again.
    run_id = plan_run(
        lake,
        game,
        table,
        ask,
        budget.part,
        retry=Retry.POISON,
        solution_bytes=budget.solution_bytes,
        worker_count=worker_count,
        expected_s=expected_s,
        split=split,
    )
    resume_run(lake, run_id)
    return run_id


def send(message: Mapping[str, Any], settings: Settings) -> None:
    """Put a job on the queue. Raises TransientError when the broker is dead."""
    body = {key: message[key] for key in MESSAGE_KEYS}
    publish(client_of(settings), SOLVE_ONDEMAND, INTERACTIVE, message["job_id"], body)


@lru_cache(maxsize=8)
def client_of(settings: Settings) -> Celery:
    """Make what sends messages, once for settings."""
    return client_app(settings)

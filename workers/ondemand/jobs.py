"""On-demand solves: answered from the lake if known, else by one task, or by a run if large.

A submitted job is a record in the lake (nightgrid.workers.ondemand.records) until it ends; the
message on the queue `interactive` is only what gets it worked soon.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from celery import Celery

from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.asked import AskedPuzzle, keep_asked
from nightgrid.archive.results.results import find_results, solution_tables
from nightgrid.archive.words.binding import bind_game, keep_game, lexicon_for, open_game
from nightgrid.archive.words.dictionaries import LakeDictionaries, keep_dictionary
from nightgrid.solvers.algebra import Ask, Budget, Game, Status, canonical_json
from nightgrid.solvers.errors import (
    PermanentError,
    TransientError,
)
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.question import QUESTION_FIELDS, question_of
from nightgrid.solvers.reasons import ReasonCode
from nightgrid.solvers.registry import DEFAULT_GAME, check_ask
from nightgrid.workers.app import SOLVE_ONDEMAND, client_app
from nightgrid.workers.broker.queues import INTERACTIVE
from nightgrid.workers.broker.queues import send as publish
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.record import BadRecordError, Record, check_job_id
from nightgrid.workers.ondemand.records import (
    create_record,
    delete_record,
    drop_over,
    is_set_aside,
    raise_limits,
    read_ended,
    read_record,
    record_path,
    set_aside,
    write_record,
)
from nightgrid.workers.ondemand.wishes import add_wish, wish_name
from nightgrid.workers.runs.job_keys import FINAL
from nightgrid.workers.runs.manifest import done_places, open_run, read_done
from nightgrid.workers.runs.notes import is_cancelled, take_up_run
from nightgrid.workers.runs.plan.planner import plan_run
from nightgrid.workers.runs.retry import Retry
from nightgrid.workers.settings import Settings, load_settings

RESULT_POLL_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_FINAL = frozenset(FINAL.to_pylist())
MESSAGE_KEYS = frozenset({"job_id", *QUESTION_FIELDS, "budget", "puzzle"})
SUBMIT_TRIES = 5
"""How often a submitter looks again at a job that other processes end and begin meanwhile."""

JobState = Literal[
    "done", "queued", "working", "run", "refused", "cancelled", "expired", "damaged", "unknown"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """Where an on-demand job is."""

    job_id: str
    state: JobState
    """`done`: the result is in the lake. `queued`: no worker has begun. `working`: a worker has.
    `run`: it was too large for one task. `refused`: no worker could work it. `cancelled`: a person
    did not want it any more. `expired`: its deadline passed. `damaged`: what lies in the place of
    its record is none. `unknown`: never submitted, and no result. The next submission asks again
    what has no result."""
    age_s: float | None = None
    """Seconds since it was submitted."""
    attempts: int = 0
    run_id: str | None = None
    chunks_done: int | None = None
    chunks_total: int | None = None
    reason: str = ""
    """Why it is refused, cancelled, expired or damaged, in one sentence."""


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
    wish: str = "",
    split: str = "",
) -> str:
    """Ask for a puzzle to be solved soon; return the job's id.

    A word game without a lexicon is played with the words that the board brings along, which
    travel through the lake, or with the default one. Costs no task when the lake knows
    the answer or the job is under way; one that is under way gets the larger of the two budgets.
    What the lake calls poison is asked again, and what was refused or cancelled. `wish` names the
    client among those that want the same (nightgrid.workers.ondemand.wishes). `split` (auto,
    ahead or never) goes before the settings. After `deadline_at`, Unix time, the answer is not
    wanted any more.

    Raises TransientError when the broker is dead: the job is wanted all the same, since another
    submitter may rely on it, and the keeper sends it.
    """
    settings = settings or load_settings()
    check_ask(ask, game)
    bound = bind_game(game, rules, lexicon_for(game, puzzle, lexicon))
    question = question_of(bound, ask)
    record = Record(
        job_id=question.job_id(bound.puzzle_id(puzzle)),
        question=question,
        puzzle=_without_words(bound.puzzle_to_json(puzzle), puzzle),
        budget=JobBudget.of(settings, budget),
        submitted_at=time.time(),
        deadline_at=deadline_at,
        split=split or ("" if settings.split == "auto" else settings.split),
    )
    name = wish or wish_name()
    if _is_taken_care_of(lake, record, name):
        return record.job_id
    keep_dictionary(lake, puzzle)
    keep_asked(lake, [AskedPuzzle(bound.puzzle_id(puzzle), game, dict(record.puzzle))])
    if len(canonical_json(record.puzzle)) > settings.ondemand_message_bytes:
        run_id = plan_job(lake, bound, puzzle, ask, record.budget)
        record = replace(record, run_id=run_id)
    else:
        keep_game(lake, bound)
    if _want(lake, record, name) and record.run_id is None:
        send(record.message, settings)
    return record.job_id


def is_answered(lake: Lake, job_id: str, settings: Settings, budget: Budget | None = None) -> bool:
    """Tell whether the lake has the answer that a submitter with this budget would get."""
    row = find_row(lake, job_id)
    return row is not None and _answers(row, JobBudget.of(settings, budget))


def _is_taken_care_of(lake: Lake, record: Record, wish: str) -> bool:
    """Tell whether the lake answers what a submitter wants, or it is under way."""
    row = find_row(lake, record.job_id)
    if row is not None and _answers(row, record.budget):
        return True
    try:
        there = read_record(lake, record.job_id)
    except BadRecordError:
        return False
    if there is None or not there.covers(record):
        return False
    return _joins(lake, there, wish)


def _joins(lake: Lake, there: Record, wish: str) -> bool:
    """Add a wish to a submission; tell whether it is open still: the last wish may just end it."""
    add_wish(lake, there.job_id, there.submitted_at, wish)
    try:
        now = read_record(lake, there.job_id)
    except BadRecordError:
        return False
    return now is not None and now.submitted_at == there.submitted_at


def _want(lake: Lake, record: Record, wish: str) -> bool:
    """Keep that a job is wanted; tell whether it was not before."""
    job = record.job_id
    for _ in range(SUBMIT_TRIES):
        row = find_row(lake, job)
        if row is not None and _answers(row, record.budget):
            return False
        if create_record(lake, replace(record, besides=row["run_id"] if row else None)):
            add_wish(lake, job, record.submitted_at, wish)
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
            lake, there, wish
        ):
            return False
    raise TransientError(f"job {job} is ended and submitted by others at the same time")


def _answers(row: Mapping[str, Any], budget: JobBudget) -> bool:
    """Tell whether a result row is what a submitter with this budget would get.

    Over budget is so if the row says that it could spend as much.
    """
    if row["status"] in _FINAL:
        return True
    had = JobBudget.of_row(row)
    if row["status"] != Status.OVER_BUDGET or had is None:
        return False
    return had.covers(budget) or not _is_of_budget(row)


def ends(row: Mapping[str, Any], record: Record) -> bool:
    """Tell whether a result row ends a submission.

    It does not if it was there before and said too little, or if it is over a smaller budget.
    """
    if row["status"] in _FINAL:
        return True
    if row["run_id"] == record.besides:
        return False
    had = JobBudget.of_row(row)
    is_over = row["status"] == Status.OVER_BUDGET and _is_of_budget(row)
    return not is_over or had is None or had.covers(record.budget)


def _is_of_budget(row: Mapping[str, Any]) -> bool:
    """Tell whether a larger budget may change what a row says."""
    code = row["reason_code"]
    return code is None or code == ReasonCode.SOLUTION_BYTES or ReasonCode(code).is_budget


def close_record(lake: Lake, job_id: str, row: Mapping[str, Any]) -> bool:
    """End a job with its row; tell whether that ends it: its budget may have been raised.

    What is wanted then is sent again by the keeper.
    """
    try:
        record = read_record(lake, job_id)
    except BadRecordError:
        record = None
    if record is None or ends(row, replace(record, besides=None)):
        delete_record(lake, job_id)
        return True
    write_record(lake, replace(record, run_id=None, attempts=0, worker=None, failure=None))
    return False


def send(message: Mapping[str, Any], settings: Settings) -> None:
    """Put a job on the queue. Raises TransientError when the broker is dead."""
    body = {key: message[key] for key in MESSAGE_KEYS}
    publish(client_of(settings), SOLVE_ONDEMAND, INTERACTIVE, message["job_id"], body)


@lru_cache(maxsize=8)
def client_of(settings: Settings) -> Celery:
    """Make what sends messages, once for settings."""
    return client_app(settings)


def status(lake: Lake, job_id: str) -> JobStatus:
    """Tell where a job is."""
    check_job_id(job_id)
    try:
        record = read_record(lake, job_id)
    except BadRecordError as error:
        if find_row(lake, job_id) is not None:
            return JobStatus(job_id=job_id, state="done")
        return JobStatus(job_id=job_id, state="damaged", reason=str(error))
    if record is None:
        return _status_without_record(lake, job_id)
    if record.run_id is None:
        row = find_row(lake, job_id)
        if row is not None and ends(row, record):
            return JobStatus(job_id=job_id, state="done")
    return status_of(lake, record)


def _status_without_record(lake: Lake, job_id: str) -> JobStatus:
    if find_row(lake, job_id) is not None:
        return JobStatus(job_id=job_id, state="done")
    ended = read_ended(lake, job_id)
    if ended is not None:
        return JobStatus(
            job_id=job_id,
            state=ended.end,
            attempts=ended.attempts,
            run_id=ended.run_id,
            reason=ended.reason,
        )
    if is_set_aside(lake, job_id):
        aside = "its record was damaged, and set aside; submit it again"
        return JobStatus(job_id=job_id, state="damaged", reason=aside)
    return JobStatus(job_id=job_id, state="unknown")


def status_of(lake: Lake, record: Record) -> JobStatus:
    """Tell how far a job is that has no result of a task."""
    found = JobStatus(
        job_id=record.job_id,
        state="working" if record.worker else "queued",
        age_s=max(0.0, time.time() - record.submitted_at),
        attempts=record.attempts,
        run_id=record.run_id,
    )
    if found.run_id is None:
        return found
    try:
        if read_done(lake, found.run_id) is not None:
            row = find_row(lake, record.job_id)
            is_done = row is None or ends(row, record)
            return replace(found, state="done" if is_done else "queued", attempts=0)
        if is_cancelled(lake, found.run_id):
            return replace(found, state="cancelled", reason="its run is cancelled")
        run = open_run(lake, found.run_id)
    except PermanentError as error:
        return replace(found, state="run", reason=str(error))
    return replace(
        found,
        state="run",
        chunks_done=len(done_places(lake, found.run_id)),
        chunks_total=len(run.chunks()),
    )


def result(lake: Lake, job_id: str, *, timeout_s: float = 0.0) -> dict[str, Any] | None:
    """Read a job's result row with its solutions, or None if it is not there in time.

    `solutions` is a list of JSON values in canonical order, empty for a count: what has very many
    is better read row by row (`result_row`, nightgrid.archive.results.results.solution_tables).
    Raises PermanentError as `result_row` does.
    """
    row = result_row(lake, job_id, timeout_s=timeout_s)
    if row is None:
        return None
    tables = solution_tables(lake, row)
    texts = (text for table in tables for text in table.column("solution").to_pylist())
    return {**row, "solutions": [json.loads(text) for text in texts]}


def result_row(lake: Lake, job_id: str, *, timeout_s: float = 0.0) -> dict[str, Any] | None:
    """Read a job's result row, or None if it is not there in time.

    A job that ended without an answer is not waited for. Raises PermanentError for a job that was
    never submitted and has no result.
    """
    check_job_id(job_id)
    deadline = time.monotonic() + timeout_s
    pauses = iter(RESULT_POLL_SECONDS)
    pause = 0.0
    while True:
        row, waits = _look(lake, job_id)
        if row is not None:
            return row
        if not waits or time.monotonic() >= deadline:
            return None
        pause = next(pauses, pause)
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))


def _look(lake: Lake, job_id: str) -> tuple[dict[str, Any] | None, bool]:
    """Look for a job's answer; without one, tell whether there may be one later."""
    row = find_row(lake, job_id)
    if row is not None and row["status"] in _FINAL:
        return row, False
    try:
        record = read_record(lake, job_id)
    except BadRecordError:
        return row, False
    if record is not None:
        return (row, False) if row is not None and ends(row, record) else (None, True)
    # It may have ended just between the two looks.
    row = find_row(lake, job_id)
    if row is None and _status_without_record(lake, job_id).state == "unknown":
        raise PermanentError(f"job {job_id} was never submitted to {lake.url}")
    return row, False


def find_row(lake: Lake, job_id: str) -> dict[str, Any] | None:
    """Read the result row of a job, of a task or of a run, or None."""
    return find_rows(lake, [job_id]).get(job_id)


def find_rows(lake: Lake, job_ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Read the result rows of jobs that have one, by job, in one look at the lake."""
    if not job_ids:
        return {}
    rows = find_results(lake, job_ids).to_pylist()
    for row in rows:
        row["count"] = None if row["count"] is None else int(row["count"])
    return {row["job_id"]: row for row in rows}


def _without_words(value: dict[str, Any], puzzle: Any) -> dict[str, Any]:
    """Put the id of a board's own words in their place."""
    if value.get("dictionary") is None:
        return value
    rest = {name: item for name, item in value.items() if name != "dictionary"}
    return {**rest, "dictionary_id": puzzle.dictionary_id}


def with_words(lake: Lake, value: Any) -> Any:
    """Put the words back. Raises PermanentError when the lake does not have them."""
    if not isinstance(value, dict) or "dictionary_id" not in value:
        return value
    rest = {name: item for name, item in value.items() if name != "dictionary_id"}
    return {**rest, "dictionary": LakeDictionaries(lake)(str(value["dictionary_id"]))}


def plan_job(lake: Lake, game: Game[Any, Any], puzzle: Any, ask: Ask, budget: JobBudget) -> str:
    """Plan a run of one job, or take up the one that was cancelled; return its id."""
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
    )
    take_up_run(lake, run_id)
    return run_id


def puzzle_id_of(lake: Lake, record: Record) -> str:
    """Tell the puzzle that a record is about. Raises PermanentError for one that is none."""
    game = open_game(lake, record.question.game)
    return game.puzzle_id(game.puzzle_from_json(with_words(lake, record.puzzle)))

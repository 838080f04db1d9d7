"""On-demand solves: answered from the lake if known, else by one task, or by a run if large.

A submitted job is a record in the lake, `runs/ondemand/<job_id>.json`, until its result stands;
the message on the queue `interactive` is only what gets it worked soon.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import pyarrow as pa
from celery import Celery

from nightgrid.archive.ingest.puzzles import puzzles_table
from nightgrid.archive.lake.json_files import read_json, write_json
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS, SOLUTIONS
from nightgrid.archive.results.results import (
    ONDEMAND_PREFIX,
    RESULTS_FOLDER,
    SOLUTIONS_FOLDER,
    find_results,
    read_solutions,
)
from nightgrid.archive.words.binding import bind_game, game_of, keep_game, lexicon_for, open_game
from nightgrid.archive.words.dictionaries import LakeDictionaries, keep_dictionary
from nightgrid.solvers.algebra import Ask, Budget, Game, Outcome, Status, canonical_json
from nightgrid.solvers.errors import NightgridError, PermanentError, TransientError
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.question import QUESTION_FIELDS, Question, question_of
from nightgrid.solvers.reasons import Reason, ReasonCode
from nightgrid.solvers.registry import DEFAULT_GAME, check_ask
from nightgrid.workers.app import SOLVE_ONDEMAND, client_app
from nightgrid.workers.broker.queues import INTERACTIVE
from nightgrid.workers.broker.queues import send as publish
from nightgrid.workers.chunks.result_rows import exception_reason, poison_reason
from nightgrid.workers.chunks.solve import invalid_outcome
from nightgrid.workers.runs.finish import solution_rows
from nightgrid.workers.runs.job_keys import FINAL
from nightgrid.workers.runs.manifest import done_places, open_run, read_done
from nightgrid.workers.runs.notes import failure_from_json, failure_to_json
from nightgrid.workers.runs.plan.planner import plan_run
from nightgrid.workers.settings import Settings

RECORDS = "runs/ondemand"
RESULT_POLL_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_MESSAGE_KEYS = frozenset({"job_id", *QUESTION_FIELDS, "budget", "puzzle"})
_UNSAID = {"rules": "", "lexicon_id": "", "solver_version": ""}
"""What records and messages of earlier versions do not say. An unsaid solver is the worker's."""

JobState = Literal["done", "queued", "working", "run", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """Where an on-demand job is."""

    job_id: str
    state: JobState
    """`done`: the result is in the lake. `queued`: no worker has begun. `working`: a worker has.
    `run`: it was too large for one task. `unknown`: never submitted, and no result."""
    age_s: float | None = None
    """Seconds since it was submitted."""
    attempts: int = 0
    run_id: str | None = None
    chunks_done: int | None = None
    chunks_total: int | None = None


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
) -> str:
    """Ask for a puzzle to be solved soon; return the job's id.

    A word game without a lexicon is played with the words that the board brings along, which
    travel through the lake, or with the default one. Costs no task when the lake knows
    the answer or the job is under way. Raises TransientError when the broker is dead; then nothing
    was submitted.
    """
    settings = settings or Settings()
    check_ask(ask, game)
    bound = bind_game(game, rules, lexicon_for(game, puzzle, lexicon))
    question = question_of(bound, ask)
    job = question.job_id(bound.puzzle_id(puzzle))
    if find_row(lake, job) is not None or lake.exists(record_path(job)):
        return job
    message: dict[str, Any] = {
        "job_id": job,
        **question.to_json(),
        "budget": asdict(budget or settings.budget),
        "puzzle": _without_words(bound.puzzle_to_json(puzzle), puzzle),
    }
    record = _new_record(message)
    keep_dictionary(lake, puzzle)
    if len(canonical_json(message["puzzle"])) > settings.ondemand_message_bytes:
        record["run_id"] = _plan(lake, bound, puzzle, ask, Budget(**message["budget"]))
        write_json(lake, record_path(job), record)
        return job
    keep_game(lake, bound)
    write_json(lake, record_path(job), record)
    try:
        send(message, settings)
    except TransientError:
        lake.delete(record_path(job))
        raise
    return job


def _new_record(message: Mapping[str, Any]) -> dict[str, Any]:
    return {**message, "submitted_at": time.time(), "attempts": 0, "worker": None, "run_id": None}


def send(message: Mapping[str, Any], settings: Settings) -> None:
    """Put a job on the queue. Raises TransientError when the broker is dead."""
    full = {**_UNSAID, **message}
    body = {key: full[key] for key in _MESSAGE_KEYS}
    publish(_client(settings), SOLVE_ONDEMAND, INTERACTIVE, message["job_id"], body)


@lru_cache(maxsize=8)
def _client(settings: Settings) -> Celery:
    return client_app(settings)


def status(lake: Lake, job_id: str) -> JobStatus:
    """Tell where a job is."""
    _check_id(job_id)
    record = read_json(lake, record_path(job_id))
    if record is None or lake.exists(_result_path(job_id)):
        known = find_row(lake, job_id) is not None
        return JobStatus(job_id=job_id, state="done" if known else "unknown")
    found = JobStatus(
        job_id=job_id,
        state="working" if record["worker"] else "queued",
        age_s=max(0.0, time.time() - record["submitted_at"]),
        attempts=record["attempts"],
        run_id=record["run_id"],
    )
    if found.run_id is None:
        return found
    if read_done(lake, found.run_id) is not None:
        return replace(found, state="done", attempts=0)
    return replace(
        found,
        state="run",
        chunks_done=len(done_places(lake, found.run_id)),
        chunks_total=len(open_run(lake, found.run_id).chunks()),
    )


def result(lake: Lake, job_id: str, *, timeout_s: float = 0.0) -> dict[str, Any] | None:
    """Read a job's result row with its solutions, or None if it is not there in time.

    `solutions` is a list of JSON values in canonical order, empty for a count. Raises
    PermanentError for a job that was never submitted and has no result.
    """
    _check_id(job_id)
    deadline = time.monotonic() + timeout_s
    pauses = iter(RESULT_POLL_SECONDS)
    pause = 0.0
    while True:
        row = find_row(lake, job_id)
        if row is not None:
            listed = row["ask"] != str(Ask(kind="count"))
            found = read_solutions(lake, job_id, run_id=row["run_id"]) if listed else []
            return {**row, "solutions": found}
        if not lake.exists(record_path(job_id)) and find_row(lake, job_id) is None:
            raise PermanentError(f"job {job_id} was never submitted to {lake.url}")
        if time.monotonic() >= deadline:
            return None
        pause = next(pauses, pause)
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))


def find_row(lake: Lake, job_id: str) -> dict[str, Any] | None:
    """Read the result row of a job, of a task or of a run, or None."""
    path = _result_path(job_id)
    rows = lake.read_table(path, RESULTS).to_pylist() if lake.exists(path) else []
    if not rows or rows[0]["status"] not in FINAL.to_pylist():
        # Runs may say more. Results are sorted by job_id, so few row groups are read.
        rows = find_results(lake, [job_id], of_runs=True).to_pylist() or rows
    if not rows:
        return None
    row: dict[str, Any] = rows[0]
    row["count"] = None if row["count"] is None else int(row["count"])
    return row


def solve_message(
    lake: Lake, message: Mapping[str, Any], settings: Settings, worker: str
) -> dict[str, Any]:
    """Work one on-demand job: solve it, or plan a run for it; leave its result in the lake.

    The attempt is counted in the lake before the work begins; over the cap the job is poison.
    Raises PermanentError for a message that is not one of ours.
    """
    game, puzzle, question, budget, job = _read_message(lake, message)
    ask = question.ask
    if find_row(lake, job) is not None:
        return {"job_id": job, "state": "done"}
    record = read_json(lake, record_path(job)) or _new_record(message)
    if record["run_id"] is not None:
        return {"job_id": job, "state": "run", "run_id": record["run_id"]}
    if record["attempts"] >= settings.attempts_max:
        # An attempt without a failure is one whose process did not live to tell.
        told = record.get("failure")
        failure = Reason(code=ReasonCode.WORKER_LOST) if not told else failure_from_json(told)
        why = poison_reason(failure, record["attempts"])
        poison: Outcome[Any] = Outcome(
            status=Status.POISON, reason_code=why.code, reason=why.sentence
        )
        return _file(lake, game, puzzle, question, job, poison)
    record |= {"attempts": record["attempts"] + 1, "worker": worker, "started_at": time.time()}
    write_json(lake, record_path(job), record)
    small = replace(
        budget,
        table_bytes=min(budget.table_bytes, settings.ondemand_table_bytes),
        seconds=min(budget.seconds, settings.ondemand_seconds),
    )
    try:
        outcome = game.solve(puzzle, ask, None, small)
    except PermanentError as error:
        outcome = invalid_outcome(error)
    except NightgridError:
        raise
    except Exception as error:
        raised = exception_reason(error)
        record |= {"failure": failure_to_json(raised), "worker": None}
        write_json(lake, record_path(job), record)
        raise TransientError(raised.sentence) from error
    if outcome.status is Status.OVER_BUDGET and small != budget:
        record["run_id"] = _plan(lake, game, puzzle, ask, budget)
        write_json(lake, record_path(job), record)
        return {"job_id": job, "state": "run", "run_id": record["run_id"]}
    return _file(lake, game, puzzle, question, job, outcome)


def _read_message(
    lake: Lake, message: Mapping[str, Any]
) -> tuple[Game[Any, Any], Any, Question, Budget, str]:
    if set(message) | set(_UNSAID) != _MESSAGE_KEYS:
        raise PermanentError(f"expected a message with {', '.join(sorted(_MESSAGE_KEYS))}")
    question = Question.from_json({**_UNSAID, **message})
    game = game_of(lake, question)
    puzzle = game.puzzle_from_json(_with_words(lake, message["puzzle"]))
    question = replace(question, solver_version=game.solver_version)
    job = question.job_id(game.puzzle_id(puzzle))
    if job != message["job_id"]:
        raise PermanentError(
            f"job {message['job_id']!r:.40} is {job} to this worker; expected the same solver "
            "version on both sides"
        )
    return game, puzzle, question, Budget(**message["budget"]), job


def _without_words(value: dict[str, Any], puzzle: Any) -> dict[str, Any]:
    """Put the id of a board's own words in their place."""
    if value.get("dictionary") is None:
        return value
    rest = {name: item for name, item in value.items() if name != "dictionary"}
    return {**rest, "dictionary_id": puzzle.dictionary_id}


def _with_words(lake: Lake, value: Any) -> Any:
    """Put the words back. Raises PermanentError when the lake does not have them."""
    if not isinstance(value, dict) or "dictionary_id" not in value:
        return value
    rest = {name: item for name, item in value.items() if name != "dictionary_id"}
    return {**rest, "dictionary": LakeDictionaries(lake)(str(value["dictionary_id"]))}


def _plan(lake: Lake, game: Game[Any, Any], puzzle: Any, ask: Ask, budget: Budget) -> str:
    return plan_run(lake, game, puzzles_table(game, [puzzle]), ask, budget)


def _file(
    lake: Lake,
    game: Game[Any, Any],
    puzzle: Any,
    question: Question,
    job: str,
    outcome: Outcome[Any],
) -> dict[str, Any]:
    """File the outcome: solutions first, then the result that says it is done."""
    puzzle_id, run_id = game.puzzle_id(puzzle), ONDEMAND_PREFIX + job
    if outcome.solutions:
        values = map(game.solution_to_json, outcome.solutions)
        solutions = solution_rows(question, run_id, job, puzzle_id, values)
        path = f"{SOLUTIONS_FOLDER}/{run_id}.parquet"
        lake.write_table(path, pa.Table.from_pylist(solutions, SOLUTIONS))
    row = {
        "job_id": job,
        "puzzle_id": puzzle_id,
        **question.to_json(),
        "status": str(outcome.status),
        "count": outcome.count,
        "value": outcome.value,
        "reason_code": outcome.reason_code,
        "reason": outcome.reason,
        **asdict(outcome.statistics),
        "parts": 1,
        "run_id": run_id,
    }
    lake.write_table(_result_path(job), pa.Table.from_pylist([row], RESULTS))
    lake.delete(record_path(job))
    return {"job_id": job, "state": "done", "status": str(outcome.status)}


def open_records(lake: Lake) -> list[dict[str, Any]]:
    """Read the records of all jobs without a result, the oldest first."""
    records = [read_json(lake, path) for path in lake.list(RECORDS)]
    return sorted((r for r in records if r is not None), key=lambda r: float(r["submitted_at"]))


def puzzle_id_of(lake: Lake, record: Mapping[str, Any]) -> str:
    """Tell the puzzle that a record is about."""
    game = open_game(lake, record["game"])
    return game.puzzle_id(game.puzzle_from_json(_with_words(lake, record["puzzle"])))


def record_path(job_id: str) -> str:
    """Name the file that says a job is wanted."""
    return f"{RECORDS}/{job_id}.json"


def _result_path(job_id: str) -> str:
    return f"{RESULTS_FOLDER}/{ONDEMAND_PREFIX}{job_id}.parquet"


def _check_id(job_id: str) -> None:
    if len(job_id) != 32 or set(job_id) - set("0123456789abcdef"):
        raise PermanentError(f"job id is {job_id!r:.60}; expected 32 hexadecimal digits")

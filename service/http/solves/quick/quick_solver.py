"""A process that answers requests about small boards for one service: warm, and without queue.

`python -m nightgrid.service.http.solves.quick.quick_solver` reads requests as
`nightgrid.service.http.solves.quick.lines` has them, and writes a line for each: its answer with
the reply to the client, or that there is none, since a small budget was not enough, the question is
of another kind, or the work raised. Whatever it does not answer is asked in the queue, with
attempts and budgets as usual: nothing depends on this process.
"""

from __future__ import annotations

import gc
import json
import signal
import sys
import time
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.without_pandas import keep_pandas_out
from nightgrid.archive.results.asked import AskedPuzzle
from nightgrid.archive.results.statuses import FINAL
from nightgrid.archive.words.binding import bind_game, game_of
from nightgrid.service.http.guard.bodies import read_json
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves.asking.solve_request import is_light, read_request
from nightgrid.service.http.solves.quick.bounds import (
    TRY_SECONDS,
    TRY_TABLE_BYTES,
    is_small,
)
from nightgrid.service.http.solves.quick.lines import Found, Miss, QuickRequest, read_quick_request
from nightgrid.service.http.solves.solve_json import Subject, solve_json
from nightgrid.solvers.algebra import Budget, Outcome
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import Question
from nightgrid.workers.chunks.inline_solutions import solve_whole
from nightgrid.workers.chunks.solved_rows import invalid_outcome
from nightgrid.workers.logs import get_logger
from nightgrid.workers.ondemand.answers import answer_of
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.filer import to_item
from nightgrid.workers.processes import die_with_parent
from nightgrid.workers.settings import Settings, program_settings
from nightgrid.workers.tracing import begin_tracing, continued

log = get_logger("nightgrid.quick_solver")

DONE = "done"
READY = b"ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A board, and what is asked of it within which budget."""

    game: Game[Any, Any]
    puzzle: Any
    question: Question
    job_id: str
    budget: Budget


def answer(lake: Lake, settings: ServiceSettings, asked: QuickRequest) -> Found | Miss:
    """Answer a request, if a small budget gives a final answer."""
    read = _of_message if asked.is_message else _of_body
    wanted = read(lake, settings, asked.body)
    return Miss.NOT_TRIED if wanted is None else _found(settings.workers, asked, wanted)


def _of_body(lake: Lake, settings: ServiceSettings, body: bytes) -> Wanted | None:
    """Read the body of a request; None for one that is not for small boards."""
    try:
        value = read_json(body, settings.limits.depth)
        if not is_light(body, value):
            return None
        wanted = read_request(lake, settings, body, value)
    except (Problem, RequestValidationError, PermanentError):
        # The service reads it once more, and says what is wrong.
        return None
    if not is_small(wanted):
        return None
    asked = wanted.asked
    return Wanted(
        game=asked.bound,
        puzzle=asked.puzzle,
        question=asked.question,
        job_id=asked.job_id,
        budget=wanted.budget or settings.workers.budget,
    )


def _of_message(lake: Lake, _: ServiceSettings, body: bytes) -> Wanted:
    """Read a message, as the queue has them."""
    message = json.loads(body)
    question = Question.from_json(message)
    game = game_of(lake, question)
    return Wanted(
        game=game,
        puzzle=game.puzzle_from_json(message["puzzle"]),
        question=question,
        job_id=message["job_id"],
        budget=Budget(**message["budget"]),
    )


def _found(settings: Settings, asked: QuickRequest, wanted: Wanted) -> Found | Miss:
    """Solve a board, and write what its client is told and what is filed."""
    game, puzzle, question = wanted.game, wanted.puzzle, wanted.question
    with continued(asked.trace, "kernel", job=wanted.job_id):
        outcome = _outcome(settings, wanted)
    if outcome.status not in FINAL:
        return Miss.TRIED
    found = answer_of(game, puzzle, question, JobBudget.of(settings, wanted.budget), outcome)
    if found.job_id != wanted.job_id:
        return Miss.TRIED
    row, puzzle_json = found.row, game.puzzle_to_json(puzzle)
    subject = Subject(
        question=question,
        puzzle_id=row["puzzle_id"],
        puzzle=puzzle_json,
        references=asked.references,
    )
    ended_at = time.time()
    told = solve_json(
        found.job_id, DONE, subject, created_at=asked.begun_at, ended_at=ended_at, row=row
    )
    kept = AskedPuzzle(subject.puzzle_id, question.game, puzzle_json)
    return Found(
        job_id=found.job_id,
        puzzle_id=subject.puzzle_id,
        game=question.game,
        status=row["status"],
        states=row["states"],
        kernel_ns=row["kernel_ns"],
        ended_at=ended_at,
        reply=to_json(told),
        filed=to_item(found, None if asked.is_kept else kept),
    )


def _outcome(settings: Settings, wanted: Wanted) -> Outcome[Any]:
    budget = wanted.budget
    small = replace(
        budget,
        table_bytes=min(budget.table_bytes, TRY_TABLE_BYTES),
        seconds=min(budget.seconds, TRY_SECONDS),
    )
    try:
        return solve_whole(wanted.game, wanted.puzzle, wanted.question.ask, small, settings)
    except PermanentError as error:
        return invalid_outcome(error)


def warm(settings: Settings) -> None:
    """Load the kernels and the words of the games."""
    begun = time.monotonic()
    warm = []
    for name in settings.game_names:
        try:
            bind_game(name).warm()
        except Exception as error:  # noqa: BLE001 - a game that cannot be loaded must not take the others along
            log.warning("game not warm", game=name, error=f"{type(error).__name__}: {error}")
        else:
            warm.append(name)
    log.info("games warm", games=warm, seconds=round(time.monotonic() - begun, 3))


def serve(lake: Lake, settings: ServiceSettings, given: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests, a line each, until there are no more."""
    _write_line(answers, READY)
    while (asked := read_quick_request(given)) is not None:
        try:
            line = answer(lake, settings, asked).to_line()
        except Exception as error:  # noqa: BLE001 - the queue has attempts, and words for what fails
            log.warning("not answered here", error=repr(error))
            line = Miss.TRIED.to_line()
        _write_line(answers, line)


def _write_line(stream: BinaryIO, line: bytes) -> None:
    stream.write(line + b"\n")
    stream.flush()


def main() -> None:
    """Answer standard input, as a program."""
    die_with_parent()
    keep_pandas_out()
    # Ctrl-C is for the service, which closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings = program_settings()
    begin_tracing(settings.trace_url, "quick")
    # Nothing but answers may be written where they are read.
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    warm(settings)
    # What is loaded by now stays: no collection of garbage looks at it again.
    gc.collect()
    gc.freeze()
    serve(Lake.open(settings.lake), ServiceSettings(workers=settings), sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()

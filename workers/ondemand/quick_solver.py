"""A process that solves small boards for one service: warm, without queue and without lake.

`python -m nightgrid.workers.ondemand.quick_solver` reads a message a line, as the queue
`interactive` has them, and writes for each a line with its answer, or null where a small budget was
not enough or the work raised. Whatever it does not answer is asked in the queue, with attempts and
budgets as usual: nothing depends on this process.
"""

from __future__ import annotations

import gc
import json
import signal
import sys
import time
from dataclasses import replace
from typing import Any, BinaryIO, TextIO

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.without_pandas import keep_pandas_out
from nightgrid.archive.results.statuses import FINAL
from nightgrid.archive.words.binding import bind_game, game_of
from nightgrid.solvers.algebra import Budget, Outcome, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.question import Question
from nightgrid.workers.chunks.inline_solutions import solve_whole
from nightgrid.workers.chunks.solved_rows import invalid_outcome
from nightgrid.workers.logs import get_logger
from nightgrid.workers.ondemand.answers import answer_of
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.task.second_try import solve_twice_if_busy
from nightgrid.workers.processes import die_with_parent
from nightgrid.workers.settings import Settings, program_settings
from nightgrid.workers.tracing import begin_tracing, continued

log = get_logger("nightgrid.quick_solver")

TRY_SECONDS = 0.05
"""What one board may take here of a core; what takes longer is for the workers."""
TRY_LONGER_MAX = 20.0
"""How many times as long it may take where other processes have the cores."""
TRY_TABLE_BYTES = 64 * 1024**2
READY = {"ready": True}
TRACE = "trace"
"""Key of a message that names the trace which it belongs to."""


def try_message(lake: Lake, settings: Settings, message: dict[str, Any]) -> dict[str, Any] | None:
    """Solve the board of a message within a small budget; None where that gives no final answer."""
    question = Question.from_json(message)
    game = game_of(lake, question)
    puzzle = game.puzzle_from_json(message["puzzle"])
    budget = Budget(**message["budget"])
    small = replace(
        budget,
        table_bytes=min(budget.table_bytes, TRY_TABLE_BYTES),
        seconds=min(budget.seconds, TRY_SECONDS),
    )

    def solve(each: Budget) -> Outcome[Any]:
        return solve_whole(game, puzzle, question.ask, each, settings)

    try:
        # In the queue a board so small would wait for as long as the largest one before it.
        outcome = solve_twice_if_busy(solve, small, budget.seconds, longer_max=TRY_LONGER_MAX)
    except PermanentError as error:
        outcome = invalid_outcome(error)
    if outcome.status not in FINAL or outcome.status is Status.POISON:
        return None
    answer = answer_of(game, puzzle, question, JobBudget.of(settings, budget), outcome)
    if answer.job_id != message["job_id"]:
        return None
    return {"row": answer.row, "solutions": answer.solutions}


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


def serve(lake: Lake, settings: Settings, requests: BinaryIO, answers: TextIO) -> None:
    """Answer messages, a line each, until there are no more."""
    _write_line(answers, READY)
    for line in requests:
        try:
            message = json.loads(line)
            with continued(message.pop(TRACE, None), "kernel", job=message["job_id"]):
                answer = try_message(lake, settings, message)
        except Exception as error:  # noqa: BLE001 - the queue has attempts, and words for what fails
            log.warning("not answered here", error=repr(error))
            answer = None
        _write_line(answers, answer)


def _write_line(stream: TextIO, value: Any) -> None:
    stream.write(json.dumps(value, separators=(",", ":")))
    stream.write("\n")
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
    answers, sys.stdout = sys.stdout, sys.stderr
    warm(settings)
    # What is loaded by now stays: no collection of garbage looks at it again.
    gc.collect()
    gc.freeze()
    serve(Lake.open(settings.lake), settings, sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()

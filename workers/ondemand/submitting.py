"""Submit and cancel on-demand jobs."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import redis

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.words.binding import keep_game
from nightgrid.archive.words.dictionaries import add_dictionaries, words_of
from nightgrid.solvers.algebra import Ask, Budget
from nightgrid.solvers.canonical import is_id
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.question import question_of
from nightgrid.workers.broker.connection import answering, connect
from nightgrid.workers.broker.notices import wake_keeper
from nightgrid.workers.ondemand.budgets import JobBudget
from nightgrid.workers.ondemand.results import answers, find_row
from nightgrid.workers.ondemand.status import JobStatus, status
from nightgrid.workers.ondemand.submissions import (
    NAMELESS,
    End,
    Submission,
    Wanted,
    check_job_id,
    client_name,
    create_submission,
    delete_submissions,
    end_job,
    read_wanted,
    run_id_of,
)
from nightgrid.workers.runs.manifest import has_run, read_done
from nightgrid.workers.runs.status import cancel_run
from nightgrid.workers.settings import Settings
from nightgrid.workers.tracing import trace_header

BY_COMMAND = "by nightgrid cancel"
"""Recorded reason for jobs cancelled from the command line."""


def submit(
    lake: Lake,
    game: Game[Any, Any],
    puzzle: Any,
    ask: Ask,
    settings: Settings,
    *,
    budget: Budget | None = None,
    deadline_at: float | None = None,
    client: str = "",
    expected_s: float = 0.0,
) -> str:
    """Submit a puzzle to be solved soon; return the job's id.

    The game is bound to its rules and words; a board's own words are stored in the lake. A job that
    is wanted already gets the larger budget and the later deadline. Jobs that are poison, refused,
    cancelled or expired are tried again. `client` identifies this client among others that want the
    same (`client_name`). `expected_s` is the game's estimate. After `deadline_at`, Unix time, the
    answer is not wanted any more.

    Raises TransientError when the broker is dead: the job is submitted all the same, and solved
    once the broker is back.
    """
    question = question_of(game, ask)
    job_id, limits = question.job_id(game.subject(puzzle)), JobBudget.of(settings, budget)
    row = find_row(lake, job_id)
    if row is not None and answers(row, limits):
        return job_id
    submission = Submission(
        job_id=job_id,
        question=question,
        puzzle_id=game.puzzle_id(puzzle),
        puzzle=_without_words(game.puzzle_to_json(puzzle), puzzle),
        client=client or client_name(),
        budget=limits,
        submitted_at=time.time(),
        deadline_at=deadline_at,
        expected_s=expected_s,
        trace=trace_header(),
        after="" if row is None else _last_run(lake, job_id, limits, row["run_id"]),
    )
    add_dictionaries(lake, words_of([puzzle]), merges=False)
    keep_game(lake, game)
    create_submission(lake, submission)
    with answering():
        wake_keeper(_client_of(settings), settings)
    return job_id


def _without_words(value: dict[str, Any], puzzle: Any) -> dict[str, Any]:
    """Replace a board's own words by their id."""
    if value.get("dictionary") is None:
        return value
    rest = {name: item for name, item in value.items() if name != "dictionary"}
    return {**rest, "dictionary_id": puzzle.dictionary_id}


def _last_run(lake: Lake, job_id: str, budget: JobBudget, run_id: str) -> str:
    """Return the run that the next try follows: the last one that ended without an answer."""
    after = run_id if is_id(run_id) else ""
    while read_done(lake, following := run_id_of(job_id, budget, after)) is not None:
        after = following
    return after


@lru_cache(maxsize=8)
def _client_of(settings: Settings) -> redis.Redis:
    return connect(settings)


def cancel_job(lake: Lake, job_id: str, *, reason: str = BY_COMMAND) -> tuple[JobStatus, bool]:
    """Cancel a job for all clients; return its state now, and whether it was open.

    The reason tells people how it was cancelled. Chunk results of its run are kept, and the next
    submission continues from them; states and the files of an ask `all` are not. Workers stop
    within a second. Raises PermanentError for a text that is not a job id.
    """
    check_job_id(job_id)
    wanted = read_wanted(lake, job_id)
    if wanted is not None and status(lake, job_id).state != "done":
        end_with_run(lake, wanted, "cancelled", reason)
        return status(lake, job_id), True
    return status(lake, job_id), False


def leave_job(
    lake: Lake,
    job_id: str,
    client: str,
    *,
    reason: str = BY_COMMAND,
) -> tuple[JobStatus, int]:
    """Delete the submissions of a client, and cancel the job if these were the last.

    An unknown client takes back an anonymous submission, if there is one. Returns the state of the
    job now, and how many submissions are left. Raises PermanentError for a text that is not a job
    id.
    """
    check_job_id(job_id)
    wanted = read_wanted(lake, job_id)
    if wanted is not None:
        every = wanted.submissions
        nameless = [each for each in every if each.client.startswith(NAMELESS)]
        mine = [each for each in every if each.client == client] or nameless[:1]
        left = len(every) - len(mine)
        if left:
            delete_submissions(lake, mine)
            return status(lake, job_id), left
    return cancel_job(lake, job_id, reason=reason)[0], 0


def end_with_run(lake: Lake, wanted: Wanted, end: End, reason: str) -> None:
    """End a job without an answer, and cancel its run."""
    end_job(lake, wanted, end, reason)
    if has_run(lake, wanted.run_id):
        cancel_run(lake, wanted.run_id, drop_states=True)

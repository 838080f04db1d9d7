"""Puzzles that are submitted to a lake: what it does not know is sent to the workers' server."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

from nightgrid.service.asking import ask_about, submit
from nightgrid.service.cli.answers import each_puzzle, head_json
from nightgrid.service.cli.ondemand.job_sources import LakeJobs
from nightgrid.service.cli.ondemand.submission import Submission, puzzle_name
from nightgrid.service.games import bound_json
from nightgrid.service.options.reading import read_sources
from nightgrid.service.terminal.console import Exit, note
from nightgrid.solvers.errors import PermanentError, RefusalError
from nightgrid.workers.broker.lake_keys import current_id
from nightgrid.workers.cluster import server
from nightgrid.workers.ondemand.results import is_answered
from nightgrid.workers.ondemand.status import status

if TYPE_CHECKING:
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import Found
    from nightgrid.workers.settings import Settings

POLL_S = 0.5
SERVER_PATIENCE_S = 20.0
"""A server that is being started is waited for this long."""
NOTED_AFTER_S = 2.0
"""A longer wait is reported."""


def submit_here(jobs: LakeJobs, submission: Submission, lake: str | None) -> int:
    """Submit every puzzle to a lake; return the worst exit code.

    `lake` is the lake as it was given, in which references are looked up. Raises TransientError
    when a puzzle needs a server and none answers in time.
    """
    settings, store = jobs.settings, jobs.lake
    # One look is enough for all puzzles, and none is needed for what the lake knows.
    need_server = functools.cache(
        functools.partial(wait_for_server, store, settings, submission.wait_s)
    )

    def submit_one(found: Found, published: Published) -> Exit:
        name = puzzle_name(found, published)
        asked = ask_about(
            found.game, published.puzzle, submission.chosen, submission.rules, published.clue
        )
        if not is_answered(store, asked.job_id, settings):
            need_server()
        wanted_s = submission.deadline_s
        deadline_at = None if wanted_s is None else time.time() + wanted_s
        job = submit(store, asked, settings, deadline_at=deadline_at)
        state = status(store, job).state if submission.json and submission.prints_ids else ""
        value = {"ask": str(asked.ask), **bound_json(asked.bound), "job_id": job, "state": state}
        submission.print_job(job, name, head_json(found, asked.puzzle) | value)
        return Exit.OK

    sources = read_sources(
        submission.files, submission.levels, submission.game, submission.typed, lake
    )
    return each_puzzle(
        sources, submit_one, ask=submission.ask_of, json=submission.json, spaced=False
    )


def wait_for_server(lake: Lake, settings: Settings, most_s: float | None = None) -> None:
    """Wait until the server answers, and say where a new lake begins.

    Raises RefusalError after SERVER_PATIENCE_S, or after `most_s` where that is less,
    PermanentError for one that refuses us.
    """
    patience_s = SERVER_PATIENCE_S if most_s is None else min(most_s, SERVER_PATIENCE_S)
    began, is_said = time.monotonic(), False
    while not server.is_up(settings):
        refused = server.refusal(settings)
        if refused is not None:
            raise PermanentError(refused)
        waited = time.monotonic() - began
        if waited >= patience_s:
            raise RefusalError(
                f"no server answers at {server.address(settings)}: start `nightgrid worker` on "
                "this lake, or set NIGHTGRID_REDIS_URL"
            )
        if waited > NOTED_AFTER_S and not is_said:
            is_said = True
            note(f"waiting for a server at {server.address(settings)} to start")
        time.sleep(POLL_S)
    if current_id(settings) is None:
        note(
            f"there was no lake at {lake.url}, and a new one begins; if another is expected, "
            "it was deleted or is not mounted here"
        )

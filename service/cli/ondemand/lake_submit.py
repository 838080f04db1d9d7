"""Puzzles that are submitted to a lake: what it does not know is sent to the workers' server."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.asking.asked import ask_about, submit
from nightgrid.service.cli.answers import each_puzzle, head_json
from nightgrid.service.cli.ondemand.job_sources import LakeJobs
from nightgrid.service.cli.ondemand.submission import Submission, puzzle_name
from nightgrid.service.games import bound_json
from nightgrid.service.options.reading import read_sources
from nightgrid.service.terminal.console import Exit, note
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.broker.lake_keys import current_id
from nightgrid.workers.cluster import server
from nightgrid.workers.ondemand.jobs.rows import is_answered
from nightgrid.workers.ondemand.jobs.status import status
from nightgrid.workers.settings import Settings

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import Found

LOOK_EVERY_S = 0.5
SERVER_PATIENCE_S = 20.0
"""A server that is being started is waited for this long."""
NOTED_AFTER_S = 2.0
"""A wait that is longer is told."""


def submit_here(jobs: LakeJobs, submission: Submission, lake: str | None) -> int:
    """Submit every puzzle to a lake; return the worst exit code.

    `lake` is the lake as it was given, in which references are looked up. Raises TransientError
    when a puzzle needs a server and none answers in time.
    """
    settings, store = jobs.settings, jobs.lake
    # One look is enough for all puzzles, and none is needed for what the lake knows.
    need_server = functools.cache(functools.partial(_wait_for_server, store, settings))

    def submit_one(found: Found, published: Published) -> Exit:
        asked = ask_about(found.game, published.puzzle, submission.chosen, submission.rules)
        if not is_answered(store, asked.job_id, settings):
            need_server()
        job = submit(store, asked, settings)
        state = status(store, job).state if submission.json and submission.tells_ids else ""
        value = {"ask": str(asked.ask), **bound_json(asked.bound), "job_id": job, "state": state}
        name = puzzle_name(found, published)
        submission.tell(job, name, head_json(found, asked.puzzle) | value)
        return Exit.OK

    sources = read_sources(
        submission.files, submission.levels, submission.game, submission.typed, lake
    )
    return each_puzzle(
        sources, submit_one, ask=submission.ask_of, json=submission.json, spaced=False
    )


def _wait_for_server(lake: Lake, settings: Settings) -> None:
    """Wait until the server answers, and say where a new lake begins.

    Raises TransientError after SERVER_PATIENCE_S.
    """
    began, is_said = time.monotonic(), False
    while not server.is_up(settings):
        waited = time.monotonic() - began
        if waited >= SERVER_PATIENCE_S:
            raise TransientError(
                f"no server answers at {server.address(settings)}: start `nightgrid worker` on "
                "this lake, or set NIGHTGRID_REDIS_URL"
            )
        # `nightgrid worker &` in the line before has its server up in a moment.
        if waited > NOTED_AFTER_S and not is_said:
            is_said = True
            note(f"waiting for a server at {server.address(settings)} to start")
        time.sleep(LOOK_EVERY_S)
    if current_id(settings) is None:
        note(
            f"there was no lake at {lake.url}, and a new one begins; if another is expected, "
            "it was deleted or is not mounted here"
        )

"""Puzzles that are submitted to a lake: what it does not know is sent to the workers' server."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

from nightgrid.service.asking import ask_about, submit
from nightgrid.service.cli.answers import each_puzzle, head_json
from nightgrid.service.cli.ondemand.job_sources import LakeJobs
from nightgrid.service.cli.ondemand.submission import Submission, puzzle_name
from nightgrid.service.cli.ondemand.waiting_for_server import wait_for_server
from nightgrid.service.games import bound_json
from nightgrid.service.options.reading import read_sources
from nightgrid.service.terminal.console import Exit
from nightgrid.workers.ondemand.results import is_answered
from nightgrid.workers.ondemand.status import status

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import Found


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

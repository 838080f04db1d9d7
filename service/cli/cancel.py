"""`nightgrid cancel`: on-demand jobs that are not wanted any more."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from nightgrid.service.cli.jobs import named_jobs
from nightgrid.service.options.completion import open_jobs
from nightgrid.service.options.shared_options import Json, LakeOption, read_settings
from nightgrid.service.terminal.console import emit, say


def cancel(
    jobs: Annotated[
        list[str],
        typer.Argument(
            metavar="JOB|REFERENCE",
            autocompletion=open_jobs,
            help="Job ids, as `submit` printed them, or puzzles of the lake: GAME/DATE[/LEVEL], a "
            "puzzle id or its beginning.",
        ),
    ],
    lake: LakeOption = None,
    json: Json = False,
) -> int:
    """Cancel on-demand jobs: workers stop within a second, and their states leave the lake.

    A reference means every job about its puzzles that was submitted and has no result. What was
    worked of a large job is kept: submitting it again goes on from there. nightgrid count --cancel
    cancels counts. Exit code: 0 cancelled, or nothing to cancel, 3 no such job.
    """
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.workers.ondemand.cancelling import cancel_job

    settings = read_settings(lake=lake)
    store = Lake.open(settings.lake)
    named, code = named_jobs(store, jobs)
    for job, name in named.items():
        state, was_open = cancel_job(store, job, settings)
        if json:
            emit(asdict(state) | {"was_open": was_open})
            continue
        called = f"  {name}" if "/" in name else ""
        what = "; nightgrid submit asks it again" if was_open else ": nothing to cancel"
        say(f"{job}  {state.state}{what}{called}")
    return code

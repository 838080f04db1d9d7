"""`nightgrid cancel`: cancel on-demand jobs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from nightgrid.service.cli.ondemand.job_sources import JobNames, Url, jobs_at, named_jobs
from nightgrid.service.options.shared_options import Json, LakeOption
from nightgrid.service.terminal.console import emit, say

if TYPE_CHECKING:
    from nightgrid.workers.ondemand.status import JobStatus


def cancel(
    jobs: JobNames,
    lake: LakeOption = None,
    url: Url = None,
    json: Json = False,
) -> int:
    """Cancel on-demand jobs.

    Workers stop within a second. Finished parts of a large count are kept: submitting it again
    continues from there. A service (--url) cancels a job once no client wants it. Exit code: 0
    cancelled, or nothing to cancel, 3 no such job.
    """
    with jobs_at(url, lake, writes=True) as source:
        named, code = named_jobs(source, jobs)
        for job, name in named.items():
            state, was_open = source.cancel(job)
            if json:
                emit(asdict(state) | {"was_open": was_open})
                continue
            called = f"  {name}" if "/" in name else ""
            say(f"{job}  {state.state}{_came_of_it(state, was_open)}{called}")
    return code


def _came_of_it(state: JobStatus, was_open: bool) -> str:
    if not was_open:
        return ": nothing to cancel"
    if state.state == "cancelled":
        return "; nightgrid submit restarts it"
    # Other clients want it, or it ended meanwhile.
    return f": {state.reason}" if state.reason else ""

"""`nightgrid status`: the status of on-demand jobs, and of the workers."""

from __future__ import annotations

import functools
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightgrid.service.cli.ondemand.job_sources import Jobs, LakeJobs, Url, jobs_at, named_jobs
from nightgrid.service.options.shared_options import Json, LakeOption, check_is_there
from nightgrid.service.terminal.colour import console
from nightgrid.service.terminal.console import emit
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.workers.ondemand.status import JobStatus
    from nightgrid.workers.settings import Settings

WATCH_EVERY_S = 0.5
MAX_JOBS_SHOWN = 50
_AGE = re.compile(r"\d+\.\d s")
"""Values that change all the time, even if nothing happens."""


def status(
    jobs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="JOB|REFERENCE",
            help="Job ids, or puzzles of the lake: GAME/DATE[/LEVEL], or a puzzle id or a "
            "prefix of one. Default: every job without a result.",
        ),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Refresh until everything is done.")
    ] = False,
    lake: LakeOption = None,
    url: Url = None,
    json: Json = False,
) -> int:
    """Show the status of on-demand jobs and of the workers.

    A reference means every job about its puzzles. Exit code: 0, or 3 for a job that was never
    submitted and without a lake.
    """
    with jobs_at(url, lake, writes=False) as source:
        if isinstance(source, LakeJobs):
            check_is_there(source.settings)
        named, code = named_jobs(source, jobs or ())
        if jobs and not named:
            return code
        before = ""
        with _screen(moving=watch and not json) as write:
            while True:
                values, text, is_over = _jobs(source, named) if jobs else _queue(source)
                if (now := _AGE.sub("", text)) != before:
                    for value in values if json else ():
                        emit(value)
                    if not json:
                        write(text)
                before = now
                if not watch or is_over:
                    return code
                time.sleep(WATCH_EVERY_S)


@contextmanager
def _screen(*, moving: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that prints a screen: over the last one on a terminal, else below it."""
    if not (moving and sys.stdout.isatty()):
        yield functools.partial(print, flush=True)
        return
    from rich.live import Live
    from rich.text import Text

    with Live(console=console(), auto_refresh=False, vertical_overflow="visible") as live:
        yield lambda text: live.update(Text(text), refresh=True)


Look = tuple[list[dict[str, Any]], str, bool]
"""JSON values, a text, and whether nothing is left to wait for."""


def _jobs(source: Jobs, named: Mapping[str, str]) -> Look:
    """Return the status of some jobs."""
    found = [source.status(job) for job in named]
    names = (f"  {name}" if "/" in name else "" for name in named.values())
    lines = [f"{_job_text(job)}{name}" for job, name in zip(found, names, strict=True)]
    is_over = all(job.state not in ("queued", "working") for job in found)
    return [*map(asdict, found)], "\n".join(lines), is_over


def _queue(source: Jobs) -> Look:
    """Return the status of all open jobs and of the workers."""
    if isinstance(source, LakeJobs):
        return _lake_queue(source)
    queue = source.queue()
    workers = "no server"
    if queue["answers"]:
        workers = _workers_text(len(queue["workers"]), is_starting=queue["state"] == "starting")
    refusing = {each["name"]: each["refusing"] for each in queue["workers"] if each["refusing"]}
    waiting, running = queue["waiting"], queue["running"]
    lines = _queue_lines(waiting, running, queue["oldest_s"], workers, refusing)
    return [queue], "\n".join(lines), not waiting and not running


def _queue_lines(
    queued: int, working: int, oldest_s: float | None, workers: str, refusing: Mapping[str, str]
) -> list[str]:
    age = "" if oldest_s is None else f", oldest {oldest_s:.1f} s"
    lines = [f"{queued} queued, {working} working{age}; {workers}"]
    return lines + [f"{name} cannot work: {why}" for name, why in refusing.items()]


def _workers_text(alive: int, *, is_starting: bool) -> str:
    """Describe how many workers there are; none is ready while kernels are being compiled."""
    return "workers are starting" if is_starting and not alive else plural(alive, "worker")


def _lake_queue(source: LakeJobs) -> Look:
    from nightgrid.service.http.monitoring.queue_snapshot import take_snapshot
    from nightgrid.workers.broker.redis_keys import current_id, key_prefix
    from nightgrid.workers.ondemand.status import status_of
    from nightgrid.workers.ondemand.submissions import open_jobs

    settings = source.settings
    found, snapshot = open_jobs(source.lake), take_snapshot(source.lake, settings)
    every = [status_of(source.lake, wanted) for wanted in found.wanted.values()]
    jobs = [job for job in every if job.state != "done"]
    states = [job.state for job in jobs]
    alive, batch = snapshot.alive, snapshot.batch
    summary: dict[str, Any] = {
        "queued": states.count("queued"),
        "working": states.count("working"),
        "oldest_s": max((job.age_s or 0.0 for job in jobs), default=None),
        "workers": None if alive is None else len(alive),
        "starting": snapshot.starting,
        "refusing": snapshot.refusing,
        "damaged": dict(found.damaged),
        "serving": alive or {},
        "lake_id": current_id(settings),
        "key_prefix": key_prefix(settings),
        "batch": batch and asdict(batch),
    }
    workers = _no_server(settings)
    if alive is not None:
        workers = _workers_text(len(alive), is_starting=snapshot.starting)
    lines = [_job_text(job) for job in jobs[:MAX_JOBS_SHOWN]]
    if len(jobs) > MAX_JOBS_SHOWN:
        lines.append(f"and {len(jobs) - MAX_JOBS_SHOWN:,} more")
    lines += _queue_lines(
        summary["queued"], summary["working"], summary["oldest_s"], workers, snapshot.refusing
    )
    lines += [f"{path}: {why}" for path, why in found.damaged.items()]
    served = Counter(
        ", ".join(sorted(w.get("solvers", {}).values())) for w in (alive or {}).values()
    )
    lines += [
        f"lake {summary['lake_id']} is served with {solvers} by {plural(number, 'worker')}"
        for solvers, number in sorted(served.items())
        if solvers
    ]
    if batch is not None and batch.chunks_waiting:
        lines.append(
            f"batch: {plural(batch.chunks_waiting, 'chunk')} to do, {batch.queued} in the queue, "
            f"oldest {batch.oldest_s:.1f} s; processes: {batch.processes}"
        )
    return [*map(asdict, jobs), summary], "\n".join(lines), not jobs


def _no_server(settings: Settings) -> str:
    """Explain that no server answers: the embedded one need not run, a configured one should."""
    from nightgrid.workers.cluster import server

    if server.is_embedded(settings):
        # The only cause of this is a side folder other than the workers'.
        return f"no server runs at {server.address(settings)}"
    return server.refusal(settings) or f"{server.title(settings)} does not answer"


def _job_text(job: JobStatus) -> str:
    from nightgrid.workers.driver.progress import clock_time

    text = f"{job.job_id}  {job.state}"
    if job.chunks_total is not None:
        text += f", {job.chunks_done:,} of {job.chunks_total:,} chunks"
    if job.left_s:
        text += f", {clock_time(job.left_s)} of a core left"
    if job.age_s is not None:
        text += f", {job.age_s:.1f} s old"
    return f"{text}: {job.reason}" if job.reason else text

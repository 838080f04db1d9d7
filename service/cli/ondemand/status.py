"""`nightgrid status` and `result`: where on-demand jobs are, and what became of jobs."""

from __future__ import annotations

import functools
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from nightgrid.service.cli.ondemand.job_sources import Jobs, LakeJobs, Url, jobs_at, named_jobs
from nightgrid.service.options.shared_options import Json, LakeOption
from nightgrid.service.terminal.colour import console
from nightgrid.service.terminal.console import Exit, emit
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.sentences import plural

if TYPE_CHECKING:
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.workers.broker.queues import Demand
    from nightgrid.workers.ondemand.status import JobStatus
    from nightgrid.workers.settings import Settings

WATCH_EVERY_S = 0.5
MAX_JOBS_SHOWN = 50
PASSES = {"age_s": None}
"""What differs at every look at a job, also where nothing has changed."""
STARTING = "workers are starting"
Named = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="JOB|REFERENCE",
        help="Job ids, or puzzles of the lake: GAME/DATE[/LEVEL], or a puzzle id or its "
        "beginning. Default: every job without a result.",
    ),
]


def status(
    jobs: Named = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Look again until all of it is done.")
    ] = False,
    lake: LakeOption = None,
    url: Url = None,
    json: Json = False,
) -> int:
    """Show where on-demand jobs are, and who works.

    A reference means every job about its puzzles. Exit code: 0, or 3 for a job that was never
    submitted and for no lake.
    """
    from nightgrid.archive.lake.location import is_missing

    with jobs_at(url, lake, writes=False) as source:
        if isinstance(source, LakeJobs) and is_missing(source.lake.url):
            raise PermanentError(
                f"there is no lake at {source.settings.lake} yet; name one with --lake or "
                "NIGHTGRID_LAKE"
            )
        shown: Any = None
        named, code = named_jobs(source, jobs or (), keep_ids=True)
        if jobs and not named:
            return code
        with _screen(moving=watch and not json) as write:
            while True:
                look = _jobs_look(source, named) if jobs else _look(source)
                if look.seen != shown:
                    for value in look.values if json else ():
                        emit(value)
                    if not json:
                        write(look.text)
                shown = look.seen
                if not watch or look.over:
                    return max(code, look.code)
                time.sleep(WATCH_EVERY_S)


@contextmanager
def _screen(*, moving: bool) -> Iterator[Callable[[str], None]]:
    """Give what writes a look: over the one before it on a terminal, else below it."""
    if not (moving and sys.stdout.isatty()):
        yield functools.partial(print, flush=True)
        return
    from rich.live import Live
    from rich.text import Text

    with Live(console=console(), auto_refresh=False, vertical_overflow="visible") as live:
        yield lambda text: live.update(Text(text), refresh=True)


class _Look(NamedTuple):
    seen: Any
    """What has to change for the look to be shown again: all but ages."""
    values: list[dict[str, Any]]
    text: str
    over: bool
    """Whether nothing is left to wait for."""
    code: Exit = Exit.OK


def _look(source: Jobs) -> _Look:
    """Look at all jobs that are open."""
    if isinstance(source, LakeJobs):
        return _queue_look(source.lake, source.settings)
    queue = source.queue()
    return _Look(
        seen=queue | {"oldest_s": None, "batch": None},
        values=[queue],
        text=_remote_queue_text(queue),
        over=not queue["waiting"] and not queue["running"],
    )


def _remote_queue_text(queue: Mapping[str, Any]) -> str:
    oldest = queue["oldest_s"]
    age = "" if oldest is None else f", oldest {oldest:.1f} s"
    workers = _workers_text(len(queue["workers"]), is_starting=queue["state"] == "starting")
    if not queue["answers"]:
        workers = "no server"
    lines = [f"{queue['waiting']} queued, {queue['running']} working{age}; {workers}"]
    refusing = ((each["name"], each["refusing"]) for each in queue["workers"] if each["refusing"])
    lines += [f"{name} cannot work: {why}" for name, why in refusing]
    return "\n".join(lines)


def _workers_text(alive: int, *, is_starting: bool) -> str:
    """Say how many workers there are; none that is ready takes jobs while kernels are compiled."""
    return STARTING if is_starting and not alive else plural(alive, "worker")


def _jobs_look(source: Jobs, named: dict[str, str]) -> _Look:
    found = [source.status(job) for job in named]
    names = [name if "/" in name else "" for name in named.values()]
    lines = [f"{_job_text(job)}  {name}".rstrip() for job, name in zip(found, names, strict=True)]
    return _Look(
        seen=[asdict(job) | PASSES for job in found],
        values=[asdict(job) for job in found],
        text="\n".join(lines),
        over=all(job.state not in ("queued", "working") for job in found),
        code=Exit.BAD_INPUT if any(job.state == "unknown" for job in found) else Exit.OK,
    )


@dataclass(kw_only=True)
class _Server:
    """What the server knows of the workers of a lake; of one that does not answer, nothing."""

    workers: dict[str, dict[str, Any]] | None = None
    """What each living worker says of itself, by name."""
    refusing: dict[str, str] = field(default_factory=dict)
    """Why workers cannot work here, by name."""
    batch: Demand | None = None
    """What batches have to do."""


def _ask_server(settings: Settings) -> _Server:
    """Ask the server about workers."""
    import redis

    from nightgrid.workers.broker.connection import connect
    from nightgrid.workers.broker.queues import demand
    from nightgrid.workers.broker.worker_keys import living_workers, refusals

    told = _Server()
    with suppress(redis.RedisError, OSError), connect(settings) as client:
        alive = living_workers(client, settings)
        told.refusing = refusals(client, settings)
        told.batch = demand(client, settings)
        told.workers = alive
    return told


def _queue_look(store: Lake, settings: Settings) -> _Look:
    from nightgrid.workers.broker.lake_keys import current_id, key_prefix
    from nightgrid.workers.cluster.supervisor import has_begun_workers
    from nightgrid.workers.ondemand.status import status_of
    from nightgrid.workers.ondemand.submissions import open_jobs

    found = open_jobs(store)
    every = [status_of(store, wanted) for wanted in found.wanted.values()]
    jobs = [job for job in every if job.state != "done"]
    server = _ask_server(settings)
    batch = None if server.batch is None else asdict(server.batch)
    states = [job.state for job in jobs]
    summary: dict[str, Any] = {
        "queued": states.count("queued"),
        "working": states.count("working"),
        "oldest_s": max((job.age_s or 0.0 for job in jobs), default=None),
        "workers": None if server.workers is None else len(server.workers),
        "starting": server.workers == {} and has_begun_workers(settings),
        "refusing": server.refusing,
        "damaged": dict(found.damaged),
        "serving": server.workers or {},
        "lake_id": current_id(settings),
        "key_prefix": key_prefix(settings),
        "batch": batch,
    }
    ageless = [asdict(job) | PASSES for job in jobs]
    return _Look(
        seen=(
            ageless,
            replace(server, batch=None),
            summary["starting"],
            found.damaged,
            batch and batch | {"oldest_s": None},
        ),
        values=[*map(asdict, jobs), summary],
        text=_queue_text(jobs, summary, server.batch, _no_server(settings)),
        over=not jobs,
    )


def _no_server(settings: Settings) -> str:
    """Say that no server answers: the embedded one need not run, another one is expected to."""
    from nightgrid.workers.cluster import server

    if server.is_embedded(settings):
        # Another side folder than that of the workers is the one mistake that looks like this.
        return f"no server runs at {server.address(settings)}"
    return server.refusal(settings) or f"{server.title(settings)} does not answer"


def _queue_text(
    jobs: list[JobStatus], summary: dict[str, Any], batch: Demand | None, no_server: str
) -> str:
    workers = no_server
    if summary["workers"] is not None:
        workers = _workers_text(summary["workers"], is_starting=summary["starting"])
    serving = summary["serving"].values()
    oldest = summary["oldest_s"]
    age = "" if oldest is None else f", oldest {oldest:.1f} s"
    lines = [_job_text(job) for job in jobs[:MAX_JOBS_SHOWN]]
    if len(jobs) > MAX_JOBS_SHOWN:
        lines.append(f"and {len(jobs) - MAX_JOBS_SHOWN:,} more")
    lines.append(f"{summary['queued']} queued, {summary['working']} working{age}; {workers}")
    lines += [f"{worker} cannot work: {why}" for worker, why in summary["refusing"].items()]
    lines += [f"{path}: {why}" for path, why in summary["damaged"].items()]
    served = Counter(", ".join(sorted(w.get("solvers", {}).values())) for w in serving)
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
    return "\n".join(lines)


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

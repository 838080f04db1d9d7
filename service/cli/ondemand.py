"""`nightgrid submit`, `status` and `result`: solves that a queue of their own works soon."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from nightgrid.service.cli.answers import each_puzzle, head_json, say_best
from nightgrid.service.games import bound_json, view
from nightgrid.service.options.game_options import GameRules, with_game_rules, with_typed_boards
from nightgrid.service.options.shared_options import (
    Best,
    Count,
    Files,
    First,
    GameName,
    Json,
    LakeOption,
    Levels,
    chosen_ask,
    read_settings,
)
from nightgrid.service.terminal.console import (
    Exit,
    complain,
    duration,
    emit,
    exit_for,
    plural,
    say,
    say_drawing,
)
from nightgrid.solvers.algebra import Ask, Status
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.registry import check_ask, game, game_plug

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import Found
    from nightgrid.workers.broker.queues import Demand
    from nightgrid.workers.ondemand.jobs import JobStatus
    from nightgrid.workers.settings import Settings

WATCH_EVERY_S = 0.5
MAX_JOBS_SHOWN = 50
MAX_WAIT_S = 7 * 24 * 3600.0

Job = Annotated[
    str | None,
    typer.Argument(
        metavar="JOB",
        help="A job id, as `submit` printed it. Without one: every job that has no result yet.",
    ),
]


@with_typed_boards
@with_game_rules
def submit(
    *,
    files: Files = None,
    typed: Mapping[str, str],
    level: Levels = None,
    game: GameName = None,
    ask: Annotated[
        str | None,
        typer.Option(
            metavar="ASK",
            help="count (the default), first, all, all(LIMIT) or best(K); for Tiles first (the "
            "default) or best(1).",
        ),
    ] = None,
    first: First = False,
    count: Count = False,
    best: Best = None,
    rules: GameRules,
    lake: LakeOption = None,
    json: Json = False,
) -> int:
    """Queue puzzles to be solved soon, ahead of every batch, and print their job ids.

    What the lake knows already costs nothing. Workers must run: `nightgrid worker`, here or on
    other machines. Exit code: 0 submitted, 1 no server, 3 bad input.
    """
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.archive.words.binding import lexicon_of
    from nightgrid.service.options.reading import read_sources
    from nightgrid.solvers.question import question_of
    from nightgrid.workers.cluster import server
    from nightgrid.workers.ondemand import jobs as ondemand

    chosen = chosen_ask(text=ask, first=first, count=count, best=best)
    rules.check()
    settings = read_settings(lake=lake)
    store = Lake.open(settings.lake)

    @functools.cache
    def need_server() -> None:
        if not server.is_up(settings):
            raise TransientError(
                f"no server answers at {server.address(settings)}: start `nightgrid worker` on "
                "this lake, or set NIGHTGRID_REDIS_URL"
            )

    def wanted(name: str) -> Ask:
        return chosen or game_plug(name).usual_ask

    def submit_one(found: Found, published: Published) -> Exit:
        asked = wanted(found.game)
        check_ask(asked, found.game)
        puzzle, bound = rules.bind(found.game, published.puzzle)
        job = question_of(bound, asked).job_id(bound.puzzle_id(puzzle))
        if ondemand.find_row(store, job) is None:
            # What the lake knows is answered without one.
            need_server()
        job = ondemand.submit(
            store,
            puzzle,
            asked,
            game=bound.name,
            rules=bound.rules,
            lexicon=lexicon_of(bound),
            settings=settings,
        )
        if json:
            state = ondemand.status(store, job).state
            told = {"ask": str(asked), **bound_json(bound), "job_id": job, "state": state}
            emit(head_json(found, puzzle) | told)
        else:
            say(job)
        return Exit.OK

    sources = read_sources(files or [], level or (), game, typed)
    return each_puzzle(sources, submit_one, ask=wanted, json=json, spaced=False)


def status(
    job: Job = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Look again until all of it is done.")
    ] = False,
    lake: LakeOption = None,
    json: Json = False,
) -> int:
    """Show where on-demand jobs are, how old the oldest is, and who works.

    Exit code: 0, or 3 for a job that was never submitted.
    """
    from nightgrid.archive.lake.storage import Lake

    settings = read_settings(lake=lake)
    store = Lake.open(settings.lake)
    shown: Any = None
    with _screen(moving=watch and not json) as write:
        while True:
            look = _queue_look(store, settings) if job is None else _job_look(store, job)
            if json and (look.seen != shown or not watch):
                for value in look.values:
                    emit(value)
            elif look.seen != shown:
                write(look.text)
            shown = look.seen
            if not watch or look.over:
                return look.code
            time.sleep(WATCH_EVERY_S)


@contextmanager
def _screen(*, moving: bool) -> Iterator[Callable[[str], None]]:
    """Give what writes a look: over the one before it on a terminal, else below it."""
    if not (moving and sys.stdout.isatty()):
        yield functools.partial(print, flush=True)
        return
    from rich.live import Live
    from rich.text import Text

    with Live(auto_refresh=False, vertical_overflow="visible") as live:
        yield lambda text: live.update(Text(text), refresh=True)


def result(
    job: Annotated[str, typer.Argument(metavar="JOB", help="A job id, as `submit` printed it.")],
    wait: Annotated[
        float, typer.Option(min=0.0, max=MAX_WAIT_S, metavar="S", help="Wait up to S seconds.")
    ] = 0.0,
    lake: LakeOption = None,
    json: Json = False,
) -> int:
    """Print what became of a job.

    Exit code: 0 solved, 1 not there yet, 2 unsolvable, 3 bad input, 4 over budget.
    """
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.workers.ondemand import jobs as ondemand

    settings = read_settings(lake=lake)
    store = Lake.open(settings.lake)
    row = ondemand.result(store, job, timeout_s=wait)
    if row is None:
        state = ondemand.status(store, job)
        if json:
            emit(asdict(state))
        complain(f"job {job} has no result yet: it is {state.state}; --wait S waits for it")
        return Exit.FAILED
    if json:
        emit(row)
    else:
        _say_row(row)
    return exit_for(Status(row["status"]))


def _say_row(row: dict[str, Any]) -> None:
    cost = f"{duration(row['kernel_ns'])} ({plural(row['states'], 'state')})"
    ended = row["status"].replace("_", " ")
    if row["count"] is not None and row["status"] == "solved":
        ended = plural(row["count"], "solution")
    if row.get("value") is not None:
        ended += f", the best of {view(row['game']).value(row['value'], row['rules'])},"
    say(f"{row['ask']} of puzzle {row['puzzle_id']}: {ended} in {cost}")
    if row["reason"]:
        say(row["reason"])
    played = game(row["game"])
    shown = view(row["game"])
    solutions = [played.solution_from_json(value) for value in row["solutions"]]
    if Ask.parse(row["ask"]).kind == "best":
        say_best(shown, None, solutions)
        return
    for solution in solutions:
        say()
        say_drawing(shown.solution(None, solution, scored=True))


class _Look(NamedTuple):
    seen: Any
    """What has to change for the look to be shown again: all but ages."""
    values: list[dict[str, Any]]
    text: str
    over: bool
    """Whether nothing is left to wait for."""
    code: Exit = Exit.OK


def _job_look(store: Any, job: str) -> _Look:
    from nightgrid.workers.ondemand import jobs as ondemand

    status = ondemand.status(store, job)
    return _Look(
        seen=asdict(status) | {"age_s": None},
        values=[asdict(status)],
        text=_job_text(status),
        over=status.state in ("done", "unknown"),
        code=Exit.BAD_INPUT if status.state == "unknown" else Exit.OK,
    )


def _queue_look(store: Any, settings: Settings) -> _Look:
    import redis

    from nightgrid.workers.broker.queues import demand
    from nightgrid.workers.broker.redis_keys import connect, living
    from nightgrid.workers.ondemand import jobs as ondemand

    records = ondemand.open_records(store)
    found = [ondemand.status(store, record["job_id"]) for record in records]
    jobs = [job for job in found if job.state != "done"]
    workers: int | None = None
    batch: Demand | None = None
    with suppress(redis.RedisError, OSError, TransientError), connect(settings) as client:
        alive = len(living(client, settings))
        batch = demand(settings)
        workers = alive
    told = None if batch is None else asdict(batch)
    states = [job.state for job in jobs]
    summary: dict[str, Any] = {
        "queued": states.count("queued"),
        "working": states.count("working"),
        "runs": states.count("run"),
        "oldest_s": max((job.age_s or 0.0 for job in jobs), default=None),
        "workers": workers,
        "batch": told,
    }
    ageless = [asdict(job) | {"age_s": None} for job in jobs]
    return _Look(
        seen=(ageless, workers, told and told | {"oldest_s": None}),
        values=[*map(asdict, jobs), summary],
        text=_queue_text(jobs, summary, batch),
        over=not jobs,
    )


def _queue_text(jobs: list[JobStatus], summary: dict[str, Any], batch: Demand | None) -> str:
    workers = "no server" if summary["workers"] is None else plural(summary["workers"], "worker")
    oldest = summary["oldest_s"]
    age = "" if oldest is None else f", oldest {oldest:.1f} s"
    lines = [_job_text(job) for job in jobs[:MAX_JOBS_SHOWN]]
    if len(jobs) > MAX_JOBS_SHOWN:
        lines.append(f"and {len(jobs) - MAX_JOBS_SHOWN:,} more")
    lines.append(
        f"{summary['queued']} queued, {summary['working']} working, {summary['runs']} as runs"
        f"{age}; {workers}"
    )
    if batch is not None and batch.processes_wanted:
        lines.append(
            f"batch: {plural(batch.processes_wanted, 'chunk')} to do, {batch.queued} in the queue, "
            f"oldest {batch.oldest_s:.1f} s; processes: {batch.processes}"
        )
    return "\n".join(lines)


def _job_text(job: JobStatus) -> str:
    text = f"{job.job_id}  {job.state}"
    if job.chunks_total is not None:
        text += f", {job.chunks_done:,} of {job.chunks_total:,} chunks"
    if job.age_s is not None:
        text += f", {job.age_s:.1f} s old"
    if job.attempts > 1:
        text += f", attempt {job.attempts}"
    return text

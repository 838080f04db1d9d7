"""`nightgrid submit`, `status` and `result`: solves that a queue of their own works soon."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightgrid.service.games import view
from nightgrid.service.options.bound_games import Rooms
from nightgrid.service.options.option_games import with_typed_boards
from nightgrid.service.options.rule_options import GameRules, with_game_rules
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
from nightgrid.service.terminal.console import complain, duration, emit, plural, say, say_drawing
from nightgrid.service.terminal.exits import Exit, exit_for
from nightgrid.solvers.registry import check_ask, game_plug

if TYPE_CHECKING:
    from nightgrid.solvers.algebra import Ask, Game
    from nightgrid.workers.broker.demand import Demand
    from nightgrid.workers.ondemand.jobs import JobStatus

WATCH_EVERY_S = 0.5
MAX_JOBS_SHOWN = 50
MAX_WAIT_S = 7 * 24 * 3600.0

OneJob = Annotated[str, typer.Argument(metavar="JOB", help="A job id, as `submit` printed it.")]
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
    from nightgrid.archive.payloads.published import Fault
    from nightgrid.archive.words.binding import lexicon_of
    from nightgrid.service.cli.answers import fault_json, head_json
    from nightgrid.service.games import bound_json
    from nightgrid.service.options.reading import read_sources
    from nightgrid.solvers.errors import TransientError
    from nightgrid.workers.cluster import server
    from nightgrid.workers.ondemand import jobs as ondemand

    chosen = chosen_ask(text=ask, first=first, count=count, best=best)
    rules.check()
    settings = read_settings(lake=lake)
    up = False
    store = Lake.open(settings.lake)
    rooms = Rooms(rules, warmed=False)
    worst = Exit.OK
    for found in read_sources(files or [], level or (), game, typed):
        item = found.item
        wanted = chosen or game_plug(found.game).usual_ask
        if isinstance(item, Fault):
            complain(str(item))
            if json:
                emit(fault_json(found, item, wanted))
            worst = max(worst, Exit.BAD_INPUT)
            continue
        check_ask(wanted, found.game)
        rules.rules(found.game)
        puzzle = rules.puzzle(found.game, item.puzzle)
        room = rooms.room(found.game, puzzle)
        if not up and not _is_known(store, room, puzzle, wanted):
            up = server.is_up(settings)
            if not up:
                raise TransientError(
                    f"no server answers at {server.address(settings)}: start `nightgrid worker` on "
                    "this lake, or set NIGHTGRID_REDIS_URL"
                )
        job = ondemand.submit(
            store,
            puzzle,
            wanted,
            game=room.name,
            rules=room.rules,
            lexicon=lexicon_of(room),
            settings=settings,
        )
        if json:
            state = ondemand.status(store, job).state
            head = head_json(found, puzzle)
            emit(head | {"ask": str(wanted), **bound_json(room), "job_id": job, "state": state})
        else:
            say(job)
    return worst


def _is_known(store: Any, room: Game[Any, Any], puzzle: Any, ask: Ask) -> bool:
    """Tell whether the lake has the answer: then nobody needs a server."""
    from nightgrid.solvers.question import question_of
    from nightgrid.workers.ondemand import jobs as ondemand

    job = question_of(room, ask).job_id(room.puzzle_id(puzzle))
    return ondemand.find_row(store, job) is not None


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
    look = _JobLook(store, job) if job is not None else _QueueLook(store, settings)
    shown: Any = None
    lines = 0
    while True:
        seen = look.take()
        if seen != shown or not watch:
            if json:
                for value in look.values():
                    emit(value)
            else:
                lines = _redraw(look.text(), lines)
            shown = seen
        if not watch or look.over():
            break
        time.sleep(WATCH_EVERY_S)
    return look.code()


def result(
    job: OneJob,
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
    from nightgrid.solvers.algebra import Status
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
    from nightgrid.service.cli.answers import say_best
    from nightgrid.solvers.algebra import Ask
    from nightgrid.solvers.registry import game

    cost = f"{duration(row['kernel_ns'])} ({plural(row['states'], 'state')})"
    ended = row["status"].replace("_", " ")
    if row["count"] is not None and row["status"] == "solved":
        ended = plural(row["count"], "solution")
    if row.get("value") is not None:
        ended += f", the best of {view(row['game']).value(row['value'], row['rules'])},"
    say(f"{row['ask']} of puzzle {row['puzzle_id']}: {ended} in {cost}")
    if row["reason"]:
        say(row["reason"])
    room = game(row["game"])
    shown = view(row["game"])
    solutions = [room.solution_from_json(value) for value in row["solutions"]]
    if Ask.parse(row["ask"]).kind == "best":
        say_best(shown, None, solutions)
        return
    for solution in solutions:
        say()
        say_drawing(shown.solution(None, solution, scored=True))


class _JobLook:
    """One look after another at one job."""

    def __init__(self, store: Any, job: str) -> None:
        self._store = store
        self._job = job
        self._status: JobStatus

    def take(self) -> Any:
        from nightgrid.workers.ondemand import jobs as ondemand

        self._status = ondemand.status(self._store, self._job)
        return asdict(self._status) | {"age_s": None}

    def values(self) -> list[dict[str, Any]]:
        return [asdict(self._status)]

    def text(self) -> str:
        return _job_text(self._status)

    def over(self) -> bool:
        return self._status.state in ("done", "unknown")

    def code(self) -> Exit:
        return Exit.BAD_INPUT if self._status.state == "unknown" else Exit.OK


class _QueueLook:
    """One look after another at everything that is under way."""

    def __init__(self, store: Any, settings: Any) -> None:
        self._store = store
        self._settings = settings
        self._jobs: list[JobStatus] = []
        self._workers: int | None = None
        self._batch: Demand | None = None

    def take(self) -> Any:
        import redis

        from nightgrid.solvers.errors import TransientError
        from nightgrid.workers.broker.demand import demand
        from nightgrid.workers.broker.redis_keys import connect, living
        from nightgrid.workers.ondemand import jobs as ondemand

        records = ondemand.open_records(self._store)
        jobs = [ondemand.status(self._store, record["job_id"]) for record in records]
        self._jobs = [job for job in jobs if job.state != "done"]
        try:
            with connect(self._settings) as client:
                self._workers = len(living(client, self._settings))
            self._batch = demand(self._settings)
        except (redis.RedisError, OSError, TransientError):
            self._workers = self._batch = None
        batch = None if self._batch is None else asdict(self._batch) | {"oldest_s": None}
        return [asdict(job) | {"age_s": None} for job in self._jobs], self._workers, batch

    def values(self) -> list[dict[str, Any]]:
        states = [job.state for job in self._jobs]
        return [
            *(asdict(job) for job in self._jobs),
            {
                "queued": states.count("queued"),
                "working": states.count("working"),
                "runs": states.count("run"),
                "oldest_s": max((job.age_s or 0.0 for job in self._jobs), default=None),
                "workers": self._workers,
                "batch": None if self._batch is None else asdict(self._batch),
            },
        ]

    def text(self) -> str:
        summary = self.values()[-1]
        workers = "no server" if self._workers is None else plural(self._workers, "worker")
        oldest = summary["oldest_s"]
        age = "" if oldest is None else f", oldest {oldest:.1f} s"
        lines = [_job_text(job) for job in self._jobs[:MAX_JOBS_SHOWN]]
        if len(self._jobs) > MAX_JOBS_SHOWN:
            lines.append(f"and {len(self._jobs) - MAX_JOBS_SHOWN:,} more")
        lines.append(
            f"{summary['queued']} queued, {summary['working']} working, {summary['runs']} as runs"
            f"{age}; {workers}"
        )
        if self._batch is not None and self._batch.processes_wanted:
            lines.append(
                f"batch: {plural(self._batch.processes_wanted, 'chunk')} to do, "
                f"{self._batch.queued} in the queue, oldest {self._batch.oldest_s:.1f} s; "
                f"processes: {self._batch.processes}"
            )
        return "\n".join(lines)

    def over(self) -> bool:
        return not self._jobs

    def code(self) -> Exit:
        return Exit.OK


def _job_text(job: JobStatus) -> str:
    text = f"{job.job_id}  {job.state}"
    if job.chunks_total is not None:
        text += f", {job.chunks_done:,} of {job.chunks_total:,} chunks"
    if job.age_s is not None:
        text += f", {job.age_s:.1f} s old"
    if job.attempts > 1:
        text += f", attempt {job.attempts}"
    return text


def _redraw(text: str, lines: int) -> int:
    """Write a look over the one before it on a terminal, else below it; return its lines."""
    if lines and sys.stdout.isatty():
        sys.stdout.write(f"\x1b[{lines}F\x1b[J")
    say(text)
    sys.stdout.flush()
    return text.count("\n") + 1

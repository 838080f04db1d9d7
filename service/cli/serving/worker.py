"""`nightgrid worker` and `nightgrid warmup`: a machine that works, and its kernels."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from nightgrid.archive import outages
from nightgrid.service.options.shared_options import (
    BatchProcesses,
    InteractiveProcesses,
    Json,
    LakeOption,
    read_settings,
)
from nightgrid.service.terminal.console import Exit, duration, emit, note, say
from nightgrid.service.terminal.outage_line import outages_shown
from nightgrid.service.terminal.progress import warmed
from nightgrid.service.terminal.warming_beside import warming_beside
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.registry import GAMES

if TYPE_CHECKING:
    from nightgrid.workers.settings import Settings

WATCH_EVERY_S = 2.0
"""Pause between two looks whether a configured server answers."""


class Role(StrEnum):
    """What a host may run alone."""

    BATCH = "batch"
    INTERACTIVE = "interactive"
    KEEPER = "keeper"


def worker(
    lake: LakeOption = None,
    processes: BatchProcesses = None,
    interactive: InteractiveProcesses = None,
    only: Annotated[
        list[Role] | None,
        typer.Option(
            metavar="ROLE",
            help="Run these alone: batch, interactive (both are workers) or keeper, which drives "
            "large jobs and sends again what was lost. May be given several times. A lake needs "
            "all three, on any machines. Default: all.",
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            metavar="N",
            help="Serve the metrics of this host to Prometheus on this port of "
            "NIGHTGRID_METRICS_HOST. Default: NIGHTGRID_METRICS_PORT, else none.",
        ),
    ] = None,
) -> int:
    """Run supervised workers until Ctrl-C or SIGTERM; whatever dies is started again.

    They serve the server of NIGHTGRID_REDIS_URL; without it an embedded server is started beside
    the lake and runs as long as they do. The server answers at once: solves may be queued while
    kernels are compiled.
    """
    settings = read_settings(
        lake=lake,
        batch_processes=processes,
        interactive_processes=interactive,
        metrics_port=metrics_port,
    )
    from nightgrid.workers.cluster import server
    from nightgrid.workers.cluster.child_processes import ROLES, SERVER
    from nightgrid.workers.cluster.supervisor import Supervisor

    roles = [SERVER, *map(str, only)] if only else ROLES
    supervisor = Supervisor(settings, roles)
    if server.is_embedded(settings):
        return _ended(supervisor.run(preparing=preparing(settings, roles)))
    # Nothing here can start that server: its outages are reported for as long as workers run.
    with outages_shown(), server_watched(settings):
        return _ended(supervisor.run(preparing=preparing(settings, roles)))


@contextmanager
def preparing(settings: Settings, roles: Collection[str]) -> Iterator[Callable[[], bool]]:
    """Say what begins, and compile kernels beside it; yield what tells whether they are ready.

    Solves may be queued meanwhile.
    """
    from nightgrid.archive.lake import location
    from nightgrid.workers.cluster import server
    from nightgrid.workers.cluster.child_processes import WORKERS, child_environment

    if location.is_missing(settings.lake):
        note(f"there is no lake at {settings.lake} yet: a new, empty one is made there")
        location.make_folder(settings.lake)
    logs = settings.side_dir / "logs"
    note(
        f"{_processes(settings, roles)} on {server.address(settings)}, lake {settings.lake}, "
        f"logs {'here' if settings.worker_logs == 'stdout' else f'in {logs}'}"
    )
    # A keeper begins at once, and is not kept from it by kernels that it may never need.
    games = settings.game_names if WORKERS & set(roles) else ()
    with warming_beside(games, child_environment(settings)) as ready:
        yield ready


def _processes(settings: Settings, roles: Collection[str]) -> str:
    """Say how many processes of which kind are begun."""
    counts = {"batch": settings.batch_processes, "interactive": settings.interactive_processes}
    begun = {role: count for role, count in counts.items() if role in roles}
    if not begun:
        return "a keeper"
    noun = "process" if sum(begun.values()) == 1 else "processes"
    return f"{' and '.join(f'{count} {role}' for role, count in begun.items())} {noun}"


def _ended(unprepared: int | None) -> int:
    """Give the exit code; one that a signal ended while it was compiling ends by that signal."""
    if unprepared == signal.SIGINT:
        note("interrupted")
        return Exit.INTERRUPTED
    if unprepared is not None:
        signal.signal(unprepared, signal.SIG_DFL)
        signal.raise_signal(unprepared)
    return Exit.OK


@contextmanager
def server_watched(settings: Settings) -> Iterator[None]:
    """Report outages of a configured server while the body runs."""
    from nightgrid.workers.broker.connection import answering, connect
    from nightgrid.workers.cluster import server
    from nightgrid.workers.server_url import distrust

    ended = threading.Event()
    # A URL that cannot be read is told here, before any thread is begun.
    watched = connect(settings)

    def watch() -> None:
        with watched as client:
            while not ended.is_set():
                try:
                    with answering():
                        client.ping()
                except TransientError as error:
                    why = distrust(error) or error.__cause__
                    outages.report_outage(server.title(settings), why, None)
                else:
                    outages.end_outage(server.title(settings))
                ended.wait(WATCH_EVERY_S)

    watching = threading.Thread(target=watch, name="server-watch", daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()


def warmup(
    rare: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Compile those kernels, too, that no published board needs: for Pips those for "
            "large boards, which are otherwise compiled when the first such board comes.",
        ),
    ] = False,
    json: Json = False,
) -> int:
    """Compile the kernels, so that the first solve pays for nothing.

    Games are compiled side by side. Compiled kernels are kept on disk: the next process loads
    those that it needs in well under a second.
    """
    for name, seconds in warmed(GAMES, rare=rare):
        if json:
            emit({"game": name, "warm_ns": round(seconds * 1e9)})
        else:
            say(f"{name}: kernels ready after {duration(round(seconds * 1e9))}")
    return Exit.OK

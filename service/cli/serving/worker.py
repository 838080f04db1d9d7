"""`nightgrid worker` and `nightgrid warmup`: a machine that solves, and its kernels."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from nightgrid.service.options.shared_options import (
    BatchProcesses,
    InteractiveProcesses,
    Json,
    LakeOption,
    read_settings,
)
from nightgrid.service.terminal.console import duration, emit, note, say, sigterm_as_interrupt
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.service.terminal.progress import warmed
from nightgrid.service.terminal.running import wait_for_server
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.registry import GAMES

if TYPE_CHECKING:
    from nightgrid.workers.settings import Settings

ENDING_S = 2.0
"""Timeout for a compiling process to remove its progress line."""


class Role(StrEnum):
    """Roles that a host may run by itself."""

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
            help="Run only batch, interactive or keeper, which drives jobs; may be repeated. A "
            "lake needs all three, on any machines. Default: all.",
        ),
    ] = None,
) -> int:
    """Run supervised workers until stopped.

    They connect to the server of NIGHTGRID_REDIS_URL. Without it they join the embedded server of
    this machine and lake, or start it; another worker here keeps it running when this one ends.
    """
    settings = read_settings(
        lake=lake,
        batch_processes=processes,
        interactive_processes=interactive,
    )
    from nightgrid.workers.cluster import server
    from nightgrid.workers.cluster.supervisor import ROLES, SERVER, Supervisor

    settings = server.joined(settings)
    server.check(settings)
    roles = [str(role) for role in only] if only else ROLES
    if SERVER not in roles and server.is_embedded(settings):
        wait_for_server(settings)
    with preparing(settings, roles) as ready:
        stopped_by = Supervisor(settings, roles).run(may_work=ready)
        # A signal before there are tasks to hand back ends this like any other command.
        return Exit.OK if ready() or stopped_by is None else 128 + stopped_by


@contextmanager
def preparing(settings: Settings, roles: Collection[str]) -> Iterator[Callable[[], bool]]:
    """Print what is started, and compile kernels meanwhile; yield a check whether they are ready.

    Solves may be queued meanwhile.
    """
    from nightgrid.archive.lake import location
    from nightgrid.workers.cluster import server
    from nightgrid.workers.cluster.supervisor import WORKERS, child_environment

    if location.is_missing(settings.lake):
        note(f"there is no lake at {settings.lake} yet: a new, empty one is created there")
        location.make_folder(settings.lake)
    logs = settings.side_dir / "logs"
    runs = " (already running)" if server.is_embedded(settings) and server.is_up(settings) else ""
    note(
        f"{_processes(settings, roles)} on {server.address(settings)}{runs}, lake "
        f"{settings.lake}, logs {'here' if settings.worker_logs == 'stdout' else f'in {logs}'}"
    )
    # A keeper needs no kernels.
    games = settings.game_names if set(WORKERS) & set(roles) else ()
    with warming_beside(games, child_environment(settings)) as ready:
        yield ready


@contextmanager
def warming_beside(names: Iterable[str], env: Mapping[str, str]) -> Iterator[Callable[[], bool]]:
    """Run `nightgrid warmup` in a child process; yield a check whether it is done.

    The check raises TransientError if kernels could not be compiled. At the end of the body the
    process is stopped, done or not.
    """
    from nightgrid.solvers import warming
    from nightgrid.workers.processes import die_with_parent, end_group

    missing = [name for name in names if not warming.is_compiled(name)]
    if not missing:
        yield lambda: True
        return
    # Its own session: Ctrl-C goes to the parent, which stops this process and its children.
    process = subprocess.Popen(
        [sys.executable, "-m", "nightgrid.service.cli.app", "warmup", *missing],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=dict(env),
        start_new_session=True,
        preexec_fn=partial(die_with_parent, parent=os.getpid()),  # noqa: PLW1509
    )

    def ready() -> bool:
        code = process.poll()
        if code:
            raise TransientError(f"the kernels of {', '.join(missing)} could not be compiled")
        return code == 0

    try:
        yield ready
    finally:
        end_group(process, (signal.SIGTERM, ENDING_S))


def _processes(settings: Settings, roles: Collection[str]) -> str:
    """Describe the number of processes of each kind."""
    counts = {"batch": settings.batch_processes, "interactive": settings.interactive_processes}
    begun = {role: count for role, count in counts.items() if role in roles}
    if not begun:
        return "a keeper"
    noun = "process" if sum(begun.values()) == 1 else "processes"
    return f"{' and '.join(f'{count} {role}' for role, count in begun.items())} {noun}"


def warmup(
    games: Annotated[
        list[str] | None,
        typer.Argument(metavar="GAME", help="Only the kernels of these games."),
    ] = None,
    rare: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Also compile the kernels that no published board needs.",
        ),
    ] = False,
    json: Json = False,
) -> int:
    """Compile the kernels ahead of time.

    Compiled kernels are cached on disk.
    """
    try:
        with sigterm_as_interrupt():
            for name, seconds in warmed(games or GAMES, rare=rare):
                if json:
                    emit({"game": name, "warm_ns": round(seconds * 1e9)})
                else:
                    say(f"{name}: kernels ready after {duration(round(seconds * 1e9))}")
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    return Exit.OK

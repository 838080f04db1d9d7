"""`nightgrid worker` and `nightgrid warmup`: a machine that works, and its kernels."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from nightgrid.service.options.shared_options import BatchProcesses, Json, LakeOption, read_settings
from nightgrid.service.terminal.console import Exit, duration, emit, note, say
from nightgrid.service.terminal.progress import warm
from nightgrid.solvers.registry import GAMES, game


def worker(
    lake: LakeOption = None,
    processes: BatchProcesses = None,
    interactive: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Processes for on-demand solves alone. Default: NIGHTGRID_INTERACTIVE_PROCESSES, "
            "else 1.",
        ),
    ] = None,
) -> int:
    """Run supervised workers until Ctrl-C or SIGTERM; whatever dies is started again.

    They serve the server of NIGHTGRID_REDIS_URL; without it an embedded server is started beside
    the lake and runs as long as they do.
    """
    settings = read_settings(
        lake=lake, batch_processes=processes, interactive_processes=interactive
    )
    from nightgrid.workers.cluster import server
    from nightgrid.workers.cluster.supervisor import Supervisor

    note(
        f"{settings.batch_processes} batch and {settings.interactive_processes} interactive "
        f"processes on {server.address(settings)}, lake {settings.lake}, "
        f"logs in {settings.side_dir / 'logs'}"
    )
    for name in settings.game_names:
        warm(name)
    Supervisor(settings).run()
    return Exit.OK


def warmup(json: Json = False) -> int:
    """Compile every kernel, so that the first solve pays for nothing.

    Compiled kernels are kept on disk: the next process loads them in well under a second.
    """
    for name in GAMES:
        start = time.perf_counter_ns()
        game(name).warm()
        took_ns = time.perf_counter_ns() - start
        if json:
            emit({"game": name, "warm_ns": took_ns})
        else:
            say(f"{name}: kernels ready after {duration(took_ns)}")
    return Exit.OK

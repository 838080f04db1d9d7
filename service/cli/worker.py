"""`nightgrid worker` and `nightgrid warmup`: a machine that works, and its kernels."""

from __future__ import annotations

from typing import Annotated

import typer

from nightgrid.service.options.shared_options import BatchProcesses, Json, LakeOption, read_settings
from nightgrid.service.terminal.console import Exit, duration, emit, note, say
from nightgrid.service.terminal.progress import warm_games, warmed
from nightgrid.solvers.registry import GAMES


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
    warm_games(settings.game_names)
    Supervisor(settings).run()
    return Exit.OK


def warmup(json: Json = False) -> int:
    """Compile every kernel, so that the first solve pays for nothing.

    Games are compiled side by side. Compiled kernels are kept on disk: the next process loads
    those that it needs in well under a second.
    """
    for name, seconds in warmed(GAMES):
        if json:
            emit({"game": name, "warm_ns": round(seconds * 1e9)})
        else:
            say(f"{name}: kernels ready after {duration(round(seconds * 1e9))}")
    return Exit.OK

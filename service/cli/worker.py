"""`nightgrid worker` and `nightgrid warmup`: a machine that works, and its kernels."""

from __future__ import annotations

import os
import time
from typing import Annotated

import typer

from nightgrid.service.options.shared_options import BatchProcesses, Json, LakeOption, read_settings
from nightgrid.service.terminal.console import Exit, duration, emit, note, say
from nightgrid.service.terminal.progress import activity, warm
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
    for name in settings.game_names:
        warm(name)
    Supervisor(settings).run()
    return Exit.OK


def warmup(json: Json = False) -> int:
    """Compile every kernel, so that the first solve pays for nothing.

    Games are compiled side by side. Compiled kernels are kept on disk: the next process loads
    those that it needs in well under a second.
    """
    from nightgrid.solvers.warming import kernels_on_disk, warm_side_by_side

    begun, before, ready = time.monotonic(), kernels_on_disk(), 0

    def how_far() -> tuple[int, int, str]:
        kernels, seconds = kernels_on_disk() - before, time.monotonic() - begun
        games = f"{ready} of {len(GAMES)} games are ready"
        return ready, len(GAMES), f"{kernels} kernels compiled, {games}, {seconds:.0f} s"

    with activity(how_far):
        for name, seconds in warm_side_by_side(GAMES, os.cpu_count() or 1):
            ready += 1
            if json:
                emit({"game": name, "warm_ns": round(seconds * 1e9)})
            else:
                say(f"{name}: kernels ready after {duration(round(seconds * 1e9))}")
    return Exit.OK

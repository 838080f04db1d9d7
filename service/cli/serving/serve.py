"""`nightgrid serve`: on-demand solves with everything they need, an HTTP service and a web page."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from nightgrid.service.options.shared_options import (
    BatchProcesses,
    InteractiveProcesses,
    Json,
    LakeOption,
    read_settings,
)
from nightgrid.service.terminal.console import emit, note, sigterm_as_interrupt
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.solvers.errors import NightgridError

if TYPE_CHECKING:
    from nightgrid.workers.settings import Settings

HOST = "127.0.0.1"
PORT = 8765
POLL_S = 0.1
QUICK_PROCESSES = 2
"""Processes of the service for small boards: one may be busy with a board that turns out large."""


def serve(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on.", show_default=True)
    ] = HOST,
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, metavar="N", help="Port to listen on; 0 is any free one."),
    ] = PORT,
    lake: LakeOption = None,
    processes: BatchProcesses = None,
    interactive: InteractiveProcesses = None,
    workers: Annotated[
        bool,
        typer.Option(
            "--workers/--no-workers",
            help="Start workers and the embedded server if none are running. Default: start.",
        ),
    ] = True,
    json: Json = False,
) -> int:
    """Serve solves over HTTP, and a page, until stopped.

    It starts workers and the embedded server unless they are running already. They stop with it.
    """
    from nightgrid.service.http.memory import share_one_pool

    share_one_pool()
    settings = read_settings(
        lake=lake, batch_processes=processes, interactive_processes=interactive
    )
    from nightgrid.archive.lake import location
    from nightgrid.service.http.app import create_app
    from nightgrid.service.http.running import listen, make_server, url_of
    from nightgrid.service.http.settings import ServiceSettings
    from nightgrid.workers.cluster import server as broker
    from nightgrid.workers.logs import take_over_logging
    from nightgrid.workers.tracing import begin_tracing

    settings = broker.joined(settings)
    broker.check(settings)
    take_over_logging(logging.WARNING)
    begin_tracing(settings.trace_url, "service")
    here = ServiceSettings(workers=settings, host=host, port=port, quick_processes=QUICK_PROCESSES)
    app = create_app(here)
    if location.is_missing(settings.lake):
        note(f"there is no lake at {settings.lake} yet: a new, empty one is created there")
        location.make_folder(settings.lake)
    with listen(here) as bound:

        def started() -> None:
            note(f"the page is at {url_of(bound)}; Ctrl-C ends the service")
            if json:
                emit({"url": url_of(bound), "lake": settings.lake})

        server = make_server(app, started)
        # A shell that starts us with & makes us ignore SIGINT, which is inherited.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with (
            _workers(settings, server.end, wanted=workers),
            sigterm_as_interrupt(),
            suppress(KeyboardInterrupt),
        ):
            server.run([bound])
    return Exit.OK


@contextmanager
def _workers(settings: Settings, end: Callable[[], None], *, wanted: bool) -> Iterator[None]:
    """Run the server and missing workers while the body runs.

    If they do not become ready, calls `end` to end the body, and raises their TransientError, or
    the server's error if it refuses us.
    """
    from nightgrid.service.cli.serving.worker import warming_beside
    from nightgrid.workers.broker.redis_keys import BATCH, INTERACTIVE
    from nightgrid.workers.broker.worker_keys import served_queues
    from nightgrid.workers.cluster import server
    from nightgrid.workers.cluster.local import beginning_cluster
    from nightgrid.workers.cluster.supervisor import child_environment, supervisor_state

    served = served_queues(settings) >= {BATCH, INTERACTIVE}
    if not wanted or (served and supervisor_state(settings) is None):
        note(f"no workers are started here; those on {server.address(settings)} take the solves")
        yield
        return
    failed: list[NightgridError] = []
    with (
        beginning_cluster(settings, standby=True, workers_on_call=True) as ready,
        warming_beside(settings.game_names, child_environment(settings)) as compiled,
    ):

        def wait() -> None:
            try:
                while not compiled():
                    time.sleep(POLL_S)
                ready()
            except NightgridError as error:
                failed.append(error)
                end()
                return
            note(
                f"workers are ready: {settings.batch_processes} batch and "
                f"{settings.interactive_processes} interactive processes on "
                f"{server.address(settings)}, logs in {settings.side_dir / 'logs'}"
            )

        threading.Thread(target=wait, name="workers-start", daemon=True).start()
        yield
        # Workers that end with us during startup have not failed.
        told = list(failed)
    if told:
        raise told[0]

"""Serve the night on a schedule: `python -m nightgrid.flows.prefect.deploy --source … --cron …`.

`--source GAME=FOLDER|URL`, given several times, makes one night over several games.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
from collections.abc import Awaitable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from nightgrid.archive.sources import open_source
from nightgrid.flows.night.settings import NightGame, NightSettings, night_sources
from nightgrid.flows.prefect import environment
from nightgrid.solvers.errors import NightgridError, PermanentError, TransientError
from nightgrid.solvers.registry import DEFAULT_GAME, GAMES
from nightgrid.workers.cluster.heartbeats import (
    EVERY_S,
    FRESH_S,
    NIGHTS_LIVE,
    NIGHTS_READY,
    delete_heartbeats,
    write_heartbeat,
)
from nightgrid.workers.runs.retry import Retry
from nightgrid.workers.settings import program_settings

if TYPE_CHECKING:
    from prefect.runner import Runner

DEPLOYMENT = "nightly"
"""Name of the schedule for the default game or several games; another game alone adds its name."""
CRON = "15 3 * * *"
"""03:15 in UTC: the payloads of the day are out everywhere."""
SERVER_PATIENCE_S = 5.0
FAILED, BAD_INPUT = 1, 3
"""Exit codes, as those of `nightgrid`."""


def serve(night: NightSettings, *, cron: str = CRON) -> None:
    """Run the flow whenever the schedule says, until this process ends.

    The schedule outlives the process: started again, it goes on, and a night that was missed
    runs late instead of never. One night at a time.

    Raises PermanentError for a source that is none, a schedule that cannot be read, and without a
    server that schedules; TransientError when that server does not answer.
    """
    for game in night.games:
        open_source(game.source, game=game.game, redirect_hosts=game.redirect_hosts).close()
    environment.prepare()
    check_schedule(cron)
    check_server()
    from prefect.runner import Runner

    from nightgrid.flows.prefect.tasks import night_parameters, nightly_flow

    games = [game.game for game in night.games]
    alone = len(games) == 1 and games != [DEFAULT_GAME]
    name = f"{DEPLOYMENT}-{games[0]}" if alone else DEPLOYMENT
    # Prefect's default pauses the schedule for good when the process stops.
    runner = Runner(name=name, pause_on_shutdown=False, limit=1)
    adding = runner.aadd_flow(
        nightly_flow, name=name, parameters=night_parameters(night), cron=cron
    )
    asyncio.run(_run_until_stopped(runner, adding, program_settings().side_dir))


async def _run_until_stopped(runner: Runner, adding: Awaitable[object], folder: Path) -> None:
    """Run a runner until SIGINT or SIGTERM; a night in progress is cancelled.

    Prefect's own handler of SIGTERM works in another thread's loop: it hangs, or ends in a
    traceback, where the signal comes while the runner starts.
    """
    loop = asyncio.get_running_loop()

    async def run() -> None:
        await adding
        await runner.start()

    running = asyncio.create_task(run())
    stopping: list[asyncio.Task[None]] = []

    def stop() -> None:
        if stopping or not runner.started:
            running.cancel()
        else:
            stopping.append(loop.create_task(runner.astop()))

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    # start() makes this the handler; the loop hears of the signal all the same.
    runner.handle_sigterm = lambda *_: None  # type: ignore[method-assign]
    beating = loop.create_task(_tell_progress(runner, folder))
    with suppress(asyncio.CancelledError):
        await running
    beating.cancel()
    await asyncio.gather(*stopping, return_exceptions=True)


async def _tell_progress(runner: Runner, folder: Path) -> None:
    """Write heartbeats into the side folder until cancelled.

    Live: the loop goes round. Ready: Prefect's server has told a moment ago which nights are due.
    A server that is away makes no probe restart this process, and with it a night in progress.
    """
    delete_heartbeats(folder, NIGHTS_LIVE, NIGHTS_READY)
    while True:
        write_heartbeat(folder, NIGHTS_LIVE)
        polled = runner.last_polled
        age_s = None if polled is None else (datetime.now(UTC) - polled).total_seconds()
        if age_s is not None and age_s <= FRESH_S[NIGHTS_READY] / 2:
            write_heartbeat(folder, NIGHTS_READY)
        await asyncio.sleep(EVERY_S)


def check_schedule(cron: str) -> None:
    """Raise PermanentError for what is no cron expression."""
    from prefect.client.schemas.schedules import CronSchedule

    try:
        CronSchedule(cron=cron)
    except ValueError as error:
        raise PermanentError(
            f"--cron is {cron!r:.80}; expected five fields such as {CRON!r}"
        ) from error


def check_server() -> None:
    """Look for a server that can schedule: a temporary one ends with the process that started it.

    Raises PermanentError when none is named, TransientError when it does not answer.
    """
    import httpx
    from prefect.settings import get_current_settings

    url = get_current_settings().api.url
    if not url:
        raise PermanentError(
            "no Prefect server is named that can schedule; expected PREFECT_API_URL, for example "
            "http://127.0.0.1:4200/api of `prefect server start`"
        )
    try:
        httpx.get(f"{url.rstrip('/')}/health", timeout=SERVER_PATIENCE_S).raise_for_status()
    except httpx.HTTPError as error:
        raise TransientError(f"the Prefect server at {url} does not answer: {error}") from error


def main() -> None:
    """Serve, as a program. Everything else is read from NIGHTGRID_* in the environment.

    Exit code: 0 stopped by SIGINT or SIGTERM, 1 the server does not answer, 3 bad input.
    """
    parser = argparse.ArgumentParser(prog="python -m nightgrid.flows.prefect.deploy")
    parser.add_argument(
        "--source",
        required=True,
        action="append",
        metavar="[GAME=]FOLDER|URL",
        help="folder of payloads, or of such folders called like their games, or base URL; with"
        " GAME= once for each game of the night",
    )
    parser.add_argument("--game", choices=GAMES, help="default: pips, or all that the folder has")
    parser.add_argument(
        "--redirect-host",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="a host to which a URL may redirect, beside its own; may be given several times",
    )
    parser.add_argument(
        "--retry",
        choices=[retry.value for retry in Retry],
        help="work again, every night and within the same budget, puzzles that earlier runs have"
        " given up, or called invalid",
    )
    parser.add_argument("--cron", default=CRON, help=f"when, in UTC (default: {CRON!r})")
    options = parser.parse_args()
    # Until Prefect hears the signal itself.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        places = night_sources(options.source, options.game)
        hosts = tuple(options.redirect_host)
        games = tuple(
            NightGame(source=source, game=game, redirect_hosts=hosts)
            for game, source in places.items()
        )
        retry = Retry(options.retry) if options.retry else None
        serve(NightSettings(games=games, retry=retry), cron=options.cron)
    except NightgridError as error:
        code = BAD_INPUT if isinstance(error, PermanentError) else FAILED
        parser.exit(code, f"{parser.prog}: {error}\n")
    except KeyboardInterrupt:
        parser.exit(0)


if __name__ == "__main__":
    main()

"""Serve nights on a schedule that a Prefect server keeps."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nightgrid.flows.night.settings import NightSettings
from nightgrid.flows.prefect import server
from nightgrid.flows.runs import ignore
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import DEFAULT_GAME
from nightgrid.workers.exporter import share_metrics

if TYPE_CHECKING:
    from prefect.runner import Runner

EVERY_NIGHT = "15 3 * * *"
"""The default of `--cron`: 03:15 UTC, when all payloads of the day have been published."""
NEVER = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
DEPLOYMENT = "nightly"
"""Name of the schedule for the default game or several games; another game adds its name."""


def serve(night: NightSettings, *, cron: str, on_ready: Callable[[str], None] = ignore) -> None:
    """Run the flow `nightly` on a schedule, one at a time, until SIGINT or SIGTERM.

    The schedule outlives the process: after a restart it continues, and a missed night runs late.
    `on_ready` gets a sentence once it is served.

    Raises PermanentError for an invalid schedule, and if no server is named; TransientError if the
    server does not answer.
    """
    server.check_installed()
    server.set_environment()
    # Nights are processes that inherit the folder of metrics.
    share_metrics(night.workers)
    from prefect.runner import Runner

    from nightgrid.flows.prefect.flows import night_parameters, nightly_flow

    first = next_run(cron)
    if not server.check_named_server():
        raise PermanentError(
            "a schedule needs a Prefect server: start one with `prefect server start` and set "
            "PREFECT_API_URL=http://127.0.0.1:4200/api"
        )
    parameters = night_parameters(_anywhere(night))
    games = [game.game for game in night.games]
    alone = len(games) == 1 and games != [DEFAULT_GAME]
    name = f"{DEPLOYMENT}-{games[0]}" if alone else DEPLOYMENT

    class Served(Runner):
        @property  # type: ignore[misc]
        def last_polled(self) -> dt.datetime:
            # Prefect's health check crashes if nothing was polled yet.
            return super().last_polled or NEVER

    async def run() -> None:
        # By default, Prefect pauses the schedule for good when the process stops.
        runner = Served(name=name, pause_on_shutdown=False, limit=1)
        running = asyncio.create_task(_add_and_start(runner))
        _stop_on_signals(runner, running)
        with suppress(asyncio.CancelledError):
            await running

    async def _add_and_start(runner: Runner) -> None:
        await runner.aadd_flow(nightly_flow, name=name, parameters=parameters, cron=cron)
        on_ready(
            f"serving {name} {_when(cron)} into {parameters['lake']}, next run "
            f"{first:%Y-%m-%d %H:%M} UTC"
        )
        await runner.start()

    asyncio.run(run())


def next_run(cron: str) -> dt.datetime:
    """Return the next time of a schedule, in UTC. Raises PermanentError for a bad cron
    expression.
    """
    from prefect.server.schemas.schedules import CronSchedule

    try:
        return asyncio.run(CronSchedule(cron=cron, timezone="UTC").get_dates(1))[0]
    except ValueError as error:
        raise PermanentError(
            f"--cron is {cron!r:.80}; expected five fields such as '15 3 * * *'"
        ) from error


def _when(cron: str) -> str:
    daily = re.fullmatch(r"(\d+) (\d+) \* \* \*", cron.strip())
    if daily is None:
        return f"by the cron schedule {cron!r} in UTC"
    return f"at {int(daily[2]):02}:{int(daily[1]):02} UTC"


def _anywhere(night: NightSettings) -> NightSettings:
    """Make paths absolute, because Prefect may run a night in another folder."""
    workers, games = night.workers, night.games
    if "://" not in workers.lake:
        workers = workers.model_copy(update={"lake": str(Path(workers.lake).absolute())})
    games = tuple(
        replace(game, source=str(path.absolute())) if path.exists() else game
        for game, path in ((game, Path(game.source)) for game in games)
    )
    return replace(night, workers=workers, games=games)


def _stop_on_signals(runner: Runner, running: asyncio.Task[None]) -> None:
    """Stop a runner at SIGINT or SIGTERM; a night in progress is cancelled.

    Prefect's own handler of SIGTERM waits for a loop of another thread: it hangs, or ends in a
    traceback, if the signal comes while the runner starts.
    """
    loop = asyncio.get_running_loop()
    stopping: list[asyncio.Task[None]] = []

    def stop() -> None:
        if stopping or not runner.started:
            running.cancel()
        else:
            stopping.append(loop.create_task(runner.astop()))

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    # start() installs this handler; the loop gets the signal anyway.
    runner.handle_sigterm = lambda *_: None  # type: ignore[method-assign]

"""Serve the nightly flow on a schedule: `python -m flows.deploy --source … --cron "15 3 * * *"`."""

from __future__ import annotations

import argparse

from flows import environment
from flows.settings import NightlySettings
from solvers.registry import GAMES
from workers.settings import Settings

DEPLOYMENT = "nightly"
"""Name of the schedule for Pips; other games add their own name to it."""
CRON = "15 3 * * *"
"""03:15 in UTC: the payloads of the day are out everywhere."""


def serve(settings: NightlySettings, *, cron: str = CRON) -> None:
    """Run the flow whenever the schedule says, until this process ends.

    The schedule outlives the process: started again, it goes on, and a night that was missed
    runs late instead of never. One night at a time.
    """
    environment.prepare()
    from flows.tasks import nightly_flow, parameters

    nightly_flow.serve(
        name=DEPLOYMENT if settings.game == "pips" else f"{DEPLOYMENT}-{settings.game}",
        cron=cron,
        parameters=parameters(settings),
        # Prefect's default pauses the schedule for good when the process stops.
        pause_on_shutdown=False,
        limit=1,
        print_starting_message=False,
    )


def main() -> None:
    """Serve, as a program. Everything else is read from NIGHTGRID_* in the environment."""
    parser = argparse.ArgumentParser(prog="python -m flows.deploy")
    parser.add_argument("--source", required=True, help="folder of payloads or base URL")
    parser.add_argument("--game", default="pips", choices=GAMES, help="default: pips")
    parser.add_argument("--cron", default=CRON, help=f"when, in UTC (default: {CRON!r})")
    options = parser.parse_args()
    settings = NightlySettings(source=options.source, game=options.game, workers=Settings())
    serve(settings, cron=options.cron)


if __name__ == "__main__":
    main()

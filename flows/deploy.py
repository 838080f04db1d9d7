"""Serve the nightly flow on a schedule: `python -m flows.deploy --source … --cron "15 3 * * *"`.

`--source GAME=FOLDER|URL`, given several times, makes one night over several games.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from flows import environment
from flows.settings import NightlySettings
from flows.sources import night_sources
from solvers.registry import GAMES
from workers.settings import Settings

DEPLOYMENT = "nightly"
"""Name of the schedule for Pips; other games add their own name to it."""
CRON = "15 3 * * *"
"""03:15 in UTC: the payloads of the day are out everywhere."""


def serve(nights: Sequence[NightlySettings], *, cron: str = CRON) -> None:
    """Run the flow whenever the schedule says, until this process ends.

    The schedule outlives the process: started again, it goes on, and a night that was missed
    runs late instead of never. One night at a time; several games are one night.
    """
    environment.prepare()
    from flows.games import check_games
    from flows.tasks import games_flow, games_parameters, nightly_flow, parameters

    check_games(nights)
    options: dict[str, Any] = {
        "cron": cron,
        # Prefect's default pauses the schedule for good when the process stops.
        "pause_on_shutdown": False,
        "limit": 1,
        "print_starting_message": False,
    }
    if len(nights) > 1:
        games_flow.serve(name=DEPLOYMENT, parameters=games_parameters(nights), **options)
        return
    (settings,) = nights
    name = DEPLOYMENT if settings.game == "pips" else f"{DEPLOYMENT}-{settings.game}"
    nightly_flow.serve(name=name, parameters=parameters(settings), **options)


def main() -> None:
    """Serve, as a program. Everything else is read from NIGHTGRID_* in the environment."""
    parser = argparse.ArgumentParser(prog="python -m flows.deploy")
    parser.add_argument(
        "--source",
        required=True,
        action="append",
        metavar="[GAME=]FOLDER|URL",
        help="folder of payloads, or of such folders called like their games, or base URL; with"
        " GAME= once for each game of the night",
    )
    parser.add_argument("--game", choices=GAMES, help="default: pips, or all that the folder has")
    parser.add_argument("--cron", default=CRON, help=f"when, in UTC (default: {CRON!r})")
    options = parser.parse_args()
    workers = Settings()
    places = night_sources(options.source, options.game)
    nights = [NightlySettings(source=s, game=g, workers=workers) for g, s in places.items()]
    serve(nights, cron=options.cron)


if __name__ == "__main__":
    main()

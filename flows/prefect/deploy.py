"""Serve the night on a schedule: `python -m nightgrid.flows.prefect.deploy --source … --cron …`.

`--source GAME=FOLDER|URL`, given several times, makes one night over several games.
"""

from __future__ import annotations

import argparse

from nightgrid.flows.night.settings import NightGame, NightSettings, night_sources
from nightgrid.flows.prefect import environment
from nightgrid.solvers.registry import DEFAULT_GAME, GAMES

DEPLOYMENT = "nightly"
"""Name of the schedule for the default game or several games; another game alone adds its name."""
CRON = "15 3 * * *"
"""03:15 in UTC: the payloads of the day are out everywhere."""


def serve(night: NightSettings, *, cron: str = CRON) -> None:
    """Run the flow whenever the schedule says, until this process ends.

    The schedule outlives the process: started again, it goes on, and a night that was missed
    runs late instead of never. One night at a time.
    """
    environment.prepare()
    from nightgrid.flows.prefect.tasks import night_parameters, nightly_flow

    games = [game.game for game in night.games]
    nightly_flow.serve(
        name=f"{DEPLOYMENT}-{games[0]}"
        if len(games) == 1 and games != [DEFAULT_GAME]
        else DEPLOYMENT,
        parameters=night_parameters(night),
        cron=cron,
        # Prefect's default pauses the schedule for good when the process stops.
        pause_on_shutdown=False,
        limit=1,
        print_starting_message=False,
    )


def main() -> None:
    """Serve, as a program. Everything else is read from NIGHTGRID_* in the environment."""
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
    parser.add_argument("--cron", default=CRON, help=f"when, in UTC (default: {CRON!r})")
    options = parser.parse_args()
    places = night_sources(options.source, options.game)
    games = tuple(NightGame(source=source, game=game) for game, source in places.items())
    serve(NightSettings(games=games), cron=options.cron)


if __name__ == "__main__":
    main()

"""`nightgrid demo`: the nightly job over the bundled sample archives, with what it found."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nightgrid.service.cli.demo_tables import counts_by_date, say_result
from nightgrid.service.cli.night import run_shown
from nightgrid.service.games import ALL
from nightgrid.service.options.completion import offer
from nightgrid.service.options.shared_options import (
    BatchProcesses,
    Inline,
    Json,
    Plain,
    check_game,
    one_of,
    run_options,
)
from nightgrid.service.terminal.console import Exit, emit, say, say_attention
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game_plug

if TYPE_CHECKING:
    from nightgrid.flows.night.report import GameReport

SAMPLES: dict[str, Path] = {game: plug.sample for game, plug in ALL.items() if plug.sample}
"""The bundled archive of every game: what `nightgrid generate` writes when nothing else is said."""
DEMO_LAKE = "var/demo/lake"


def demo(
    lake: Annotated[
        str, typer.Option(metavar="FOLDER|URL", help="Where the results go.")
    ] = DEMO_LAKE,
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME",
            autocompletion=offer(list(SAMPLES)),
            help=f"{one_of(list(SAMPLES))} alone. Default: all in one night.",
        ),
    ] = None,
    workers: BatchProcesses = None,
    inline: Inline = False,
    no_prefect: Plain = False,
    json: Json = False,
) -> int:
    """Run the nightly job over the bundled sample archives, and show what it found.

    It ends with a board and its solution, a table of counts and times, and what to do next.

    The boards are the project's own: random ones of Pips and Letter Boxed, random layouts of a few
    themes of Strands. Exit code: 0 done, 1 something outside failed, 5 as nightgrid nightly.
    """
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.flows.night.settings import NightGame, NightSettings

    check_game(game)
    if game is not None and game not in SAMPLES:
        raise PermanentError(
            f"there is no sample of {game_plug(game).title}; expected one of {', '.join(SAMPLES)}"
        )
    games = [
        NightGame(source=str(SAMPLES[name]), game=name)
        for name in (SAMPLES if game is None else (game,))
    ]
    night = NightSettings(games=tuple(games), **run_options(lake, workers, inline=inline))

    reports: list[GameReport] = []

    def show(report: GameReport) -> None:
        if json:
            for row in counts_by_date(Lake.open(night.workers.lake), report.game):
                emit(row)
            emit(report.to_json())
        else:
            reports.append(report)
            say(report.line())

    code = run_shown(night, show, prefect=False if no_prefect else None)
    for report in reports:
        say_attention(report.attention_sections())
    if code in (Exit.OK, Exit.LOOK) and not json:
        # Prefect ends its server with the process, and would have the last word.
        logging.getLogger("prefect").setLevel(logging.WARNING)
        say()
        say_result(Lake.open(night.workers.lake), lake, [name.game for name in games])
    return code

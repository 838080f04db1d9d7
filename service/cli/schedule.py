"""`nightgrid schedule`: nights on a schedule, kept by a Prefect server."""

from __future__ import annotations

from typing import Annotated

import typer

from nightgrid.service.cli.night import (
    Asks,
    RefreshDays,
    SourceGame,
    Sources,
    night_games,
)
from nightgrid.service.options.game_rules import Lexicon, RuleTexts, read_rules
from nightgrid.service.options.shared_options import LakeOption, RetryOption, run_options
from nightgrid.service.terminal.console import note
from nightgrid.service.terminal.exit_codes import Exit


def schedule(
    *,
    source: Sources,
    lake: LakeOption = None,
    cron: Annotated[
        str | None,
        typer.Option(
            metavar="CRON",
            help="When nights start, in UTC: five cron fields. Default: 03:15 every night.",
        ),
    ] = None,
    refresh_days: RefreshDays = None,
    game: SourceGame = None,
    ask: Asks = None,
    rule: RuleTexts = None,
    lexicon: Lexicon = None,
    retry: RetryOption = None,
) -> int:
    """Serve nights on a schedule that Prefect keeps.

    The schedule is kept by the Prefect server of PREFECT_API_URL and outlives this process; a
    missed night runs late. Each runs as with nightgrid nightly. Exit code: 0 stopped by Ctrl-C or
    SIGTERM, 1 the server does not answer, 3 bad input.
    """
    from nightgrid.archive.sources import open_source
    from nightgrid.flows.night.settings import NightSettings

    games = night_games(
        source,
        game,
        read_rules(rule, lexicon),
        ask,
        refresh_days=refresh_days,
    )
    for one in games:
        open_source(one.source, game=one.game).close()
    night = NightSettings(games=games, retry=retry, **run_options(lake, None, inline=False))
    from nightgrid.flows.prefect.schedule import EVERY_NIGHT, serve

    serve(night, cron=EVERY_NIGHT if cron is None else cron, on_ready=note)
    return Exit.OK

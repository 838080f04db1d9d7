"""`nightgrid submit`: solves that a queue of their own works soon."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from nightgrid.service.asking.asked import ask_about
from nightgrid.service.asking.asked import submit as submit_asked
from nightgrid.service.cli.answers import each_puzzle, head_json
from nightgrid.service.games import bound_json
from nightgrid.service.options.completion import ASKS, offer
from nightgrid.service.options.game_options import GameRules, with_game_rules, with_typed_boards
from nightgrid.service.options.shared_options import (
    Best,
    Count,
    Files,
    First,
    GameName,
    Json,
    LakeOption,
    Levels,
    Split,
    chosen_ask,
    read_settings,
)
from nightgrid.service.terminal.console import (
    Exit,
    emit,
    note,
    say,
)
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import TransientError
from nightgrid.solvers.registry import game_plug

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import Found

LOOK_EVERY_S = 0.5
SERVER_PATIENCE_S = 5.0
"""A server that is being started is waited for this long."""


@with_typed_boards
@with_game_rules
def submit(
    *,
    files: Files = None,
    typed: Mapping[str, str],
    level: Levels = None,
    game: GameName = None,
    ask: Annotated[
        str | None,
        typer.Option(
            metavar="ASK",
            autocompletion=offer(ASKS),
            help="count (the default), first, all, all(LIMIT) or best(K); for Tiles first (the "
            "default) or best(1).",
        ),
    ] = None,
    first: First = False,
    count: Count = False,
    best: Best = None,
    rules: GameRules,
    split: Split = None,
    lake: LakeOption = None,
    json: Json = False,
) -> int:
    """Queue puzzles to be solved soon, ahead of every batch, and print their job ids.

    Beside each id stand game, date and level of its puzzle. nightgrid solve --help says what a FILE
    may be. What the lake knows already costs nothing. Workers must run: `nightgrid worker`, here or
    on other machines. Exit code: 0 submitted, 1 no server, 3 bad input.
    """
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.service.options.reading import read_sources
    from nightgrid.workers.broker.lake_keys import current_id
    from nightgrid.workers.cluster import server
    from nightgrid.workers.ondemand import jobs as ondemand

    chosen = chosen_ask(text=ask, first=first, count=count, best=best)
    rules.check()
    settings = read_settings(lake=lake, split=split)
    store = Lake.open(settings.lake)

    @functools.cache
    def need_server() -> None:
        ends_at = time.monotonic() + SERVER_PATIENCE_S
        while not server.is_up(settings):
            if time.monotonic() < ends_at:
                # `nightgrid worker &` in the line before has its server up in a moment.
                time.sleep(LOOK_EVERY_S)
                continue
            raise TransientError(
                f"no server answers at {server.address(settings)}: start `nightgrid worker` on "
                "this lake, or set NIGHTGRID_REDIS_URL"
            )
        if current_id(settings) is None:
            note(
                f"there was no lake at {store.url}, and a new one begins; if another is expected, "
                "it was deleted or is not mounted here"
            )

    def wanted(name: str) -> Ask | None:
        return chosen or (game_plug(name).usual_ask if name else None)

    def submit_one(found: Found, published: Published) -> Exit:
        asked = ask_about(found.game, published.puzzle, chosen, rules)
        if not ondemand.is_answered(store, asked.job_id, settings):
            # What the lake knows is answered without one.
            need_server()
        job = submit_asked(store, asked, settings)
        if json:
            state = ondemand.status(store, job).state
            told = {"ask": str(asked.ask), **bound_json(asked.bound), "job_id": job, "state": state}
            emit(head_json(found, asked.puzzle) | told)
        else:
            say(f"{job}  {_name(found, published)}")
        return Exit.OK

    sources = read_sources(files or [], level or (), game, typed, lake)
    return each_puzzle(sources, submit_one, ask=wanted, json=json, spaced=False)


def _name(found: Found, published: Published) -> str:
    """Say which puzzle it is: game, date and level where they are known, else where it stands."""
    from nightgrid.archive.lookup.reference import reference_text

    if published.date is None:
        return " ".join(filter(None, (found.game, found.source, published.level)))
    return reference_text(found.game, published.date, published.level)

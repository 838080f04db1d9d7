"""`nightgrid submit`: solves that a queue of their own works soon."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightgrid.service.asking.asked import ask_about
from nightgrid.service.asking.asked import submit as submit_asked
from nightgrid.service.cli.answers import each_puzzle, head_json
from nightgrid.service.cli.ondemand.job_sources import Jobs, LakeJobs, Url, remote_jobs
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
)
from nightgrid.service.terminal.console import Exit, emit, note, say
from nightgrid.service.terminal.formats import Format
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import PermanentError, TransientError
from nightgrid.solvers.registry import game_plug

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import Found

MAX_WAIT_S = 7 * 24 * 3600.0
LOOK_EVERY_S = 0.5
SERVER_PATIENCE_S = 20.0
"""A server that is being started is waited for this long."""
NOTED_AFTER_S = 2.0
"""A wait that is longer is told."""


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
    rank: Annotated[
        bool,
        typer.Option(
            "--rank",
            help="Have the covers of Strands boards ranked by how likely each was meant; no ask "
            "and no rules beside it.",
        ),
    ] = False,
    rules: GameRules,
    split: Split = None,
    wait: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=MAX_WAIT_S,
            metavar="S",
            help="Wait up to S seconds for all of them, and print what became of them, as `result` "
            "does, instead of job ids.",
        ),
    ] = None,
    lake: LakeOption = None,
    url: Url = None,
    json: Json = False,
) -> int:
    """Queue puzzles to be solved soon, ahead of every batch, and print their job ids.

    Beside each id stand game, date and level of its puzzle. nightgrid solve --help says what a FILE
    may be. What the lake knows already costs nothing. Workers must run: `nightgrid worker`, here or
    on other machines. With --url a service is asked, and references are of its lake. Exit code: 0
    submitted, 1 no server, 3 bad input; with --wait as that of `result`.
    """
    from nightgrid.service.options.reading import read_sources
    from nightgrid.workers.broker.lake_keys import current_id
    from nightgrid.workers.cluster import server
    from nightgrid.workers.ondemand.jobs.rows import is_answered
    from nightgrid.workers.ondemand.jobs.status import status

    chosen = chosen_ask(
        text=ask, first=first, count=count, best=best, search=["--rank"] if rank else []
    )
    if rank:
        from nightgrid.archive.games import ranking_plug
        from nightgrid.service.cli.ranking.ondemand import submit_rankings

        ranked = ranking_plug().GAME
        if rules.said or typed or split or level or game not in (None, ranked):
            raise PermanentError(
                "--rank is given with an option of rules, of a typed board, --split, --level or "
                f"another game; expected files or references of {game_plug(ranked).title} alone"
            )
        return submit_rankings(files or [], lake, url, wait, json=json)
    rules.check()
    service = remote_jobs(url, lake)
    jobs: dict[str, str] = {}

    def wanted(name: str) -> Ask | None:
        return chosen or (game_plug(name).usual_ask if name else None)

    def told(job: str, name: str, value: dict[str, Any]) -> None:
        jobs[job] = name
        if wait is not None:
            return
        if json:
            emit(value)
        else:
            say(f"{job}  {name}")

    if service is not None:
        from nightgrid.service.cli.ondemand.remote_submit import submit_to

        with closing(service):
            code = submit_to(
                service,
                files or [],
                level or (),
                game,
                typed,
                wanted,
                rules,
                told,
                split,
                json=json,
            )
            return max(code, _waited(service, jobs, wait, json=json))
    source = LakeJobs(lake, split)
    settings, store = source.settings, source.lake

    @functools.cache
    def need_server() -> None:
        began, is_said = time.monotonic(), False
        while not server.is_up(settings):
            waited = time.monotonic() - began
            if waited < SERVER_PATIENCE_S:
                # `nightgrid worker &` in the line before has its server up in a moment.
                if waited > NOTED_AFTER_S and not is_said:
                    is_said = True
                    note(f"waiting for a server at {server.address(settings)} to start")
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

    def submit_one(found: Found, published: Published) -> Exit:
        asked = ask_about(found.game, published.puzzle, chosen, rules)
        if not is_answered(store, asked.job_id, settings):
            # What the lake knows is answered without one.
            need_server()
        job = submit_asked(store, asked, settings)
        state = status(store, job).state if json and wait is None else ""
        value = {"ask": str(asked.ask), **bound_json(asked.bound), "job_id": job, "state": state}
        told(job, name_of(found, published), head_json(found, asked.puzzle) | value)
        return Exit.OK

    sources = read_sources(files or [], level or (), game, typed, lake)
    code = each_puzzle(sources, submit_one, ask=wanted, json=json, spaced=False)
    return max(code, _waited(source, jobs, wait, json=json))


def _waited(source: Jobs, named: dict[str, str], wait: float | None, *, json: bool) -> Exit:
    """Wait for jobs where that is wanted, and tell what became of them."""
    if wait is None:
        return Exit.OK
    from nightgrid.service.cli.ondemand.result import tell_results

    form = Format.JSON if json else None
    return tell_results(source, named, wait, form)


def name_of(found: Found, published: Published) -> str:
    """Say which puzzle it is: game, date and level where they are known, else where it stands."""
    from nightgrid.archive.lookup.reference import reference_text

    if published.date is None:
        return " ".join(filter(None, (found.game, found.source, published.level)))
    return reference_text(found.game, published.date, published.level)

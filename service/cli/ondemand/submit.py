"""`nightgrid submit`: solves that a queue of their own works soon."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Annotated

import typer

from nightgrid.service.cli.ondemand.job_sources import Jobs, LakeJobs, Url, remote_jobs
from nightgrid.service.cli.ondemand.submission import Submission
from nightgrid.service.options.completion import ASKS, offer
from nightgrid.service.options.game_options import GameRules, with_game_rules, with_typed_boards
from nightgrid.service.options.shared_options import (
    DEADLINE_MAX_S,
    Best,
    Count,
    Deadline,
    Files,
    First,
    GameName,
    Json,
    LakeOption,
    Levels,
    check_range,
    chosen_ask,
)
from nightgrid.service.terminal.console import Exit
from nightgrid.service.terminal.formats import Format

MAX_WAIT_S = 7 * 24 * 3600.0


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
            help="count (the default), first, all, all(LIMIT), best(K) or meant(K); for Tiles "
            "first (the default) or best(1).",
        ),
    ] = None,
    first: First = False,
    count: Count = False,
    best: Best = None,
    rank: Annotated[
        bool,
        typer.Option(
            "--rank",
            help="Have the covers of Strands boards ranked by how likely each was meant: the ask "
            "meant(100).",
        ),
    ] = False,
    rules: GameRules,
    deadline: Deadline = None,
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
    on other machines. With --url a service is asked, which refuses jobs that would wait too long,
    and references are of its lake. Exit code: 0 submitted, 1 no server, 3 bad input; with --wait as
    that of `result`.
    """
    chosen = chosen_ask(text=ask, first=first, count=count, best=best, rank=rank)
    check_range(deadline, "--deadline", DEADLINE_MAX_S)
    rules.check()
    submission = Submission(
        files=files or [],
        typed=typed,
        levels=level or (),
        game=game,
        chosen=chosen,
        rules=rules,
        deadline_s=deadline,
        json=json,
        wait_s=wait,
    )
    service = remote_jobs(url, lake)
    if service is not None:
        from nightgrid.service.cli.ondemand.remote_submit import submit_to

        with closing(service):
            code = submit_to(service, submission)
            return max(code, _waited(service, submission.jobs, wait, json=json))
    from nightgrid.service.cli.ondemand.lake_submit import submit_here

    source = LakeJobs(lake)
    code = submit_here(source, submission, lake)
    return max(code, _waited(source, submission.jobs, wait, json=json))


def _waited(source: Jobs, named: dict[str, str], wait: float | None, *, json: bool) -> Exit:
    """Wait for jobs where that is wanted, and tell what became of them."""
    if wait is None:
        return Exit.OK
    from nightgrid.service.cli.ondemand.result import show_results

    form = Format.JSON if json else None
    return show_results(source, named, wait, form)

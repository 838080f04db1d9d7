"""`nightgrid submit`: solve puzzles soon, from a queue of their own."""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nightgrid.service.cli.answers import each_puzzle, head_json
from nightgrid.service.cli.ondemand.job_sources import LakeJobs, Url, jobs_at
from nightgrid.service.games import bound_json
from nightgrid.service.options.game_rules import GameRules, Lexicon, RuleTexts, read_rules
from nightgrid.service.options.shared_options import (
    AskOption,
    Best,
    Count,
    Deadline,
    Files,
    First,
    GameName,
    Json,
    LakeOption,
    Levels,
    Sides,
    chosen_ask,
)
from nightgrid.service.terminal.console import complain, emit, note, say
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.service.terminal.formats import Format
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game as game_named
from nightgrid.solvers.registry import game_plug

if TYPE_CHECKING:
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import ReadItem
    from nightgrid.service.remote import RemoteJobs
    from nightgrid.workers.settings import Settings

MAX_WAIT_S = 7 * 24 * 3600.0


def submit(
    *,
    files: Files = None,
    sides: Sides = None,
    level: Levels = None,
    game: GameName = None,
    ask: AskOption = None,
    first: First = False,
    count: Count = False,
    best: Best = None,
    rank: Annotated[
        bool,
        typer.Option(
            "--rank",
            help="Rank the covers of Strands boards: the ask meant(100).",
        ),
    ] = False,
    rule: RuleTexts = None,
    lexicon: Lexicon = None,
    deadline: Deadline = None,
    wait: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=MAX_WAIT_S,
            metavar="S",
            help="Wait up to S seconds, and print results instead of job ids.",
        ),
    ] = None,
    lake: LakeOption = None,
    url: Url = None,
    json: Json = False,
) -> int:
    """Queue puzzles to be solved soon, and print their job ids.

    They take precedence over batches. Answers that the lake has are free. Workers must be running:
    nightgrid worker. With --url, references are to the lake of the service. Exit code: 0 submitted,
    1 no server, 3 bad input; with --wait as of nightgrid result.
    """
    from nightgrid.service.options.reading import is_reference, read_sources

    chosen = chosen_ask(ask=ask, first=first, count=count, best=best, rank=rank)
    rules = read_rules(rule, lexicon)
    jobs: dict[str, str] = {}

    def submitted(job_id: str, name: str, value: Mapping[str, Any]) -> None:
        jobs[job_id] = name
        if wait is None and json:
            emit(value)
        elif wait is None:
            say(f"{job_id}  {name}")

    worst: int = Exit.OK
    read = list(files or ())
    with jobs_at(url, lake, writes=True) as source:
        if isinstance(source, LakeJobs):
            work = _to_lake(source, chosen, rules, deadline, wait)
        else:
            work = functools.partial(_board_to_service, source, chosen, rules, deadline)
            # References are to the lake of the service.
            references = [text for text in read if is_reference(text)]
            read = [text for text in read if text not in references]
            for text, named in itertools.product(references, level or (None,)):
                about = {"id": text, "level": named, "game": game, "ask": chosen and str(chosen)}
                try:
                    submitted(*_to_service(source, about, rules, deadline))
                except PermanentError as error:
                    complain(str(error))
                    worst = Exit.BAD_INPUT

        def submit_one(found: ReadItem, published: Published) -> Exit:
            submitted(*work(found, published))
            return Exit.OK

        if read or sides is not None or not files:
            boards = read_sources(read, level or (), game, sides, lake)
            code = each_puzzle(boards, submit_one, json=json, spaced=False)
            worst = max(worst, code)
        if wait is None:
            return worst
        from nightgrid.service.cli.ondemand.result import show_results

        return max(worst, show_results(source, jobs, wait, Format.JSON if json else None))


Work = Callable[["ReadItem", "Published"], tuple[str, str, dict[str, Any]]]
"""Submits a puzzle; returns its job id, its name, and its --json."""


def _name(found: ReadItem, published: Published) -> str:
    """Return game, date and level of a puzzle if known, else its source."""
    from nightgrid.archive.lookup.reference import reference_text

    if published.date is None:
        return " ".join(filter(None, (found.game, found.source, published.level)))
    return reference_text(found.game, published.date, published.level)


def _to_lake(
    jobs: LakeJobs,
    chosen: Ask | None,
    rules: GameRules,
    deadline_s: float | None,
    wait_s: float | None,
) -> Work:
    """Return a function that submits a puzzle to a lake.

    It raises TransientError if a puzzle needs a server and none answers in time.
    """
    from nightgrid.service.asking import ask_about
    from nightgrid.workers.ondemand.results import is_answered
    from nightgrid.workers.ondemand.submitting import submit

    settings, lake = jobs.settings, jobs.lake
    # One check is enough for all puzzles, and puzzles that the lake has answered need none.
    need_server = functools.cache(lambda: _begin(lake, settings, wait_s))

    def work(found: ReadItem, published: Published) -> tuple[str, str, dict[str, Any]]:
        asked = ask_about(found.game, published.puzzle, chosen, rules, published.clue)
        is_known = is_answered(lake, asked.job_id, settings)
        if not is_known:
            need_server()
        deadline_at = None if deadline_s is None else time.time() + deadline_s
        question = asked.bound, asked.puzzle, asked.ask
        job = submit(lake, *question, settings, deadline_at=deadline_at)
        value = {"ask": str(asked.ask), **bound_json(asked.bound), "job_id": job}
        value["state"] = "done" if is_known else jobs.status(job).state
        return job, _name(found, published), head_json(found, asked.puzzle) | value

    return work


def _begin(lake: Lake, settings: Settings, wait_s: float | None) -> None:
    """Wait until the server answers, and report it if a new lake is created."""
    from nightgrid.service.terminal.running import wait_for_server
    from nightgrid.workers.broker.redis_keys import current_id

    wait_for_server(settings, wait_s)
    if current_id(settings) is None:
        note(
            f"there was no lake at {lake.url}, so a new one is created; if you expected another, "
            "it was deleted or is not mounted here"
        )


def _board_to_service(
    service: RemoteJobs,
    chosen: Ask | None,
    rules: GameRules,
    deadline_s: float | None,
    found: ReadItem,
    published: Published,
) -> tuple[str, str, dict[str, Any]]:
    """Submit a puzzle read on this machine to a service."""
    ask = str(chosen or game_plug(found.game).usual_ask)
    puzzle = game_named(found.game).puzzle_to_json(published.puzzle)
    about: dict[str, Any] = {"puzzle": puzzle, "game": found.game, "ask": ask}
    if ask.startswith("meant"):
        about["clue"] = published.clue
    job, _, value = _to_service(service, about, rules, deadline_s)
    head = head_json(found, None)
    return job, _name(found, published), value | head | {"puzzle_id": value["puzzle_id"]}


def _to_service(
    service: RemoteJobs, about: Mapping[str, Any], rules: GameRules, deadline_s: float | None
) -> tuple[str, str, dict[str, Any]]:
    """Submit a question to a service, with rules and words."""
    from nightgrid.service.options.reading import read_input
    from nightgrid.service.remote import status_of

    words = None
    if rules.lexicon is not None:
        data, _ = read_input(rules.lexicon, "a word list")
        lines = data.decode("utf-8", "replace").splitlines()
        words = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    more = {"rules": rules.said or None, "words": words, "deadline_s": deadline_s}
    solve = service.submit({**about, **more})
    name = str(next(iter(solve["references"]), solve["puzzle_id"]))
    _, date, level = [*name.split("/"), None, None][:3] if "/" in name else [None] * 3
    value = {
        "source": name,
        "puzzle_id": solve["puzzle_id"],
        "game": solve["game"],
        "date": date,
        "level": level,
        "ask": solve["ask"],
        **({"rules": solve["rules"], "lexicon_id": solve["lexicon_id"]} if solve["rules"] else {}),
        "job_id": solve["id"],
        "state": status_of(solve).state,
    }
    return solve["id"], name, value

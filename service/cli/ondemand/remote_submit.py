"""Puzzles that are submitted to a service: files are read here, references there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nightgrid.service.cli.answers import each_puzzle
from nightgrid.service.options.game_options import GameRules
from nightgrid.service.options.reading import STDIN, is_reference, read_input, read_sources
from nightgrid.service.terminal.console import Exit, complain
from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game as game_named

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import Found
    from nightgrid.service.remote.jobs import RemoteJobs

Told = Callable[[str, str, dict[str, Any]], None]
"""Takes a job, what its puzzle is called, and what --json says of it."""


def submit_to(
    service: RemoteJobs,
    files: Sequence[str],
    levels: Sequence[str],
    game: str | None,
    typed: Mapping[str, str],
    wanted: Callable[[str], Ask | None],
    rules: GameRules,
    told: Told,
    split: str | None,
    *,
    json: bool,
) -> int:
    """Submit every puzzle of files, and every one that a reference names; return the worst code."""
    here = [file for file in files if not is_reference(file)]
    worst = Exit.OK
    for text in files:
        if text in here:
            continue
        for level in levels or (None,):
            chosen = wanted("")
            body = {"id": text, "level": level, "game": game, "split": split}
            body["ask"] = None if chosen is None else str(chosen)
            try:
                _submit(service, body, rules, told)
            except PermanentError as error:
                complain(str(error))
                worst = Exit.BAD_INPUT
    if not (here or typed or not files):
        return worst

    def submit_one(found: Found, published: Published) -> Exit:
        from nightgrid.service.cli.ondemand.submit import name_of

        puzzle = game_named(found.game).puzzle_to_json(published.puzzle)
        body = {
            "puzzle": puzzle,
            "game": found.game,
            "ask": str(wanted(found.game)),
            "split": split,
        }
        about = {"source": found.source, "level": published.level}
        if published.date is not None:
            about["date"] = published.date.isoformat()
        _submit(service, body, rules, told, name_of(found, published), about)
        return Exit.OK

    sources = read_sources(here or ([] if typed else [STDIN]), levels, game, typed)
    code = each_puzzle(sources, submit_one, ask=wanted, json=json, spaced=False)
    return max(worst, code)


def _submit(
    service: RemoteJobs,
    body: Mapping[str, Any],
    rules: GameRules,
    told: Told,
    name: str = "",
    about: Mapping[str, Any] | None = None,
) -> None:
    from nightgrid.service.remote.jobs import reference_of, status_of

    said = {key: value for key, value in rules.said.items() if key != "lexicon"}
    words = None if rules.lexicon is None else _words(rules.lexicon)
    solve = service.submit({**body, "rules": said or None, "words": words})
    reference = reference_of(solve)
    _, date, level = [*reference.split("/"), None, None][:3] if "/" in reference else [None] * 3
    value = {
        "source": reference,
        "puzzle_id": solve["puzzle_id"],
        "game": solve["game"],
        "date": date,
        "level": level,
        **(about or {}),
        "ask": solve["ask"],
        **({"rules": solve["rules"], "lexicon_id": solve["lexicon_id"]} if solve["rules"] else {}),
        "job_id": solve["id"],
        "state": status_of(solve).state,
    }
    told(solve["id"], name or reference, value)


def _words(file: str) -> list[str]:
    """Read the lines of a word list, without empty ones and comments."""
    data, _ = read_input(file, "a word list")
    lines = data.decode("utf-8", "replace").splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]

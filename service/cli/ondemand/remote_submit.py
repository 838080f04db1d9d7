"""Puzzles that are submitted to a service: files are read here, references there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nightgrid.service.cli.answers import each_puzzle
from nightgrid.service.cli.ondemand.submission import Submission, puzzle_name
from nightgrid.service.options.reading import STDIN, is_reference, read_input, read_sources
from nightgrid.service.terminal.console import Exit, complain
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import game as game_named

if TYPE_CHECKING:
    from nightgrid.archive.payloads.published import Published
    from nightgrid.service.options.reading import Found
    from nightgrid.service.remote.jobs import RemoteJobs


def submit_to(service: RemoteJobs, submission: Submission) -> int:
    """Submit every puzzle of files, and every one that a reference names; return the worst code."""
    files, levels = submission.files, submission.levels
    here = [file for file in files if not is_reference(file)]
    worst = Exit.OK
    for text in files:
        if text in here:
            continue
        for level in levels or (None,):
            body = {"id": text, "level": level, "game": submission.game}
            body["ask"] = None if submission.chosen is None else str(submission.chosen)
            try:
                _submit(service, submission, body)
            except PermanentError as error:
                complain(str(error))
                worst = Exit.BAD_INPUT
    if not (here or submission.typed or not files):
        return worst

    def submit_one(found: Found, published: Published) -> Exit:
        puzzle = game_named(found.game).puzzle_to_json(published.puzzle)
        ask = str(submission.ask_of(found.game))
        body: dict[str, Any] = {"puzzle": puzzle, "game": found.game, "ask": ask}
        if ask.startswith("meant"):
            body["clue"] = published.clue
        about = {"source": found.source, "level": published.level}
        if published.date is not None:
            about["date"] = published.date.isoformat()
        _submit(service, submission, body, puzzle_name(found, published), about)
        return Exit.OK

    read = here or ([] if submission.typed else [STDIN])
    sources = read_sources(read, levels, submission.game, submission.typed)
    code = each_puzzle(
        sources, submit_one, ask=submission.ask_of, json=submission.json, spaced=False
    )
    return max(worst, code)


def _submit(
    service: RemoteJobs,
    submission: Submission,
    body: Mapping[str, Any],
    name: str = "",
    about: Mapping[str, Any] | None = None,
) -> None:
    from nightgrid.service.remote.jobs import reference_of, status_of

    rules = submission.rules
    said = {key: value for key, value in rules.said.items() if key != "lexicon"}
    words = None if rules.lexicon is None else _words(rules.lexicon)
    more = {
        "rules": said or None,
        "words": words,
        "deadline_s": submission.deadline_s,
    }
    solve = service.submit({**body, **more})
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
    submission.print_job(solve["id"], name or reference, value)


def _words(file: str) -> list[str]:
    """Read the lines of a word list, without empty ones and comments."""
    data, _ = read_input(file, "a word list")
    lines = data.decode("utf-8", "replace").splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]

"""Jobs by what a person calls them: their ids, or references to the puzzles they are about."""

from __future__ import annotations

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.boards import find_boards
from nightgrid.archive.lookup.reference import (
    DateReference,
    looks_like_reference,
    read_reference,
)
from nightgrid.archive.results.results import find_results_of_puzzles
from nightgrid.solvers.canonical import ID_HEX_DIGITS
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.ondemand.status import status
from nightgrid.workers.ondemand.submissions import is_job_id, open_jobs


def jobs_named(lake: Lake, text: str) -> dict[str, str]:
    """Find the jobs that a job id or a reference means: what each is called, by its id.

    A job id means that job. A reference means every job about its puzzles that has a result, or is
    open: whatever was asked, under whatever rules, by a night, a count or on demand. A text of
    ID_HEX_DIGITS digits is a job id where there is such a job, else a puzzle id.

    Raises PermanentError, in one sentence, for a text that is neither, and for puzzles about which
    nothing was asked.
    """
    if not looks_like_reference(text):
        raise PermanentError(
            f"{text!r:.60} names no job; expected a job id of {ID_HEX_DIGITS} hexadecimal digits, "
            "or GAME/DATE[/LEVEL]"
        )
    is_id = is_job_id(text)
    if is_id and status(lake, text).state != "unknown":
        return {text: text}
    reference = read_reference(text)
    try:
        boards = find_boards(lake, reference)
    except PermanentError as error:
        if is_id:
            raise PermanentError(f"job {text} was never submitted to {lake.url}") from None
        if isinstance(reference, DateReference):
            raise PermanentError(f"{error}; a board submitted from a file has its job id") from None
        raise
    names = {board.published.puzzle.puzzle_id: board.name for board in boards}
    rows = find_results_of_puzzles(lake, list(names), ["puzzle_id", "job_id", "status", "run_id"])
    found = {row["job_id"]: names[row["puzzle_id"]] for row in rows.to_pylist()}
    for job_id, wanted in open_jobs(lake).wanted.items():
        if wanted.puzzle_id in names:
            found.setdefault(job_id, names[wanted.puzzle_id])
    if not found:
        raise PermanentError(
            f"nothing was asked about {text} in {lake.url}; nightgrid submit {text} does"
        )
    order = list(names.values())
    return dict(sorted(found.items(), key=lambda named: order.index(named[1])))

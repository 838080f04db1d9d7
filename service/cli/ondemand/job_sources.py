"""Look jobs up in a lake, or at a service."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Union

import typer

from nightgrid.service.options.shared_options import read_settings
from nightgrid.service.terminal.console import complain
from nightgrid.service.terminal.exit_codes import Exit
from nightgrid.solvers.canonical import ID_HEX_DIGITS, is_id
from nightgrid.solvers.errors import PermanentError

if TYPE_CHECKING:
    import pyarrow as pa

    from nightgrid.archive.lookup.reference import Reference
    from nightgrid.service.remote import RemoteJobs
    from nightgrid.workers.ondemand.status import JobStatus

URL_VARIABLE = "NIGHTGRID_URL"
Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="A service instead of a lake; its key: NIGHTGRID_API_KEY. Default: NIGHTGRID_URL.",
    ),
]


JobNames = Annotated[
    list[str],
    typer.Argument(
        metavar="JOB|REFERENCE",
        help="Job ids, or puzzles of the lake: GAME/DATE[/LEVEL], a puzzle id or a prefix of one.",
    ),
]


class LakeJobs:
    """The jobs of a lake."""

    def __init__(self, lake: str | None, *, writes: bool = True) -> None:
        from nightgrid.archive.lake.storage import Lake

        self.settings = read_settings(lake=lake, writes=writes)
        self.lake = Lake.open(self.settings.lake)

    def of_id(self, job_id: str) -> bool:
        """Return whether a job with this id exists."""
        return self.status(job_id).state != "unknown"

    def of_reference(self, reference: Reference) -> dict[str, str]:
        """Find every job about the puzzles of a reference that has a result or is open."""
        from nightgrid.archive.lake.faults import NotInLakeError
        from nightgrid.archive.lookup.boards import find_boards
        from nightgrid.archive.results.results import find_results_of_puzzles
        from nightgrid.workers.ondemand.submissions import open_jobs

        opened = {job: wanted.last.puzzle_id for job, wanted in open_jobs(self.lake).wanted.items()}
        try:
            boards = find_boards(self.lake, reference)
            names = {board.published.puzzle.puzzle_id: board.name for board in boards}
        except NotInLakeError:
            # A board that is only submitted is in no table until it has an answer.
            names = {name: name for name in opened.values() if name == str(reference)}
            if not names:
                raise
        columns = ["puzzle_id", "job_id", "status", "run_id"]
        rows = find_results_of_puzzles(self.lake, list(names), columns).to_pylist()
        about = opened | {row["job_id"]: row["puzzle_id"] for row in rows}
        return {
            job_id: name
            for puzzle_id, name in names.items()
            for job_id, mine in about.items()
            if mine == puzzle_id
        }

    def status(self, job_id: str) -> JobStatus:
        """Return the status of a job."""
        from nightgrid.workers.ondemand import status

        return status.status(self.lake, job_id)

    def result_row(self, job_id: str, *, timeout_s: float) -> dict[str, Any] | None:
        """Read a job's result row, or None if it does not arrive in time."""
        from nightgrid.workers.ondemand import results

        return results.result_row(self.lake, job_id, timeout_s=timeout_s)

    def cancel(self, job_id: str) -> tuple[JobStatus, bool]:
        """Cancel a job; return its status afterwards, and whether it was open."""
        from nightgrid.workers.ondemand.submitting import cancel_job

        return cancel_job(self.lake, job_id)

    def solution_tables(self, row: Mapping[str, Any]) -> Iterator[pa.Table]:
        """Read the solutions of a result, in canonical order."""
        from nightgrid.archive.results.results import solution_tables

        return solution_tables(self.lake, row)

    def puzzle(self, row: Mapping[str, Any]) -> Any | None:
        """Look up a puzzle from a night, a corpus or a submission."""
        from nightgrid.archive.lake.faults import NotInLakeError
        from nightgrid.archive.lookup.boards import find_boards
        from nightgrid.archive.lookup.reference import IdReference

        try:
            (board,) = find_boards(self.lake, IdReference(prefix=row["puzzle_id"]))
        except NotInLakeError:
            return None
        except PermanentError as error:
            complain(f"the board of {row['puzzle_id']} is not drawn: {error}")
            return None
        return board.published.puzzle


Jobs = Union[LakeJobs, "RemoteJobs"]


@contextmanager
def jobs_at(url: str | None, lake: str | None, *, writes: bool) -> Iterator[Jobs]:
    """Open the jobs of a service or of a lake in a `with` block.

    Raises PermanentError if both --url and --lake are given.
    """
    if url is not None and lake is not None:
        raise PermanentError("--url and --lake exclude one another; give one of them")
    chosen = url or (None if lake is not None else os.environ.get(URL_VARIABLE))
    if not chosen:
        yield LakeJobs(lake, writes=writes)
        return
    # Only commands about a service need the HTTP library.
    from nightgrid.service.remote import RemoteJobs

    with closing(RemoteJobs(chosen)) as jobs:
        yield jobs


def named_jobs(jobs: Jobs, texts: Sequence[str]) -> tuple[dict[str, str], Exit]:
    """Return the jobs that texts name, with their names, by id; complain about other texts."""
    found: dict[str, str] = {}
    code = Exit.OK
    for text in texts:
        try:
            found |= {text: text} if is_id(text) and jobs.of_id(text) else _about(jobs, text)
        except PermanentError as error:
            complain(str(error))
            code = Exit.BAD_INPUT
    return found, code


def _about(jobs: Jobs, text: str) -> dict[str, str]:
    from nightgrid.archive.lookup.reference import looks_like_reference, read_reference

    if not looks_like_reference(text):
        raise PermanentError(
            f"{text!r:.60} names no job; expected a job id of {ID_HEX_DIGITS} hexadecimal digits, "
            "a puzzle id or a prefix of one, or GAME/DATE[/LEVEL]"
        )
    reference = read_reference(text)
    try:
        found = jobs.of_reference(reference)
    except PermanentError as error:
        if is_id(text):
            raise PermanentError(f"job {text} was never submitted: {error}") from error
        raise PermanentError(f"{error}; a board submitted from a file has its job id") from error
    if not found:
        raise PermanentError(f"nothing was asked about {text}; nightgrid submit {text} does")
    return found

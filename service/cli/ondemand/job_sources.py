"""Where jobs are looked up: in a lake, or at a service that has one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from nightgrid.service.options.shared_options import read_settings
from nightgrid.service.terminal.console import Exit, complain
from nightgrid.solvers.errors import PermanentError

if TYPE_CHECKING:
    import pyarrow as pa

    from nightgrid.archive.results.solution_files import SolutionFile
    from nightgrid.service.remote.jobs import RemoteJobs
    from nightgrid.workers.ondemand.status import JobStatus

URL_VARIABLE = "NIGHTGRID_URL"
Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="A service (`nightgrid serve`) instead of a lake, by its address. Default: "
        "NIGHTGRID_URL. NIGHTGRID_API_KEY has the key to send.",
    ),
]


class Jobs(Protocol):
    """Jobs of a lake or of a service."""

    def names(self, text: str) -> dict[str, str]:
        """Find the jobs that a text names, each with what the text called it."""

    def status(self, job_id: str) -> JobStatus:
        """Tell where a job is."""

    def result_row(self, job_id: str, *, timeout_s: float) -> dict[str, Any] | None:
        """Read a job's result row, or None if it is not there in time."""

    def cancel(self, job_id: str) -> tuple[JobStatus, bool]:
        """Want a job no more; tell where it is then, and whether it was open."""

    def solution_tables(self, row: Mapping[str, Any]) -> Iterator[pa.Table]:
        """Read the solutions of a result, in canonical order."""

    def puzzle(self, row: Mapping[str, Any]) -> Any | None:
        """Look up the puzzle of a result; None where it is not known."""

    def files(self, row: Mapping[str, Any]) -> Sequence[SolutionFile]:
        """Name the files of solutions that are too many to be shown."""

    def close(self) -> None:
        """Close what was opened."""


class LakeJobs:
    """The jobs of a lake."""

    def __init__(self, lake: str | None, *, writes: bool = True) -> None:
        from nightgrid.archive.lake.storage import Lake

        self.settings = read_settings(lake=lake, writes=writes)
        self.lake = Lake.open(self.settings.lake)

    def names(self, text: str) -> dict[str, str]:
        """See Jobs."""
        from nightgrid.workers.ondemand.naming import jobs_named

        return jobs_named(self.lake, text)

    def status(self, job_id: str) -> JobStatus:
        """See Jobs."""
        from nightgrid.workers.ondemand import status

        return status.status(self.lake, job_id)

    def result_row(self, job_id: str, *, timeout_s: float) -> dict[str, Any] | None:
        """See Jobs."""
        from nightgrid.workers.ondemand import results

        return results.result_row(self.lake, job_id, timeout_s=timeout_s)

    def cancel(self, job_id: str) -> tuple[JobStatus, bool]:
        """See Jobs."""
        from nightgrid.workers.ondemand.submitting import cancel_job

        return cancel_job(self.lake, job_id, self.settings)

    def solution_tables(self, row: Mapping[str, Any]) -> Iterator[pa.Table]:
        """See Jobs."""
        from nightgrid.archive.results.results import solution_tables

        return solution_tables(self.lake, row)

    def puzzle(self, row: Mapping[str, Any]) -> Any | None:
        """Look up a puzzle that a night, a corpus or a question has brought."""
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

    def files(self, row: Mapping[str, Any]) -> Sequence[SolutionFile]:
        """See Jobs."""
        from nightgrid.archive.results.results import listed_files

        return listed_files(self.lake, row)

    def close(self) -> None:
        """See Jobs; a lake is not held open."""


def remote_jobs(url: str | None, lake: str | None) -> RemoteJobs | None:
    """Connect to the service that a command is about; None: it is about a lake.

    Raises PermanentError for --url beside --lake.
    """
    if url is not None and lake is not None:
        raise PermanentError("--url and --lake exclude one another; give one of them")
    chosen = url or (None if lake is not None else os.environ.get(URL_VARIABLE))
    if not chosen:
        return None
    # The library that speaks HTTP is for those commands alone that are about a service.
    from nightgrid.service.remote.client import open_client
    from nightgrid.service.remote.jobs import RemoteJobs

    return RemoteJobs(open_client(chosen))


@contextmanager
def jobs_at(url: str | None, lake: str | None, *, writes: bool) -> Iterator[Jobs]:
    """Open the jobs of a service or of a lake for the length of a `with` block."""
    with closing(remote_jobs(url, lake) or LakeJobs(lake, writes=writes)) as jobs:
        yield jobs


def named_jobs(
    jobs: Jobs, texts: Sequence[str], *, keep_ids: bool = False
) -> tuple[dict[str, str], Exit]:
    """Find the jobs that texts name; complain of each that names none.

    With `keep_ids`, ids of jobs that there are not are kept, for those who ask where a job is.
    """
    from nightgrid.workers.ondemand.submissions import is_job_id

    found: dict[str, str] = {}
    code = Exit.OK
    for text in texts:
        try:
            found |= jobs.names(text)
        except PermanentError as error:
            if keep_ids and is_job_id(text):
                found[text] = text
                continue
            complain(str(error))
            code = Exit.BAD_INPUT
    return found, code

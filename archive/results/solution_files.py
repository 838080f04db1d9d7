"""Solution files: listings/RUN/JOB/FIRST-STOP.parquet, for jobs with many solutions.

Each has the ranks FIRST to STOP - 1 of one job, in canonical order. So the name determines the
content, whichever worker wrote the file, and files with consecutive ranks are the solutions of the
job, whatever else is in the folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError

LISTINGS_FOLDER = "listings"
"""Kept apart from the files of solutions, which are merged and scanned."""
_NAME = re.compile(r"(?P<job>[0-9a-f]{32})/(?P<first>\d{12,})-(?P<stop>\d{12,})\.parquet$")


class SolutionFile(NamedTuple):
    """A file with some of the solutions of one job."""

    first: int
    """Rank of its first solution, ..."""
    stop: int
    """... and one past the rank of its last."""
    path: str
    job_id: str


def files_folder(run_id: str) -> str:
    """Return the folder of the solution files of a run."""
    return f"{LISTINGS_FOLDER}/{run_id}"


def file_path(folder: str, job_id: str, first: int, stop: int) -> str:
    """Return the file of some ranks of a job's solutions."""
    return f"{folder}/{job_id}/{first:012d}-{stop:012d}.parquet"


def list_files(lake: Lake, folder: str) -> list[SolutionFile]:
    """List the solution files under a folder, by job and rank; skip other files."""
    named = ((path, _NAME.search(path)) for path in lake.list(folder))
    found = [
        SolutionFile(int(match["first"]), int(match["stop"]), path, match["job"])
        for path, match in named
        if match is not None
    ]
    return sorted(found, key=lambda file: (file.job_id, file.first, file.stop))


def in_a_row(
    files: Iterable[SolutionFile], count: int, first: int = 0
) -> list[SolutionFile] | None:
    """Select files that cover the ranks `first` to `count` - 1, each once; None if some are
    missing.

    If a range was divided in two different ways, there are several choices; larger files win.
    """
    by_first: dict[int, list[SolutionFile]] = {}
    for file in files:
        if file.first < file.stop <= count:
            by_first.setdefault(file.first, []).append(file)
    # Backwards: which ranks lead to the end, and by which file.
    way: dict[int, SolutionFile | None] = {count: None}
    for rank in sorted(by_first, reverse=True):
        fits = [file for file in by_first[rank] if file.stop in way]
        if fits:
            way[rank] = max(fits)
    if first not in way:
        return None
    chosen: list[SolutionFile] = []
    step = way[first]
    while step is not None:
        chosen.append(step)
        step = way[step.stop]
    return chosen


def files_of(lake: Lake, run_id: str, job_id: str, count: int | None) -> list[SolutionFile]:
    """List the files with the solutions of a job, in canonical order; none if it has no files.

    Raises PermanentError if some of `count` solutions are missing.
    """
    found = list_files(lake, f"{files_folder(run_id)}/{job_id}")
    if not found or count is None:
        return []
    chosen = in_a_row(found, count)
    if chosen is None:
        folder = lake.location(files_folder(run_id))
        raise PermanentError(
            f"{folder}/{job_id} lacks some of the {count:,} solutions of job {job_id}; expected "
            f"files of ranks 0 to {count - 1}"
        )
    return chosen

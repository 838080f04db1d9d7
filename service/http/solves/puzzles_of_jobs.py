"""Which puzzle each open job is about."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.ondemand.record import puzzle_id_of
from nightgrid.workers.ondemand.record_files import list_jobs, read_record

READ_AT_ONCE = 8
"""Records that are read at the same time."""


class PuzzlesOfJobs:
    """Which puzzle each open job is about: what a record says of it never changes.

    Kept are the jobs that have a record, and each record is read once. Any thread may use it.
    """

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._lock = threading.Lock()
        self._known: Mapping[str, str] = {}
        """The puzzles of the jobs that were listed last."""
        self._begun = self._ended = 0
        """Number of the listing that was begun last, and of the last one that succeeded."""

    def jobs_about(self, puzzle_id: str) -> list[str]:
        """List the jobs about a puzzle that have a record, in the order of their ids."""
        return sorted(job for job, about in self._listed().items() if about == puzzle_id)

    def _listed(self) -> Mapping[str, str]:
        """Tell the puzzle of each job, by a listing that is begun after the call."""
        begun = self._begun
        with self._lock:
            # Of the calls that waited for another listing, the first one lists for all.
            if self._ended <= begun:
                self._begun += 1
                self._known = self._read()
                self._ended = self._begun
            return self._known

    def _read(self) -> Mapping[str, str]:
        jobs = list_jobs(self._lake)
        found = {job: self._known[job] for job in jobs if job in self._known}
        unknown = [job for job in jobs if job not in found]
        if unknown:
            with ThreadPoolExecutor(READ_AT_ONCE, "puzzles-of-jobs") as threads:
                puzzles = threads.map(self._puzzle_of, unknown)
                found |= {job: about for job, about in zip(unknown, puzzles, strict=True) if about}
        return found

    def _puzzle_of(self, job: str) -> str:
        try:
            record = read_record(self._lake, job)
            return "" if record is None else puzzle_id_of(self._lake, record)
        except PermanentError:
            # A record that is damaged, or whose puzzle is none, is about no puzzle.
            return ""

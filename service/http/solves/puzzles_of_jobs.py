"""Which puzzle each open job is about."""

from __future__ import annotations

from contextlib import suppress

from nightgrid.archive.lake.storage import Lake
from nightgrid.solvers.errors import PermanentError
from nightgrid.workers.bounded_cache import BoundedCache
from nightgrid.workers.ondemand.record import puzzle_id_of
from nightgrid.workers.ondemand.record_files import list_jobs, read_record

KNOWN_MAX = 10_000
"""Open jobs of which it is kept what they are about."""


class PuzzlesOfJobs:
    """Which puzzle each open job is about: what a record says of it never changes."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._known: BoundedCache[str, str] = BoundedCache(KNOWN_MAX)

    def jobs_about(self, puzzle_id: str) -> list[str]:
        """List the jobs about a puzzle that have a record, in the order of their ids."""
        return sorted(job for job in list_jobs(self._lake) if self._puzzle_of(job) == puzzle_id)

    def _puzzle_of(self, job: str) -> str:
        known = self._known.get(job) or ""
        # A record that is damaged, or whose puzzle is none, is about no puzzle.
        with suppress(PermanentError):
            if not known and (record := read_record(self._lake, job)) is not None:
                known = puzzle_id_of(self._lake, record)
                self._known.put(job, known)
        return known

"""Warn of jobs that the HTTP service would refuse, because those before them take too long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from nightgrid.service.terminal.console import complain
from nightgrid.solvers.sentences import plural
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.ondemand.jobs.expected_wait import ExpectedWait, too_long
from nightgrid.workers.ondemand.record_files import record_path

if TYPE_CHECKING:
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.service.asking import Asked
    from nightgrid.workers.settings import Settings


class LongWaits:
    """What the jobs of one command would wait for those before them. Used in a `with` block.

    Its end warns, in one line, of the jobs that would wait longer than a service lets a job wait.
    """

    def __init__(self, lake: Lake, settings: Settings) -> None:
        self._lake = lake
        self._most_s = settings.ondemand_wait_seconds
        self._client = connect(settings)
        self._waits = ExpectedWait(self._client, lake, settings)
        self._not_noted: list[Asked] = []
        self._long: list[tuple[str, float]] = []

    def add(self, asked: Asked, name: str) -> None:
        """Look how long a job would wait that is about to be submitted."""
        if self._lake.exists(record_path(asked.job_id)):
            # It waits already, for this client or another.
            return
        self._not_noted.append(asked)
        if self._waits.is_idle():
            # A close look at a board loads kernels, and none is needed where no job waits.
            return
        for each in self._not_noted:
            expected = each.bound.expected(each.bound.to_arrays([each.puzzle]), each.ask)
            self._waits.note(each.job_id, expected)
        self._not_noted.clear()
        wait_s = self._waits.wait_s(expected)
        if wait_s > self._most_s:
            self._long.append((name, wait_s))

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Warn of what would wait too long, also where another job failed meanwhile."""
        self._client.close()
        if self._long:
            complain(_warning(self._long, self._most_s))


def _warning(long: list[tuple[str, float]], most_s: float) -> str:
    """Say how long jobs would wait, and that they are queued."""
    (name, _), *others = long
    wait_s = max(wait_s for _, wait_s in long)
    if others:
        told = too_long(f"{name} and {plural(len(others), 'other job')}", wait_s, most_s)
        return f"{told}; they are queued all the same"
    return f"{too_long(name, wait_s, most_s)}; it is queued all the same"

"""Warn of jobs that the HTTP service would refuse, because those before them take too long."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from nightgrid.service.terminal.console import complain
from nightgrid.solvers.sentences import plural
from nightgrid.workers.broker.connection import connect
from nightgrid.workers.ondemand.jobs.expected_wait import ExpectedWait, Look, too_long

if TYPE_CHECKING:
    from nightgrid.archive.lake.storage import Lake
    from nightgrid.service.asking import Asked
    from nightgrid.workers.settings import Settings


class LongWaits:
    """What the jobs of one command would wait for those before them. Used in a `with` block.

    Its end warns, in one line, of the jobs that would wait longer than a service lets a job wait.
    """

    def __init__(
        self, lake: Lake, settings: Settings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._client = connect(settings)
        self._waits = ExpectedWait(self._client, lake, settings)
        self._clock = clock
        self._before: Look | None = None
        """What there is to do before the next job of the command."""
        self._known_at = 0.0
        self._not_counted: list[Asked] = []
        self._long: list[tuple[str, float]] = []

    def look(self) -> None:
        """Look at what waits, before the first job of the command is submitted.

        A look reads many records, so that a command takes one. What it submits itself it knows.
        """
        if self._before is None:
            self._before = self._waits.look()
            self._known_at = self._clock()

    def add(self, asked: Asked, name: str) -> None:
        """Note how long a job waits that was submitted now, and was not open before."""
        assert self._before is not None
        self._not_counted.append(asked)
        if self._before.is_idle and len(self._not_counted) == 1:
            # A close look at a board loads kernels, and none is needed for a job that waits for
            # none.
            return
        for each in self._not_counted:
            expected = each.bound.expected(each.bound.to_arrays([each.puzzle]), each.ask)
            before = self._left()
            self._before = self._waits.with_job(before, expected)
        self._not_counted.clear()
        wait_s = self._waits.wait_s(expected, look=before)
        if wait_s > self._settings.ondemand_wait_seconds:
            self._long.append((name, wait_s))

    def _left(self) -> Look:
        """Tell what is left of the queue: it is worked while the command submits."""
        assert self._before is not None
        now = self._clock()
        done_s = (now - self._known_at) * self._settings.interactive_processes
        self._known_at = now
        return replace(self._before, queue_s=max(0.0, self._before.queue_s - done_s))

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Warn of what would wait too long, also where another job failed meanwhile."""
        self._client.close()
        if self._long:
            complain(_warning(self._long, self._settings.ondemand_wait_seconds))


def _warning(long: list[tuple[str, float]], most_s: float) -> str:
    """Say how long jobs would wait, and that they are queued."""
    (name, _), *others = long
    wait_s = max(wait_s for _, wait_s in long)
    if others:
        told = too_long(f"{name} and {plural(len(others), 'other job')}", wait_s, most_s)
        return f"{told}; they are queued all the same"
    return f"{too_long(name, wait_s, most_s)}; it is queued all the same"

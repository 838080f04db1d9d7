"""Take the answers of a run in while it is worked, so that its end is soon written."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from archive.finishing import finish_run
from archive.gathering import Gathering
from archive.lake import Lake
from archive.runfiles import ChunkRef, open_run
from solvers.errors import NightgridError
from workers.logs import get_logger

log = get_logger("nightgrid.driver")

STEP_SECONDS = 0.1
"""A driver takes answers in for so long at once: workers wait for it."""


class Collector(contextlib.AbstractContextManager["Collector"]):
    """Answers of one run that are taken in chunk by chunk, and its end.

    They lie in the folder `side_dir`, where the next driver of the run deletes what one that was
    killed has left.
    """

    def __init__(self, lake: Lake, run_id: str, side_dir: Path) -> None:
        self._lake, self._run_id = lake, run_id
        self._folder = side_dir / f"answers-{run_id}"
        self._waiting: deque[ChunkRef] = deque()
        self._gathering: Gathering | None = None
        self._given_up = False

    def __exit__(self, *_: object) -> None:
        self._drop()

    @property
    def is_behind(self) -> bool:
        """Whether there is more to take in."""
        return bool(self._waiting)

    def add(self, refs: Iterable[ChunkRef]) -> None:
        """Take note of chunks that are done."""
        if not self._given_up:
            self._waiting += refs

    def step(self) -> None:
        """Take in some of what waits."""
        deadline = time.monotonic() + STEP_SECONDS
        while self._waiting and time.monotonic() < deadline:
            ref = self._waiting.popleft()
            try:
                if self._gathering is None:
                    run = open_run(self._lake, self._run_id)
                    self._gathering = Gathering(self._lake, run, self._folder)
                self._gathering.take(ref)
            except NightgridError:
                # The lake fails, or the part is gone: the end looks at it once more, and tells.
                continue
            except OSError as error:
                # Room on this disk has run out: what the end needs of it is told then.
                log.warning("answers not taken in", run=self._run_id, error=str(error))
                self._given_up = True
                self._drop()

    def finish(self) -> dict[str, Any]:
        """Finish the run: archive.finishing.finish_run."""
        gathering, self._gathering = self._gathering, None
        if gathering is None:
            return finish_run(self._lake, self._run_id)
        with gathering:
            return finish_run(self._lake, self._run_id, gathering)

    def _drop(self) -> None:
        self._waiting.clear()
        if self._gathering is not None:
            self._gathering.__exit__()
            self._gathering = None

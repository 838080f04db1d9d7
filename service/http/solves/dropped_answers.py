"""Show no answer from memory that retention has dropped: one look at the lake every few seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.dropped import ROWS_DROPPED_PATH
from nightgrid.solvers.errors import NightgridError

LOOK_S = 10.0
"""For so long, and for the length of a look, a service may show an answer that was dropped."""


class DroppedAnswers:
    """Looks whether retention has dropped rows, and has answers forgotten then."""

    def __init__(self, lake: Lake, forget: Callable[[], None]) -> None:
        """Look at nothing yet. `forget` is called in a thread."""
        self._lake = lake
        self._forget = forget
        self._seen: tuple[int, int] | None = None

    def begin(self) -> None:
        """Look now and then, in the running event loop."""
        self._task = asyncio.create_task(self._look_again())

    async def end(self) -> None:
        """Look no more."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    def look(self) -> None:
        """Look once; while the lake does not answer nothing is known to be dropped. Blocks."""
        with suppress(NightgridError, OSError):
            stamp = self._lake.stamp(ROWS_DROPPED_PATH)
            if stamp != self._seen:
                self._seen = stamp
                self._forget()

    async def _look_again(self) -> None:
        while True:
            await asyncio.to_thread(self.look)
            await asyncio.sleep(LOOK_S)

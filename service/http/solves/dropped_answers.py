"""Show no answer from memory that retention has dropped: one look at the lake every few seconds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from nightgrid.archive.lake.faults import MissingFileError
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.dropped import ROWS_DROPPED_PATH
from nightgrid.service.http.repeated import Repeated
from nightgrid.solvers.errors import NightgridError
from nightgrid.workers.logs import get_logger

log = get_logger("nightgrid.http")

LOOK_S = 10.0
"""For so long, and for the length of a look, a service may show an answer that was dropped."""


class DroppedAnswers:
    """Looks whether retention has dropped rows, and has answers forgotten then."""

    def __init__(self, lake: Lake, forget: Callable[[], None]) -> None:
        """Look at nothing yet. `forget` is called in a thread."""
        self._lake = lake
        self._forget = forget
        self._seen: bytes | None = None
        self._looks = Repeated(self.look, LOOK_S, _note_failure)

    def begin(self) -> None:
        """Look now and then, in the running event loop."""
        self._looks.begin()

    async def end(self) -> None:
        """Look no more."""
        await self._looks.end()

    def look(self) -> None:
        """Look once; while the lake does not answer nothing is known to be dropped. Blocks."""
        with suppress(NightgridError, OSError):
            note = self._read_note()
            if note != self._seen:
                self._forget()
                self._seen = note

    def _read_note(self) -> bytes | None:
        # Its text, not its time: some stores have whole seconds, and two notes may share one.
        try:
            return self._lake.read_bytes(ROWS_DROPPED_PATH)
        except MissingFileError:
            return None


def _note_failure(error: Exception) -> None:
    log.warning("dropped answers not looked for", error=repr(error))

"""Take the answers of a run in while it is worked, so that its end is soon written."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from archive.finishing import finish_run
from archive.gathering import BATCH_CHUNKS, Gathering, is_full
from archive.lake import Lake
from archive.runfiles import ChunkRef, Place, open_run
from archive.tables import PARTS
from solvers.errors import NightgridError
from workers.expansion import GROWTH_COLUMNS
from workers.logs import get_logger

log = get_logger("nightgrid.driver")

STEP_SECONDS = 0.1
"""A driver takes answers in for so long at once: workers wait for it."""
HELD_PARTS, HELD_BYTES = 2 * BATCH_CHUNKS, 2**23
"""Parts that are kept until they are taken in, beyond which they are read again."""


class Collector(contextlib.AbstractContextManager["Collector"]):
    """Answers of one run that are taken in some chunks at a time, and its end.

    They lie in the folder `side_dir`, where the next driver of the run deletes what one that was
    killed has left.
    """

    def __init__(self, lake: Lake, run_id: str, side_dir: Path) -> None:
        self._lake, self._run_id = lake, run_id
        self._folder = side_dir / f"answers-{run_id}"
        self._waiting: deque[tuple[ChunkRef, int]] = deque()
        self._waiting_rows = 0
        self._known: set[Place] = set()
        self._parts: dict[Place, pa.Table] = {}
        self._held_bytes = 0
        self._gathering: Gathering | None = None
        self._given_up = False

    def __exit__(self, *_: object) -> None:
        self._drop()

    @property
    def is_behind(self) -> bool:
        """Whether there is enough to take in at once."""
        return is_full(len(self._waiting), self._waiting_rows)

    def columns(self, place: Place) -> Sequence[str]:
        """Name what has to be read of the part of a chunk: of one that is known, how it goes on."""
        return GROWTH_COLUMNS if place in self._known else PARTS.names

    def add(self, ref: ChunkRef, part: pa.Table) -> None:
        """Take note of a chunk that is done, and of its part, as long as they are small and few."""
        if self._given_up or ref.place in self._known:
            return
        self._known.add(ref.place)
        self._waiting.append((ref, len(part)))
        self._waiting_rows += len(part)
        if len(self._parts) < HELD_PARTS and self._held_bytes + part.nbytes <= HELD_BYTES:
            self._held_bytes += part.nbytes
            self._parts[ref.place] = part

    def step(self) -> None:
        """Take in some of what waits, once it is worth it."""
        deadline = time.monotonic() + STEP_SECONDS
        while self.is_behind and time.monotonic() < deadline:
            self._take()

    def finish(self) -> dict[str, Any]:
        """Finish the run: archive.finishing.finish_run."""
        while self._waiting:
            self._take()
        gathering, self._gathering = self._gathering, None
        if gathering is None:
            return finish_run(self._lake, self._run_id)
        with gathering:
            return finish_run(self._lake, self._run_id, gathering)

    def _take(self) -> None:
        """Take in the chunks that have waited longest, as many as are taken at once."""
        refs: list[ChunkRef] = []
        rows = 0
        while self._waiting and not is_full(len(refs), rows):
            ref, more = self._waiting.popleft()
            refs.append(ref)
            rows += more
        self._waiting_rows -= rows
        parts = {r.place: self._parts.pop(r.place) for r in refs if r.place in self._parts}
        self._held_bytes -= sum(part.nbytes for part in parts.values())
        try:
            if self._gathering is None:
                run = open_run(self._lake, self._run_id)
                self._gathering = Gathering(self._lake, run, self._folder)
            self._gathering.take(refs, parts)
        except NightgridError:
            # The lake fails, or a part is gone: the end looks at them once more, and tells.
            return
        except OSError as error:
            # Room on this disk has run out: what the end needs of it is told then.
            log.warning("answers not taken in", run=self._run_id, error=str(error))
            self._given_up = True
            self._drop()

    def _drop(self) -> None:
        self._waiting.clear()
        self._parts.clear()
        self._waiting_rows = self._held_bytes = 0
        if self._gathering is not None:
            self._gathering.__exit__()
            self._gathering = None

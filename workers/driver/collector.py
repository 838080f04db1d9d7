"""Take the answers of a run in while it is worked, so that its end is soon written."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from nightgrid.archive.lake.faults import set_aside
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import PARTS
from nightgrid.solvers.errors import NightgridError, PermanentError
from nightgrid.workers.driver.chunk_records import Chunk
from nightgrid.workers.driver.chunk_table import ChunkTable
from nightgrid.workers.driver.follow_up_chunks import GROWTH_COLUMNS
from nightgrid.workers.logs import get_logger
from nightgrid.workers.runs.chunk_results import DamagedResultError
from nightgrid.workers.runs.finishing.finish import finish_run
from nightgrid.workers.runs.finishing.gathering import BATCH_CHUNKS, Gathering, is_full
from nightgrid.workers.runs.manifest import open_run
from nightgrid.workers.runs.run_files import ChunkKey, ChunkRef

log = get_logger("nightgrid.driver")

STEP_SECONDS = 0.1
"""A driver takes answers in for so long at once: workers wait for it."""
HELD_PARTS, HELD_BYTES = 2 * BATCH_CHUNKS, 2**23
"""Results that are kept until they are taken in, beyond which they are read again."""
DAMAGED_MAX = 3
"""Results of one chunk that are set aside, before that is the fault of the lake."""


class Collector(contextlib.AbstractContextManager["Collector"]):
    """Answers of one run that are taken in some chunks at a time, and its end.

    The table of chunks knows which wait for it. The answers lie in the folder `side_dir`, where the
    next driver of the run deletes what one that was killed has left.
    """

    def __init__(self, lake: Lake, run_id: str, side_dir: Path) -> None:
        self._lake, self._run_id = lake, run_id
        self._folder = side_dir / f"answers-{run_id}"
        self._held: dict[ChunkKey, pa.Table] = {}
        self._held_bytes = 0
        self._gathering: Gathering | None = None
        self._given_up = False
        self._damaged: Counter[ChunkKey] = Counter()

    def __exit__(self, *_: object) -> None:
        self._drop()

    def is_behind(self, table: ChunkTable) -> bool:
        """Tell whether there is enough to take in at once."""
        return not self._given_up and is_full(*table.uncollected_size)

    def columns(self, chunk: Chunk) -> Sequence[str]:
        """Name what has to be read of a result: how it goes on, and what is to be taken in."""
        gathered = self._gathering is not None and chunk.key in self._gathering.taken_chunks
        if gathered or chunk.reading is not None or chunk.part_of is not None:
            return GROWTH_COLUMNS
        return PARTS.names

    def hold(self, key: ChunkKey, part: pa.Table) -> None:
        """Keep the result of a chunk that waits, as long as they are small and few."""
        full = len(self._held) >= HELD_PARTS or self._held_bytes + part.nbytes > HELD_BYTES
        if full or self._given_up or len(part.column_names) < len(PARTS.names):
            return
        self._held[key] = part
        self._held_bytes += part.nbytes

    def set_aside(self, error: DamagedResultError) -> None:
        """Set a damaged result aside, so that its chunk is worked again.

        Raises PermanentError where a lake damages the result of one chunk again and again.
        """
        ref = error.ref
        self._damaged[ref.key] += 1
        if self._damaged[ref.key] > DAMAGED_MAX:
            raise PermanentError(
                f"{error}: the result of {ref.name} was damaged {DAMAGED_MAX + 1} times; expected "
                "a lake that keeps what is written"
            )
        aside = set_aside(self._lake, ref.result_path)
        log.warning("result set aside", chunk=ref.name, to=aside, reason=str(error))

    def step(self, table: ChunkTable) -> None:
        """Take in some of what waits, once it is worth it."""
        deadline = time.monotonic() + STEP_SECONDS
        while self.is_behind(table) and time.monotonic() < deadline:
            self._take(table)

    def finish(self, table: ChunkTable) -> dict[str, Any]:
        """Finish the run: nightgrid.workers.runs.finishing.finish.finish_run."""
        while table.uncollected_size[0] and not self._given_up:
            self._take(table)
        gathering, self._gathering = self._gathering, None
        if gathering is None:
            return finish_run(self._lake, self._run_id)
        with gathering:
            return finish_run(self._lake, self._run_id, gathering)

    def _take(self, table: ChunkTable) -> None:
        """Take in the chunks that have waited longest, as many as are taken at once."""
        refs: list[ChunkRef] = []
        rows = 0
        for chunk in table.uncollected():
            if is_full(len(refs), rows):
                break
            refs.append(table.ref(chunk.key))
            rows += chunk.rows
        for ref in refs:
            table.collect(ref.key)
        parts = {r.key: self._held.pop(r.key) for r in refs if r.key in self._held}
        self._held_bytes -= sum(part.nbytes for part in parts.values())
        try:
            if self._gathering is None:
                run = open_run(self._lake, self._run_id)
                self._gathering = Gathering(self._lake, run, self._folder)
            self._gathering.take(refs, parts)
        except OSError as error:
            # Room on this disk has run out: what the end needs of it is told then.
            log.warning("answers not taken in", error=str(error))
            self._given_up = True
            self._drop()
        except NightgridError:
            # The lake fails, or a result is gone: the end reads them once more, and tells.
            return

    def _drop(self) -> None:
        self._held.clear()
        self._held_bytes = 0
        if self._gathering is not None:
            self._gathering.__exit__()
            self._gathering = None

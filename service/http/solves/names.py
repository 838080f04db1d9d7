"""Dates and levels of puzzles: the editions of the lake by puzzle, read anew when they change."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from contextlib import suppress

from nightgrid.archive.games import has_plug
from nightgrid.archive.ingest.editions import editions_path
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import EDITIONS
from nightgrid.archive.lookup.reference import reference_text
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.registry import GAMES

LOOK_S = 5.0
"""How long what was read counts."""
_COLUMNS = ("date", "level", "puzzle_id")


class Names:
    """Tells on which dates puzzles stood. Any thread may use it."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._looked_at = -math.inf
        self._sizes: Mapping[str, int] = {}
        self._names: dict[str, list[str]] = {}
        self._looking = threading.Lock()

    def of(self, puzzle_id: str) -> tuple[str, ...]:
        """Name the editions of a puzzle, the last date first; none where the lake knows none."""
        now = time.monotonic()
        if now - self._looked_at > LOOK_S and self._looking.acquire(blocking=False):
            try:
                self._looked_at = now
                # Names are for people: without a lake those that were read last are as good.
                with suppress(NightgridError):
                    self._read()
            finally:
                self._looking.release()
        return tuple(self._names.get(puzzle_id, ()))

    def _read(self) -> None:
        sizes = self._lake.sizes("editions")
        if sizes == self._sizes:
            return
        names: dict[str, list[str]] = {}
        for game in filter(has_plug, GAMES):
            rows = self._lake.read_table(editions_path(game), EDITIONS, _COLUMNS).to_pylist()
            for row in sorted(rows, key=lambda row: row["date"], reverse=True):
                name = reference_text(game, row["date"], row["level"])
                mine = names.setdefault(row["puzzle_id"], [])
                if name not in mine:
                    mine.append(name)
        self._names, self._sizes = names, sizes

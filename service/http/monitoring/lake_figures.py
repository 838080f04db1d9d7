"""Figures of the lake: its files and results, and how the last nights ended.

A request for figures reads what is known. Files and results are counted in a thread every five
minutes, and of results only the files that are new since: none of it makes a request wait.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any

import pyarrow as pa
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from nightgrid.archive.lake.json_files import read_hint
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lake.tables import RESULTS as RESULTS_SCHEMA
from nightgrid.archive.results.contradictions import contradicted_count
from nightgrid.archive.results.files import RESULTS_FOLDER
from nightgrid.service.http.monitoring.families import Samples, families
from nightgrid.service.http.monitoring.metric_list import (
    BYTES,
    CONTRADICTIONS,
    COUNTED,
    FILES,
    NIGHT,
    NIGHT_GOOD,
    NIGHT_PLANNED,
    NIGHT_SECONDS,
    NIGHT_SUCCESS,
    OF_LAKE,
    OF_NIGHTS,
    QUARANTINE,
    QUARANTINED,
    RESULTS,
)
from nightgrid.service.http.monitoring.route_names import OTHER
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.registry import GAMES
from nightgrid.workers.cached import Cached

LAKE_S = 300.0
"""The files of the lake are counted so often, beside the requests for figures."""
NIGHTS_S = 15.0
"""The reports of nights are read so often."""
_TABLES = ("results", "solutions", "listings", "puzzles", "raw", "runs", "corpora", "gold")
"""Folders of the lake that are told apart; the others are one."""
Rows = Counter[tuple[str, str]]


class LakeFigures(Collector):
    """What is known of a lake's files, results and nights."""

    def __init__(self, lake: Callable[[], Lake]) -> None:
        """Count nothing yet; `lake` gives the lake once it is open."""
        self._lake = lake
        self._known: Samples = {}
        self._rows: dict[str, Rows] = {}
        """Rows of each file of results, which never changes."""
        self._lock = threading.Lock()
        self._counted_at: float | None = None
        self._nights = Cached(lambda: _nights(lake()), NIGHTS_S)

    def describe(self) -> list[Metric]:
        """Say nothing of them before they are asked for."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Give what was counted last, and begin to count anew where that is long ago."""
        with self._lock:
            now = time.monotonic()
            due = self._counted_at is None or now - self._counted_at >= LAKE_S
            if due:
                self._counted_at = now
        if due:
            threading.Thread(target=self.count, name="lake-figures", daemon=True).start()
        yield from families(OF_LAKE, self._known)
        with suppress(NightgridError):
            yield from families(OF_NIGHTS, self._nights.get())

    def count(self) -> None:
        """Count files, bytes and results; while the lake does not answer, what is known stays."""
        with suppress(NightgridError, pa.ArrowException):
            lake = self._lake()
            sizes = lake.sizes()
            samples: Samples = {}
            for path, size in sizes.items():
                folder = path.partition("/")[0]
                table = folder if folder in _TABLES else OTHER
                for figure, amount in ((FILES, 1), (BYTES, size)):
                    sample = figure.name, (table,)
                    samples[sample] = samples.get(sample, 0) + amount
            files = [path for path in sizes if path.startswith(f"{RESULTS_FOLDER}/")]
            for key, number in self._results(lake, files).items():
                samples[RESULTS.name, key] = number
            samples[COUNTED.name, ()] = time.time()
            self._known = samples

    def _results(self, lake: Lake, files: list[str]) -> Rows:
        known = self._rows
        self._rows = {path: known.get(path) or _rows_of(lake, path) for path in files}
        return sum(self._rows.values(), Counter())


def _rows_of(lake: Lake, path: str) -> Rows:
    rows: Rows = Counter()
    # One that is gone or damaged is looked at again next time: an empty count is not kept.
    with suppress(NightgridError, pa.ArrowException):
        for table in lake.scan_file(path, RESULTS_SCHEMA, ("game", "status")):
            counted = table.group_by(["game", "status"]).aggregate([([], "count_all")])
            for row in counted.to_pylist():
                rows[row["game"], row["status"]] += row["count_all"]
    return rows


def _nights(lake: Lake) -> Samples:
    samples: Samples = {}
    for game in GAMES:
        for name, value in (read_hint(lake, f"gold/nightly-{game}.json", _night) or {}).items():
            samples[name, (game,)] = value
        if (count := contradicted_count(lake, game)) is not None:
            samples[CONTRADICTIONS.name, (game,)] = count
    return samples


def _night(told: dict[str, Any]) -> dict[str, float]:
    """Read the figures of a night of what it has filed."""
    ended = datetime.fromisoformat(told["ended_at"]).timestamp()
    is_good = not (told["failure"] or told["source_failed"])
    # A night of an earlier version does not say when the last good one was.
    good_at = told.get("succeeded_at")
    success = datetime.fromisoformat(good_at).timestamp() if good_at else ended if is_good else None
    return {
        NIGHT.name: ended,
        NIGHT_GOOD.name: float(is_good),
        NIGHT_SECONDS.name: float(told["wall_seconds"]),
        NIGHT_PLANNED.name: float(told["planned"]),
        QUARANTINE.name: float(told["in_quarantine"]),
        QUARANTINED.name: float(told["quarantined"]),
        **({} if success is None else {NIGHT_SUCCESS.name: success}),
    }

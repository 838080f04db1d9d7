"""Gauges of queue, nights and lake, computed when Prometheus scrapes them.

Files and results are counted at most every five minutes.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from threading import Condition
from typing import Any

import pyarrow as pa
from cachetools import TTLCache, cached
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from nightgrid.archive.lake.schemas import RESULTS as RESULTS_SCHEMA
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.contradictions import contradicted_count
from nightgrid.archive.results.files import RESULTS_FOLDER
from nightgrid.archive.state import NIGHT_REPORT, read_state
from nightgrid.service.http.monitoring.queue_snapshot import QueueSnapshot
from nightgrid.service.http.monitoring.requests import OTHER
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.registry import GAMES

LAKE_S = 300.0
"""Interval of counting the lake's files."""
NIGHTS_S = 15.0
"""Seconds for which reports of nights are cached."""
_TABLES = ("results", "solutions", "listings", "puzzles", "raw", "runs", "corpora", "gold")
"""Folders of the lake with a label of their own; the others share one."""
Samples = Mapping[Any, float]
"""Values of a gauge by a tuple of label values."""
NIGHT_GAUGES = {
    "nightgrid_night_timestamp_seconds": "When the last night of a game ended, as Unix time.",
    "nightgrid_night_good": "Whether it succeeded.",
    "nightgrid_night_success_timestamp_seconds": "When the last night of a game that succeeded "
    "ended, as Unix time.",
    "nightgrid_night_seconds": "How long the last night took for a game.",
    "nightgrid_night_jobs": "Jobs of the last night without an earlier answer.",
    "nightgrid_quarantine": "Rules broken by payloads of the lake, as of the last night.",
    "nightgrid_night_quarantined": "Those of them that are new in the last night.",
    "nightgrid_contradictions": "Answers that differ from those of another version of the solver, "
    "as of the last comparison.",
}


GAUGES = {
    "nightgrid_jobs": "Open on-demand jobs: `queued`, or `running`.",
    "nightgrid_jobs_oldest_seconds": "Age of the oldest open job, waiting or running; 0 if there "
    "is none.",
    "nightgrid_records_damaged": "Unreadable submission files.",
    "nightgrid_server_up": "Whether the Redis server answers. Without it the gauges of queues are "
    "missing.",
    "nightgrid_worker_processes": "Processes of living workers; 0 for a queue without any.",
    "nightgrid_workers_refusing": "Workers that recently refused to work.",
    "nightgrid_queue_messages": "Messages: `waiting`, or `taken` by a worker, dead or alive.",
    "nightgrid_queue_oldest_seconds": "Age of the oldest waiting message; 0 if there is none.",
    "nightgrid_chunks_waiting": "Unfinished chunks of all driven runs, queued or not.",
    "nightgrid_lake_files": "Files of the lake by folder.",
    "nightgrid_lake_bytes": "Their bytes.",
    "nightgrid_results": "Rows of results in the lake; `poison` and `over_budget` need a look.",
    "nightgrid_lake_counted_timestamp_seconds": "When files and results were counted, as Unix "
    "time: every five minutes.",
    **NIGHT_GAUGES,
}
"""What each gauge means."""
LABELS = {
    "nightgrid_jobs": ("game", "state"),
    "nightgrid_worker_processes": ("queue",),
    "nightgrid_queue_messages": ("queue", "state"),
    "nightgrid_queue_oldest_seconds": ("queue",),
    "nightgrid_lake_files": ("table",),
    "nightgrid_lake_bytes": ("table",),
    "nightgrid_results": ("game", "status"),
    **dict.fromkeys(NIGHT_GAUGES, ("game",)),
}
"""The labels of gauges that have some."""


def _gauge(name: str, samples: Samples | float) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, GAUGES[name], labels=LABELS.get(name, ()))
    for values, value in (samples if isinstance(samples, Mapping) else {(): samples}).items():
        family.add_metric(values, float(value))
    return family


def job_gauges(snapshot: QueueSnapshot) -> Iterator[GaugeMetricFamily]:
    """Yield gauges of open on-demand jobs, which are in the lake."""
    yield _gauge("nightgrid_jobs", snapshot.jobs)
    yield _gauge("nightgrid_jobs_oldest_seconds", snapshot.oldest_s or 0.0)
    yield _gauge("nightgrid_records_damaged", snapshot.damaged)
    yield _gauge("nightgrid_server_up", snapshot.alive is not None)


def queue_gauges(snapshot: QueueSnapshot) -> Iterator[GaugeMetricFamily]:
    """Yield gauges of queues and workers, which are in Redis."""
    queues, workers, batch = snapshot.queues, (snapshot.alive or {}).values(), snapshot.batch
    processes = {(q,): sum(w["processes"] for w in workers if q in w["queues"]) for q in queues}
    messages = {(name, "waiting"): queue.queued for name, queue in queues.items()}
    messages |= {(name, "taken"): queue.acquired for name, queue in queues.items()}
    oldest = {(name,): queue.oldest_s for name, queue in queues.items()}
    yield _gauge("nightgrid_worker_processes", processes)
    yield _gauge("nightgrid_workers_refusing", len(snapshot.refusing))
    yield _gauge("nightgrid_queue_messages", messages)
    yield _gauge("nightgrid_queue_oldest_seconds", oldest)
    yield _gauge("nightgrid_chunks_waiting", {} if batch is None else batch.chunks_waiting)


def lake_gauges(
    files: Samples, sizes: Samples, results: Samples, counted_at: float
) -> Iterator[GaugeMetricFamily]:
    """Yield gauges of the lake's files and results."""
    yield _gauge("nightgrid_lake_files", files)
    yield _gauge("nightgrid_lake_bytes", sizes)
    yield _gauge("nightgrid_results", results)
    yield _gauge("nightgrid_lake_counted_timestamp_seconds", counted_at)


def night_gauges(values: Mapping[str, Samples]) -> Iterator[GaugeMetricFamily]:
    """Yield gauges of the last nights, given their values by name and game."""
    for name in NIGHT_GAUGES:
        yield _gauge(name, values.get(name, {}))


class Gauges(Collector):
    """Collects the gauges of one service's queue and lake."""

    def __init__(self, lake: Lake, queue: Callable[[], QueueSnapshot]) -> None:
        """Count nothing before the first scrape."""
        self._lake, self._queue = lake, queue
        self._of_lake = cached(TTLCache(1, LAKE_S), condition=Condition())(
            lambda: list(self._count())
        )
        self._nights = cached(TTLCache(1, NIGHTS_S), condition=Condition())(lambda: _nights(lake))

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield all gauges, except those of a part that does not answer."""
        with suppress(NightgridError):
            snapshot = self._queue()
            yield from job_gauges(snapshot)
            if snapshot.alive is not None:
                yield from queue_gauges(snapshot)
        with suppress(NightgridError, pa.ArrowException):
            yield from self._of_lake()
        with suppress(NightgridError):
            yield from night_gauges(self._nights())

    def _count(self) -> Iterator[GaugeMetricFamily]:
        """Count files, bytes and results."""
        lake, files, sizes = self._lake, Counter[tuple[str]](), Counter[tuple[str]]()
        results = Counter[tuple[str, ...]]()
        for path, size in lake.sizes().items():
            folder = path.partition("/")[0]
            table = (folder if folder in _TABLES else OTHER,)
            files[table] += 1
            sizes[table] += size
            if path.startswith(f"{RESULTS_FOLDER}/"):
                results += _rows_of(lake, path)
        return lake_gauges(files, sizes, results, time.time())


def _rows_of(lake: Lake, path: str) -> Counter[tuple[str, ...]]:
    rows: Counter[tuple[str, ...]] = Counter()
    # The file may just have been merged.
    with suppress(NightgridError, pa.ArrowException):
        for table in lake.scan_file(path, RESULTS_SCHEMA, ("game", "status")):
            counted = table.group_by(["game", "status"]).aggregate([([], "count_all")])
            for row in counted.to_pylist():
                rows[row["game"], row["status"]] += row["count_all"]
    return rows


def _nights(lake: Lake) -> dict[str, dict[tuple[str, ...], float]]:
    values: dict[str, dict[tuple[str, ...], float]] = {name: {} for name in NIGHT_GAUGES}
    for game in GAMES:
        if told := read_state(lake, game, NIGHT_REPORT):
            for name, value in _night(told).items():
                values[name][game,] = value
        if (count := contradicted_count(lake, game)) is not None:
            values["nightgrid_contradictions"][game,] = count
    return values


def _night(told: dict[str, Any]) -> dict[str, float]:
    """Extract the values of a night from its report."""
    good_at = told["succeeded_at"]
    return {
        "nightgrid_night_timestamp_seconds": _unix(told["ended_at"]),
        "nightgrid_night_good": not (told["failure"] or told["source_failed"]),
        **({"nightgrid_night_success_timestamp_seconds": _unix(good_at)} if good_at else {}),
        "nightgrid_night_seconds": told["wall_seconds"],
        "nightgrid_night_jobs": told["planned"],
        "nightgrid_quarantine": told["in_quarantine"],
        "nightgrid_night_quarantined": told["quarantined"],
    }


def _unix(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()

"""GET /metrics: figures of the service in the text format of Prometheus."""

from __future__ import annotations

import threading
import time
from collections import Counter as Tally
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any

import pyarrow as pa
from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.types import Scope

from nightgrid.archive.lake.json_files import read_hint
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.results.results import scan_results
from nightgrid.service.http.state import Here
from nightgrid.service.http.watch.cached import Cached
from nightgrid.service.http.watch.look import QueueLook
from nightgrid.service.http.watch.routes import OTHER, method_of, route_of
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.registry import GAMES

router = APIRouter(tags=["service"])
LAKE_S = 300.0
"""The files of the lake are counted so often, beside the requests for figures."""
LATENCIES_S = (0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)
_TABLES = ("results", "solutions", "listings", "puzzles", "raw", "runs", "corpora", "gold")
"""Folders of the lake that are told apart; the others are one."""


class Figures:
    """What is counted as requests go by, and what is looked up when figures are asked for."""

    def __init__(self, lake: Callable[[], Lake], queue: Callable[[], Cached[QueueLook]]) -> None:
        """Count nothing yet; the functions are called when figures are asked for."""
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._requests = Counter(
            "nightgrid_http_requests",
            "Requests by route and status.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._latency = Histogram(
            "nightgrid_http_request_seconds",
            "Seconds from a request to the beginning of its answer.",
            ("method", "route"),
            buckets=LATENCIES_S,
            registry=self.registry,
        )
        self.registry.register(_Queue(queue))
        self.registry.register(_OfLake(lake))

    def count(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request whose answer begins."""
        # Labels are names of ours alone: what a client made up would be kept for ever.
        method, route = method_of(scope), route_of(scope)
        self._requests.labels(method, route, str(status)).inc()
        self._latency.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        """Write all figures."""
        return generate_latest(self.registry)


class _Queue(Collector):
    """Figures of the queue, of its last look."""

    def __init__(self, queue: Callable[[], Cached[QueueLook]]) -> None:
        self._queue = queue

    def describe(self) -> list[Metric]:
        """Say nothing of them before they are asked for."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Look, and give what was seen; while the lake does not answer there is nothing."""
        try:
            look = self._queue().get()
        except NightgridError:
            return
        jobs = GaugeMetricFamily(
            "nightgrid_jobs", "Open jobs on demand by game and state.", labels=("game", "state")
        )
        for (game, state), number in look.jobs.items():
            jobs.add_metric((game, state), number)
        yield jobs
        yield GaugeMetricFamily(
            "nightgrid_jobs_oldest_seconds",
            "Age of the oldest open job, waiting or worked; 0 without one.",
            value=look.oldest_s or 0.0,
        )
        yield GaugeMetricFamily(
            "nightgrid_records_damaged", "What lies among records and is none.", value=look.damaged
        )
        yield GaugeMetricFamily(
            "nightgrid_server_up",
            "Whether the Redis server answers.",
            value=float(look.alive is not None),
        )
        workers = GaugeMetricFamily(
            "nightgrid_worker_processes", "Processes of living workers.", labels=("queue",)
        )
        serving: Tally[str] = Tally()
        for about in (look.alive or {}).values():
            for name in about["queues"]:
                serving[str(name)] += about["processes"]
        for name, number in serving.items():
            workers.add_metric((name,), number)
        yield workers
        depth = GaugeMetricFamily(
            "nightgrid_queue_messages", "Messages by queue.", labels=("queue", "state")
        )
        oldest = GaugeMetricFamily(
            "nightgrid_queue_oldest_seconds", "Age of the oldest message.", labels=("queue",)
        )
        for name, status in look.queues.items():
            depth.add_metric((name, "waiting"), status.queued)
            depth.add_metric((name, "taken"), status.acquired)
            oldest.add_metric((name,), status.oldest_s)
        yield depth
        yield oldest


class _OfLake(Collector):
    """Figures of the lake's files: counted in a thread now and then, never while one waits."""

    def __init__(self, lake: Callable[[], Lake]) -> None:
        self._lake = lake
        self._known: list[Metric] = []
        self._lock = threading.Lock()
        self._counted_at: float | None = None

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
        yield from self._known
        yield from self._nights()

    def count(self) -> None:
        """Count files, bytes and results; while the lake does not answer, what is known stays."""
        with suppress(NightgridError, pa.ArrowException):
            self._known = [*_files(self._lake()), _results(self._lake())]

    def _nights(self) -> Iterator[Metric]:
        ended = GaugeMetricFamily(
            "nightgrid_night_timestamp_seconds",
            "When the last night of a game ended, as Unix time.",
            labels=("game",),
        )
        good = GaugeMetricFamily(
            "nightgrid_night_good", "Whether it went through.", labels=("game",)
        )
        with suppress(NightgridError):
            for game in GAMES:
                night = read_hint(self._lake(), f"gold/nightly-{game}.json", _night)
                if night is not None:
                    ended.add_metric((game,), night[0])
                    good.add_metric((game,), night[1])
        yield ended
        yield good


def _night(told: dict[str, Any]) -> tuple[float, float]:
    """Read when a night ended, and whether it went through, of what it has filed."""
    is_good = not (told["failure"] or told["source_failed"])
    return datetime.fromisoformat(told["ended_at"]).timestamp(), float(is_good)


def _files(lake: Lake) -> Iterator[Metric]:
    files: Tally[str] = Tally()
    sizes: Tally[str] = Tally()
    for path, size in lake.sizes().items():
        folder = path.partition("/")[0]
        table = folder if folder in _TABLES else OTHER
        files[table] += 1
        sizes[table] += size
    for name, what, found in (
        ("nightgrid_lake_files", "Files of the lake.", files),
        ("nightgrid_lake_bytes", "Their bytes.", sizes),
    ):
        family = GaugeMetricFamily(name, what, labels=("table",))
        for table, number in found.items():
            family.add_metric((table,), number)
        yield family


def _results(lake: Lake) -> Metric:
    tally: Tally[tuple[str, str]] = Tally()
    for table in scan_results(lake, ("game", "status")):
        counted = table.group_by(["game", "status"]).aggregate([([], "count_all")])
        for row in counted.to_pylist():
            tally[row["game"], row["status"]] += row["count_all"]
    family = GaugeMetricFamily(
        "nightgrid_results", "Rows of results by game and status.", labels=("game", "status")
    )
    for key, number in tally.items():
        family.add_metric(key, number)
    return family


@router.get(
    "/metrics",
    summary="Read the figures of the service",
    response_class=PlainTextResponse,
)
def metrics(service: Here) -> Response:
    """Write the figures in the text format of Prometheus."""
    return Response(service.figures.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})

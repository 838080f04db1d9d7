"""GET /metrics: figures of service, workers, drivers and nights in the format of Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.types import Scope

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.monitoring.families import Samples, families
from nightgrid.service.http.monitoring.lake_figures import LakeFigures
from nightgrid.service.http.monitoring.metric_list import (
    CHUNKS_WAITING,
    CLIENTS_DROPPED,
    DAMAGED,
    DROPPED,
    JOBS,
    JOBS_OLDEST,
    MESSAGES,
    OF_QUEUE,
    OF_SERVER,
    PROCESSES,
    QUEUE_OLDEST,
    REFUSING,
    REQUEST_SECONDS,
    REQUESTS,
    SERVER_UP,
    WANTED,
)
from nightgrid.service.http.monitoring.queue_snapshot import QueueSnapshot
from nightgrid.service.http.monitoring.route_names import method_of, route_of
from nightgrid.service.http.state import Here
from nightgrid.solvers.algebra import Status
from nightgrid.solvers.errors import NightgridError
from nightgrid.solvers.registry import GAMES
from nightgrid.workers.cached import Cached
from nightgrid.workers.figures import ROWS

router = APIRouter(tags=["service"])
LATENCIES_S = (0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)

# When a counter was made says nothing that is asked, and doubles the lines.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Figures:
    """What is counted as requests go by, and what is looked up when figures are asked for."""

    def __init__(
        self, lake: Callable[[], Lake], queue: Callable[[], Cached[QueueSnapshot]]
    ) -> None:
        """Count nothing yet; the functions are called when figures are asked for."""
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._requests = Counter(
            REQUESTS.name, REQUESTS.about, REQUESTS.labels, registry=self.registry
        )
        self._latency = Histogram(
            REQUEST_SECONDS.name,
            REQUEST_SECONDS.about,
            REQUEST_SECONDS.labels,
            buckets=LATENCIES_S,
            registry=self.registry,
        )
        self._dropped = Counter(
            CLIENTS_DROPPED.name,
            CLIENTS_DROPPED.about,
            CLIENTS_DROPPED.labels,
            registry=self.registry,
        )
        self.lake = LakeFigures(lake)
        self.registry.register(_Queue(queue))
        self.registry.register(self.lake)

    def count(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request whose answer begins."""
        # Labels are names of ours alone: what a client made up would be kept for ever.
        method, route = method_of(scope), route_of(scope)
        self._requests.labels(method, route, str(status)).inc()
        self._latency.labels(method, route).observe(seconds)

    def drop(self, why: str) -> None:
        """Count a client that was refused or disconnected before the service saw its request."""
        self._dropped.labels(why).inc()

    def text(self) -> bytes:
        """Write all figures."""
        return generate_latest(self.registry)


class _Queue(Collector):
    """Figures of the queue, of its last snapshot."""

    def __init__(self, queue: Callable[[], Cached[QueueSnapshot]]) -> None:
        self._queue = queue

    def describe(self) -> list[Metric]:
        """Say nothing of them before they are asked for."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Look, and give what was seen; while the lake does not answer there is nothing."""
        try:
            snapshot = self._queue().get()
        except NightgridError:
            return
        samples: Samples = {(JOBS.name, key): number for key, number in snapshot.jobs.items()}
        samples[JOBS_OLDEST.name, ()] = snapshot.oldest_s or 0.0
        samples[DAMAGED.name, ()] = snapshot.damaged
        samples[SERVER_UP.name, ()] = snapshot.alive is not None
        yield from families(OF_QUEUE, samples)
        if snapshot.alive is not None:
            yield from families(OF_SERVER, _of_server(snapshot))


def _of_server(snapshot: QueueSnapshot) -> Samples:
    # A counter that is not there before its first event would not show that event as an increase.
    samples: Samples = {(ROWS.name, (game, str(Status.POISON))): 0 for game in GAMES}
    samples |= {(REFUSING.name, ()): len(snapshot.refusing), **snapshot.figures}
    for name, status in snapshot.queues.items():
        samples[MESSAGES.name, (name, "waiting")] = status.queued
        samples[MESSAGES.name, (name, "taken")] = status.acquired
        samples[QUEUE_OLDEST.name, (name,)] = status.oldest_s
        samples[PROCESSES.name, (name,)] = sum(
            about["processes"]
            for about in (snapshot.alive or {}).values()
            if name in about["queues"]
        )
    if snapshot.batch is not None:
        samples[CHUNKS_WAITING.name, ()] = snapshot.batch.chunks_waiting
        samples[WANTED.name, ()] = snapshot.batch.processes_wanted
    for place, number in snapshot.dropped.items():
        samples[DROPPED.name, (place,)] = number
    return samples


@router.get(
    "/metrics",
    summary="Read the figures of the service",
    response_class=PlainTextResponse,
)
def metrics(service: Here) -> Response:
    """Write the figures in the text format of Prometheus."""
    return Response(service.figures.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})

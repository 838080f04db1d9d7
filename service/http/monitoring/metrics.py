"""GET /metrics: the service's own metrics, and gauges of queue and lake.

Workers, keeper and drivers export theirs on a port of their host (nightgrid.workers.exporter).
"""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)

from nightgrid.service.http.state import Here

router = APIRouter(tags=["service"])
LATENCIES_S = (0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)

# Label values are names of ours alone: what a client made up would be kept for ever.
REQUESTS = Counter(
    "nightgrid_http_requests_total",
    "Requests by route and status.",
    ["method", "route", "status"],
)
REQUEST_SECONDS = Histogram(
    "nightgrid_http_request_seconds",
    "Seconds from a request to the beginning of its answer.",
    ["method", "route"],
    buckets=LATENCIES_S,
)
CLIENTS_DROPPED = Counter(
    "nightgrid_http_clients_dropped_total",
    "Clients that were refused or disconnected for what they sent, sent slowly or did not read, "
    "before an application saw it: the kind of problem, or `answer-not-taken`.",
    ["why"],
)
METRICS = (REQUESTS, REQUEST_SECONDS, CLIENTS_DROPPED)


@router.get(
    "/metrics",
    summary="Read the figures of the service",
    response_class=PlainTextResponse,
)
def metrics(service: Here) -> Response:
    """Write the metrics in the text format of Prometheus."""
    gauges = CollectorRegistry()
    gauges.register(service.gauges)
    text = generate_latest(REGISTRY) + generate_latest(gauges)
    return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})

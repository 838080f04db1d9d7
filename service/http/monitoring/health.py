"""GET /healthz, /readyz, /v1/queue and /metrics: is the process healthy, would it solve now.

Workers, keeper and drivers export their metrics on a port of their host
(nightgrid.workers.exporter).
"""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from pydantic import BaseModel, Field

from nightgrid.archive.lake.location import is_missing
from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.guard.access import KEY
from nightgrid.service.http.monitoring.queue_snapshot import RUNNING, WAITING
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.state import Here
from nightgrid.solvers.errors import NightgridError
from nightgrid.workers.broker.queues import Demand

router = APIRouter(tags=["service"])
api_router = APIRouter(tags=["service"])
RETRY_AFTER_S = 2


class Health(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Ready(BaseModel):
    """Lake and Redis server answer, and a living worker takes on-demand solves."""

    status: Literal["ready"] = "ready"


class WorkerAbout(BaseModel):
    """A living worker."""

    name: str
    processes: int
    queues: list[str]
    refusing: str | None = Field(description="Why it refuses work now; null: it does not.")


class Queue(BaseModel):
    """The queue as it was within the last second."""

    waiting: int = Field(description="Jobs that no worker has started.")
    running: int = Field(description="Jobs that a worker has started.")
    oldest_s: float | None = Field(description="Age of the oldest open job, waiting or running.")
    state: Literal["up", "starting", "none"] = Field(
        description="Whether a worker is alive, or some are starting on the service's machine."
    )
    answers: bool = Field(description="Whether the Redis server answers.")
    workers: list[WorkerAbout]
    batch: Demand | None


@router.get("/healthz")
async def healthz() -> Health:
    """Report that the process is alive; depends on neither lake nor server."""
    return Health()


@router.get("/readyz", summary="Check whether solves would be processed")
def readyz(service: Here) -> Ready:
    """Return whether the lake, the Redis server and a worker for on-demand solves are available."""
    missing = ["lake", "server", "workers"]
    if _answers(service.lake):
        snapshot = service.queue()
        found = {"server": snapshot.alive is not None, "workers": snapshot.serves}
        missing = [name for name, is_there in found.items() if not is_there]
    if missing:
        detail = f"not there yet: {', '.join(missing)}"
        raise Problem("not-ready", detail, headers={"Retry-After": str(RETRY_AFTER_S)})
    return Ready()


def _answers(lake: Lake) -> bool:
    try:
        return not is_missing(lake.url) and lake.list("lake.json") is not None
    except NightgridError:
        return False


@router.get(
    "/metrics",
    summary="Read the metrics of the service",
    response_class=PlainTextResponse,
    dependencies=[KEY],
)
def metrics(service: Here) -> Response:
    """Return the metrics in the text format of Prometheus."""
    gauges = CollectorRegistry()
    gauges.register(service.gauges)
    text = generate_latest(REGISTRY) + generate_latest(gauges)
    return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})


@api_router.get("/queue", summary="Read the state of the queue")
def queue(service: Here) -> Queue:
    """Return queue lengths and workers, updated at most once a second."""
    snapshot = service.queue()
    alive = snapshot.alive or {}
    return Queue(
        waiting=snapshot.number(WAITING),
        running=snapshot.number(RUNNING),
        oldest_s=None if snapshot.oldest_s is None else round(max(0.0, snapshot.oldest_s), 3),
        state="up" if alive else "starting" if snapshot.starting else "none",
        answers=snapshot.alive is not None,
        workers=[
            WorkerAbout(
                name=name,
                processes=about["processes"],
                queues=sorted(map(str, about["queues"])),
                refusing=snapshot.refusing.get(name),
            )
            for name, about in sorted(alive.items())
        ],
        batch=snapshot.batch,
    )

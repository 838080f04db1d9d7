"""GET /v1/queue: who waits, who works, and how old the oldest open job is."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from nightgrid.service.http.monitoring.queue_snapshot import RUNNING, WAITING
from nightgrid.service.http.state import Here

router = APIRouter(tags=["service"])


class WorkerAbout(BaseModel):
    """A living worker."""

    name: str
    processes: int
    queues: list[str]
    refusing: str | None = Field(description="Why it cannot work just now; null: it can.")


class Batch(BaseModel):
    """What the batch workers have before them."""

    chunks_waiting: int
    queued: int
    acquired: int
    oldest_s: float
    processes: int


class Queue(BaseModel):
    """The queue as it was within the last second."""

    waiting: int = Field(description="Jobs that no worker has begun.")
    running: int = Field(description="Jobs that are worked.")
    oldest_s: float | None = Field(description="Age of the oldest open job, waiting or worked.")
    state: Literal["up", "starting", "none"] = Field(
        description="Whether a worker lives, or some are being started on the service's machine."
    )
    answers: bool = Field(description="Whether the Redis server answers.")
    workers: list[WorkerAbout]
    batch: Batch | None


@router.get("/queue", summary="Look at the queue")
def queue(service: Here) -> Queue:
    """Count who waits and who works. It is looked at once a second at most."""
    snapshot = service.queue.get()
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
        batch=None if snapshot.batch is None else Batch(**asdict(snapshot.batch)),
    )

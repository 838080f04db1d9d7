"""Follow a job by server-sent events, which a client that comes back takes up where it left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from sse_starlette import EventSourceResponse, ServerSentEvent

from nightgrid.service.http.solves.following import Look
from nightgrid.service.http.solves.routes import found_solve
from nightgrid.service.http.state import Here, Service

router = APIRouter(tags=["solves"])
PING_S = 15
RETRY_MS = 1000
"""When a client whose connection is gone comes back."""
_ID_DIGITS_MAX = 18


@router.get(
    "/solves/{job_id}/events",
    response_class=EventSourceResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def get_events(job_id: str, request: Request, service: Here) -> EventSourceResponse:
    """Tell what happens to a job: `state`, `progress`, `part` and at last `end`."""
    await asyncio.to_thread(found_solve, service, job_id)
    return events_of(job_id, request, service)


def events_of(
    job_id: str, request: Request, service: Service, look: Look | None = None
) -> EventSourceResponse:
    """Send what happens to a job, from where its client left; `look` shows it if it is no solve."""
    text = request.headers.get("last-event-id", "")
    known = text.isascii() and text.isdecimal() and len(text) <= _ID_DIGITS_MAX
    events = _events(service, job_id, int(text) if known else None, look)
    return EventSourceResponse(events, ping=PING_S, headers={"X-Accel-Buffering": "no"})


async def _events(
    service: Service, job_id: str, last_id: int | None, look: Look | None
) -> AsyncIterator[ServerSentEvent]:
    async with service.hub.follow(job_id, look) as job:
        while not service.stopping.is_set():
            for event in job.after(last_id):
                last_id = event.id
                yield ServerSentEvent(
                    data=event.data, event=event.name, id=str(event.id), retry=RETRY_MS
                )
                if event.name == "end":
                    return
            if job.is_unknown:
                return
            await job.change(PING_S)

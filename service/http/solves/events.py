"""Follow a job by server-sent events, which a client that comes back takes up where it left."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request, Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from nightgrid.service.http.guard.access import Client
from nightgrid.service.http.guard.connections import too_many
from nightgrid.service.http.solves.following import Look
from nightgrid.service.http.solves.routes import found_solve
from nightgrid.service.http.state import Here, Service

router = APIRouter(tags=["solves"])
PING_S = 15
KEY_LOOK_S = 5.0
"""How often a client of a stream is looked up: a key that was revoked ends its streams."""
RETRY_MS = 1000
"""When a client whose connection is gone comes back."""
_ID_DIGITS_MAX = 18


REPLIES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}},
    204: {"description": "The client has had the last event: there is nothing to come back for."},
}


@router.get("/solves/{job_id}/events", response_class=EventSourceResponse, responses=REPLIES)
async def get_events(job_id: str, request: Request, service: Here) -> Response:
    """Stream what happens to a job: `state`, `progress`, `part` and at last `end`."""
    path = request.url.path
    if not service.hub.has_seen(job_id, path):
        await service.look_once(path, lambda: found_solve(service, job_id))
    return events_of(job_id, request, service)


def events_of(
    job_id: str, request: Request, service: Service, look: Look | None = None
) -> Response:
    """Send what happens to a job, from where its client left; `look` shows it if it is no solve."""
    text = request.headers.get("last-event-id", "")
    known = text.isascii() and text.isdecimal() and len(text) <= _ID_DIGITS_MAX
    last_id = int(text) if known else None
    if service.hub.has_told_all(job_id, last_id):
        # An EventSource comes back after every other answer.
        return Response(status_code=204)
    if service.hub.is_full:
        raise too_many()
    events = _events(service, job_id, request.state.client, last_id, look)
    return EventSourceResponse(events, ping=PING_S, headers={"X-Accel-Buffering": "no"})


async def _events(
    service: Service, job_id: str, client: Client, last_id: int | None, look: Look | None
) -> AsyncIterator[ServerSentEvent]:
    look_s = PING_S if client.key is None else KEY_LOOK_S
    async with service.hub.follow(job_id, look) as job:
        while not service.stopping.is_set() and await service.access.still_has(client):
            for event in job.after(last_id):
                last_id = event.id
                yield ServerSentEvent(
                    data=event.data, event=event.name, id=str(event.id), retry=RETRY_MS
                )
                if event.name == "end":
                    return
            if job.is_unknown:
                return
            await job.change(look_s)

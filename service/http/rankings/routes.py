"""Ask for the ranked covers of a board, look them up, follow how they are made, and leave."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from sse_starlette import EventSourceResponse
from structlog.contextvars import bind_contextvars

from nightgrid.archive.games import ranking_plug
from nightgrid.archive.results.rankings import RankingRequest
from nightgrid.service.http.guard.access import Client
from nightgrid.service.http.guard.posted import posted_board, wrong
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.rankings.models import Ranking, RankingBody
from nightgrid.service.http.solves.events import REPLIES, events_of
from nightgrid.service.http.solves.following import Look
from nightgrid.service.http.solves.replays import HEADER, digest_of
from nightgrid.service.http.solves.routes import interest_for, interest_of, left_by_one
from nightgrid.service.http.solves.solve_json import is_over
from nightgrid.service.http.solves.solve_request import wait_of
from nightgrid.service.http.state import Here, Service
from nightgrid.solvers.errors import TransientError
from nightgrid.workers.ondemand.record import is_job_id
from nightgrid.workers.ranking.ondemand import (
    RankingStatus,
    leave_ranking,
    ranking_status,
    submit_ranking,
)

router = APIRouter(tags=["rankings"])
API = "/v1/rankings"
SHOWN = 10
SHOWN_MAX = 100
RETRY_AFTER_S = 1
RANKED = b"rank "
"""Tells a body that asks for a ranking from the same one that asks for a solve."""
Limit = Annotated[int, Query(ge=1, le=SHOWN_MAX, description="Covers, the likeliest first.")]
_REPLY: dict[int | str, dict[str, Any]] = {
    202: {"model": Ranking, "description": "It is not made yet; Location says where to look."},
}


@router.post("/rankings", response_model=Ranking, responses=_REPLY, summary="Rank the covers")
async def post_ranking(
    body: RankingBody, request: Request, service: Here, limit: Limit = SHOWN
) -> Response:
    """Rank the covers of a Strands board by how likely each was meant.

    What the lake knows is answered at once; `Prefer: wait=N` waits up to N seconds for the rest.
    """
    client: Client = request.state.client
    wait_s = wait_of(request.headers.getlist("prefer"))
    key = request.headers.get(HEADER)
    digest = digest_of(RANKED + await request.body())
    if key is not None:
        await asyncio.to_thread(service.replays.check, client.name, key, digest)
    wanted = await asyncio.to_thread(_wanted, service, body)
    if key is not None:
        await asyncio.to_thread(service.replays.note, client.name, key, digest)
    interest = interest_for(client, key)
    ranking_id = await asyncio.to_thread(_begin, service, wanted, client, interest)
    value = await service.until_over(ranking_id, wait_s, _look_of(service))
    if value is None:
        raise TransientError(f"ranking {ranking_id} is gone")
    if is_over(value):
        return JSONResponse(_cut(await asyncio.to_thread(_found, service, ranking_id), limit))
    headers = {"Location": value["links"]["self"], "Retry-After": str(RETRY_AFTER_S)}
    return JSONResponse(value, 202, headers=headers)


@router.get("/rankings/{ranking_id}", response_model=Ranking, summary="Show a ranking")
def get_ranking(ranking_id: str, service: Here, limit: Limit = SHOWN) -> Response:
    """Show where a ranking is, and its covers when they are there."""
    return JSONResponse(_cut(_found(service, ranking_id), limit))


@router.get(
    "/rankings/{ranking_id}/events",
    response_class=EventSourceResponse,
    responses=REPLIES,
    summary="Follow a ranking",
)
async def get_ranking_events(ranking_id: str, request: Request, service: Here) -> Response:
    """Tell what happens to a ranking: `state` and at last `end`."""
    path = request.url.path
    if not service.hub.has_seen(ranking_id, path):
        await service.look_once(path, lambda: _found(service, ranking_id))
    return events_of(ranking_id, request, service, _look_of(service))


@router.delete("/rankings/{ranking_id}", response_model=Ranking, summary="Leave a ranking")
async def delete_ranking(
    ranking_id: str, request: Request, service: Here, limit: Limit = SHOWN
) -> Response:
    """Want a ranking no more; it is cancelled unless another client wants it."""
    client: Client = request.state.client
    bind_contextvars(ranking=ranking_id)
    interest = interest_of(request)

    def leave() -> tuple[dict[str, Any], int]:
        _found(service, ranking_id)
        _, left = leave_ranking(service.lake, ranking_id, interest, service.settings.workers)
        service.open_jobs.left(client, ranking_id)
        return _found(service, ranking_id), left

    value, left = await asyncio.to_thread(leave)
    service.hub.moved(ranking_id)
    return left_by_one(_cut(value, limit), left)


def _found(service: Service, ranking_id: str) -> dict[str, Any]:
    """Look a ranking up. Raises Problem for one that there is not."""
    value = _look(service, ranking_id) if is_job_id(ranking_id) else None
    if value is None:
        detail = f"{ranking_id!r:.60} is no ranking"
        raise Problem(404, "no-such-ranking", "There is no such ranking", detail)
    return value


def _look(service: Service, ranking_id: str) -> dict[str, Any] | None:
    found = ranking_status(service.lake, ranking_id)
    return None if found.state == "unknown" else _shown(service, found)


def _look_of(service: Service) -> Look:
    """Give what shows rankings, briefly, to those who follow them."""

    async def look(ranking_id: str) -> dict[str, Any] | None:
        value = await asyncio.to_thread(_look, service, ranking_id)
        return None if value is None else _cut(value, SHOWN)

    return look


def _cut(value: dict[str, Any], limit: int) -> dict[str, Any]:
    """Show so many covers."""
    return {**value, "covers": value["covers"][:limit]}


def _wanted(service: Service, body: RankingBody) -> RankingRequest:
    """Read which ranking is wanted. Raises Problem for what is no board that is ranked."""
    ranks = ranking_plug()
    given = {"puzzle": body.puzzle, "id": body.id, "game": ranks.GAME}
    posted = posted_board(service.lake, given, service.settings.limits)
    if not ranks.can_rank(posted.published.puzzle):
        raise wrong("/id" if body.puzzle is None else "/puzzle", ranks.NOT_RANKED)
    clue = posted.published.clue if body.clue is None else body.clue
    return RankingRequest(puzzle=posted.published.puzzle, clue=clue)


def _begin(service: Service, wanted: RankingRequest, client: Client, interest: str) -> str:
    """Submit a ranking that the lake does not have."""
    ranking_id = wanted.ranking_id(ranking_plug().ranker_here())
    known = ranking_status(service.lake, ranking_id)
    if known.state == "done":
        return ranking_id
    if not known.is_open:
        service.admission.check()
    service.open_jobs.add(client, ranking_id)
    try:
        submit_ranking(service.lake, wanted, service.settings.workers, interest)
    except TransientError:
        # Without a server it is accepted all the same once the lake has it: the keeper sends it.
        if not ranking_status(service.lake, ranking_id).is_open:
            raise
    service.submitted(ranking_id)
    return ranking_id


def _shown(service: Service, found: RankingStatus) -> dict[str, Any]:
    row = found.ranking or {}
    if not found.is_open:
        service.open_jobs.ended(found.ranking_id)
    failed = found.state == "failed" or row.get("status") == "poison"
    with_model = row.get("with_model")
    place = f"{API}/{found.ranking_id}"
    return {
        "id": found.ranking_id,
        "state": "failed" if failed else found.state,
        "puzzle_id": row.get("puzzle_id"),
        "clue": row.get("clue"),
        "ranker": row.get("ranker"),
        "with_model": with_model,
        "note": ranking_plug().ALONE if with_model is False else "",
        "status": row.get("status"),
        "reason": found.reason or row.get("reason", ""),
        "seconds": row.get("seconds"),
        "cover_count": row.get("cover_count"),
        "covers": row.get("covers", [])[:SHOWN_MAX],
        "links": {"self": place, "events": f"{place}/events"},
    }

"""Ask for the ranked covers of a board, and look them up."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from nightgrid.archive.games import ranking_plug
from nightgrid.archive.results.rankings import Wanted
from nightgrid.service.http.guard.access import Client
from nightgrid.service.http.guard.posted import posted_board, wrong
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.rankings.models import Ranking, RankingBody
from nightgrid.service.http.solves.preferences import wait_of
from nightgrid.service.http.state import Here, Service
from nightgrid.workers.ondemand.record import is_job_id
from nightgrid.workers.ranking.ondemand import (
    RankingStatus,
    ranking_status,
    submit_ranking,
    wait_for_ranking,
)

router = APIRouter(tags=["rankings"])
API = "/v1/rankings"
SHOWN = 10
SHOWN_MAX = 100
RETRY_AFTER_S = 1
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
    ranking_id = await asyncio.to_thread(_begin, service, body, client)
    found = await asyncio.to_thread(wait_for_ranking, service.lake, ranking_id, wait_s)
    value = _shown(service, found, limit)
    if value["state"] != "queued":
        return JSONResponse(value)
    headers = {"Location": value["links"]["self"], "Retry-After": str(RETRY_AFTER_S)}
    return JSONResponse(value, 202, headers=headers)


@router.get("/rankings/{ranking_id}", response_model=Ranking, summary="Show a ranking")
def get_ranking(ranking_id: str, service: Here, limit: Limit = SHOWN) -> Response:
    """Show where a ranking is, and its covers when they are there."""
    if is_job_id(ranking_id):
        found = ranking_status(service.lake, ranking_id)
        if found.state != "unknown":
            return JSONResponse(_shown(service, found, limit))
    raise Problem(
        404, "no-such-ranking", "There is no such ranking", f"{ranking_id!r:.60} is no ranking"
    )


def _begin(service: Service, body: RankingBody, client: Client) -> str:
    """Submit a ranking that the lake does not have. Raises Problem for what is no such board."""
    ranks = ranking_plug()
    given = {"puzzle": body.puzzle, "id": body.id, "game": ranks.GAME}
    posted = posted_board(service.lake, given, service.settings.limits)
    if not ranks.can_rank(posted.published.puzzle):
        raise wrong("/id" if body.puzzle is None else "/puzzle", ranks.NOT_RANKED)
    clue = posted.published.clue if body.clue is None else body.clue
    wanted = Wanted(puzzle=posted.published.puzzle, clue=clue)
    ranking_id = wanted.ranking_id(ranks.ranker_here())
    if ranking_status(service.lake, ranking_id).state not in ("done", "queued"):
        service.admission.check()
        service.open_jobs.add(client, ranking_id)
        submit_ranking(service.lake, wanted, service.settings.workers)
    return ranking_id


def _shown(service: Service, found: RankingStatus, limit: int) -> dict[str, Any]:
    row = found.ranking or {}
    if found.state != "queued":
        service.open_jobs.ended(found.ranking_id)
    failed = found.state == "failed" or row.get("status") == "poison"
    with_model = row.get("with_model")
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
        "covers": row.get("covers", [])[:limit],
        "links": {"self": f"{API}/{found.ranking_id}"},
    }

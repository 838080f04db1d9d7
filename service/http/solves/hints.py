"""POST /v1/hints: continue a board that is being played, by the exact solver of its game."""

from __future__ import annotations

from threading import Condition
from typing import Any, Literal

from cachetools import TTLCache, cached
from fastapi import APIRouter
from pydantic import BaseModel, Field
from pydantic_core import from_json, to_json

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.http.posted_board import BoardBody, Posted, posted_board
from nightgrid.service.http.problems import problem_of, wrong
from nightgrid.service.http.state import Here
from nightgrid.solvers.algebra import Budget, Status
from nightgrid.solvers.errors import IllegalMoveError, NightgridError
from nightgrid.workers.settings import Settings

router = APIRouter(tags=["hints"])
SECONDS, TABLE_BYTES = 2.0, 256 * 1024**2
"""Budget of one position."""
MOVES_MAX = 10_000
BOARDS_MAX, BOARDS_S = 16, 60.0
"""Boards that a process caches with their bound game, and their lifetime."""
State = Literal["open", "solved", "dead", "unknown"]
STATES: dict[Status, State] = {Status.SOLVED: "open", Status.UNSOLVABLE: "dead"}


class HintBody(BoardBody):
    """A board, and the moves that a player has made on it."""

    moves: list[Any] = Field(
        default=[],
        max_length=MOVES_MAX,
        description="What solutions are made of. Pips: [cell, cell, pips, pips]; Strands: the path "
        "of a word, [row, column] each; Letter Boxed: a word; Tiles: the place of a tile.",
    )


class Hint(BaseModel):
    """The outcome of the moves."""

    state: State = Field(
        description="open: a solution has these moves; solved: they are one; dead: none has them, "
        "which is proven; unknown: the time ran out."
    )
    moves: list[Any] = Field(description="The moves left, the next one first.")


@router.post("/hints", summary="Continue a board that is played")
async def post_hint(body: HintBody, service: Here) -> Hint:
    """Find moves that lead from a player's moves to a solution, or prove that there are none."""
    sent = body.model_dump_json(exclude_unset=True).encode()
    try:
        return Hint.model_validate(await service.small_boards.call(continue_board, sent))
    except IllegalMoveError as error:
        raise wrong(f"/moves/{error.at}", str(error)) from error


def continue_board(lake: Lake, settings: Settings, body: bytes) -> dict[str, Any]:
    """Answer the body of a request. Raises IllegalMoveError, and Problem for its board."""
    given = from_json(body)
    moves = given.pop("moves", [])
    try:
        posted = _board(lake, settings, to_json(given))
    except NightgridError as error:
        raise problem_of(error) from error
    asked = posted.asked
    budget = Budget(seconds=SECONDS, table_bytes=TABLE_BYTES)
    found = asked.bound.continuation(asked.puzzle, moves, budget, posted.solution)
    left = list(found.solutions[0]) if found.solutions else []
    state = STATES.get(found.status, "unknown")
    return {"state": "solved" if state == "open" and not left else state, "moves": left}


@cached(TTLCache(BOARDS_MAX, BOARDS_S), condition=Condition())
def _board(lake: Lake, settings: Settings, body: bytes) -> Posted:
    return posted_board(lake, BoardBody.model_validate_json(body), settings)

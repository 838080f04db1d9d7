"""Pictures of boards: of a date, and of a board that is typed, which is the check while typing."""

from __future__ import annotations

import datetime as dt
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import Field

from nightgrid.service.games import view
from nightgrid.service.http.lake.puzzles import find_on_date
from nightgrid.service.http.posted_board import BoardBody, posted_board
from nightgrid.service.http.problems import Problem
from nightgrid.service.http.state import Here
from nightgrid.solvers.errors import PermanentError

router = APIRouter(tags=["pictures"])
SVG = "image/svg+xml"
TITLE_CHARS = 200


class SvgResponse(Response):
    """A picture."""

    media_type = SVG


class PictureBody(BoardBody):
    """A board that is to be drawn."""

    title: str | None = Field(
        default=None, max_length=TITLE_CHARS, description="What stands above the board."
    )


@router.get(
    "/puzzles/{game}/{date}/{level}/picture.svg",
    summary="Draw a board of a date",
    response_class=SvgResponse,
)
def picture_of_date(game: str, date: dt.date, level: str, service: Here) -> Response:
    """Draw a board of the lake, without its solution."""
    (board, *_) = find_on_date(service.lake, game, date, level)
    return SvgResponse(drawn(game, board.published.puzzle, board.published.clue))


@router.post(
    "/boards/picture",
    summary="Check and draw a board",
    response_class=SvgResponse,
)
def picture_of_board(body: PictureBody, service: Here) -> Response:
    """Draw a board that need not be in the lake.

    This is how a board is checked while it is typed: what is wrong with it is a problem whose
    pointers name the fields, down to the cell.
    """
    posted = posted_board(service.lake, body, service.settings.workers, is_solved=False)
    asked = posted.asked
    return SvgResponse(drawn(asked.question.game, asked.puzzle, body.title or posted.clue))


def drawn(game: str, puzzle: Any, title: str | None, solution: Any = None) -> str:
    """Draw a board as the text of an SVG file. Raises Problem for one that has no picture."""
    try:
        return view(game).svg(puzzle, solution, title)
    except PermanentError as error:
        raise Problem("no-picture", str(error)) from error

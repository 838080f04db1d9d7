"""Pictures of boards: of a date, and of a posted board, which also validates it while typing."""

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
    """A board to draw."""

    title: str | None = Field(
        default=None, max_length=TITLE_CHARS, description="Title above the board."
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

    This validates a board while it is typed: faults are problems whose pointers name the fields,
    down to the cell.
    """
    posted = posted_board(service.lake, body, service.settings.workers, is_solved=False)
    asked = posted.asked
    return SvgResponse(drawn(asked.question.game, asked.puzzle, body.title or posted.clue))


def drawn(game: str, puzzle: Any, title: str | None, solution: Any = None) -> str:
    """Return the picture of a board as SVG text. Raises Problem if it has none."""
    try:
        return view(game).svg(puzzle, solution, title)
    except PermanentError as error:
        raise Problem("no-picture", str(error)) from error

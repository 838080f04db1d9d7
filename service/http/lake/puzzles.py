"""GET /v1/puzzles: the calendar of a game, and the boards of a date with their answers."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Collection, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from nightgrid.archive.games import has_plug, reader
from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.boards import Board, editions_of, find_boards
from nightgrid.archive.lookup.reference import DateReference, reference_text
from nightgrid.archive.results.results import find_results_of_puzzles
from nightgrid.archive.results.statuses import FINAL
from nightgrid.archive.words.binding import open_game
from nightgrid.service.http.lake.parameters import (
    DateRange,
    Page,
    Parameters,
    known_game,
)
from nightgrid.service.http.solves.models import Answer
from nightgrid.service.http.solves.solve_json import answer_json
from nightgrid.service.http.state import Here
from nightgrid.solvers.registry import game_plug

router = APIRouter(tags=["puzzles"])
LEVEL_CHARS = 64


class ShortAnswer(Answer):
    """An answer, with its question."""

    id: str = Field(description="Of the job: GET /v1/solves/{id} has more.")
    ask: str
    rules: str = Field(description='In one line; "" for the game\'s own, or a game without.')
    lexicon_id: str


class LevelOfDay(BaseModel):
    """A board in the calendar."""

    level: str
    puzzle_id: str
    reference: str = Field(description="The id for POST /v1/solves.")
    draft: bool
    status: str | None = Field(description="How its usual question ended; null: not asked.")
    count: str | None = Field(description="Exact number of solutions, in decimal.")


class Day(BaseModel):
    """A date of the calendar."""

    date: dt.date
    levels: list[LevelOfDay]


class Calendar(BaseModel):
    """A page of the dates that the lake has of a game, the earliest first."""

    game: str
    total: int = Field(description="Dates from `from` to `to`.")
    first: dt.date | None = Field(description="The first date of the lake, whatever is asked.")
    last: dt.date | None
    dates: list[Day]
    next: str | None


class CalendarPage(Page, DateRange):
    """Which dates to list."""


class WhichLevel(Parameters):
    """Which boards of a date to list."""

    level: str | None = Field(default=None, max_length=LEVEL_CHARS, description="One level.")


class BoardOfDay(BaseModel):
    """A board of a date."""

    level: str
    puzzle_id: str
    reference: str
    puzzle: dict[str, Any] = Field(description="In the game's own form.")
    clue: str | None
    editor: str | None
    constructors: str | None
    results: list[ShortAnswer] = Field(description="Its answers, the usual question first.")
    picture: str = Field(description="Path of its picture.")


class BoardsOfDay(BaseModel):
    """The boards of a date."""

    game: str
    date: dt.date
    boards: list[BoardOfDay]


@router.get("/puzzles/{game}", summary="List the dates of a game")
def calendar(game: str, asked: Annotated[CalendarPage, Query()], service: Here) -> Calendar:
    """List the dates that the lake has of a game, with the boards of each and their counts."""
    known_game(game)
    rows = editions_of(service.lake, game) if has_plug(game) else []
    first, last = (rows[0]["date"], rows[-1]["date"]) if rows else (None, None)
    since, until = asked.from_ or dt.date.min, asked.to or dt.date.max
    wanted = [row for row in rows if since <= row["date"] <= until]
    days = [(date, list(of)) for date, of in itertools.groupby(wanted, lambda row: row["date"])]
    shown = days[asked.offset : asked.offset + asked.limit]
    known = short_answers(service.lake, {row["puzzle_id"] for _, of in shown for row in of})
    order = {level: i for i, level in enumerate(reader(game).LEVELS)} if shown else {}
    return Calendar(
        game=game,
        total=len(days),
        first=first,
        last=last,
        dates=[
            Day(
                date=date,
                levels=[
                    _level(row, known.get(row["puzzle_id"], ()))
                    for row in sorted(of, key=lambda row: order.get(row["level"], len(order)))
                ],
            )
            for date, of in shown
        ],
        next=asked.next(f"/v1/puzzles/{game}", len(days), **{"from": asked.from_, "to": asked.to}),
    )


def _level(row: dict[str, Any], known: Any) -> LevelOfDay:
    best: ShortAnswer | None = next(iter(known), None)
    counted = best is not None and best.ask.startswith(("count", "best"))
    return LevelOfDay(
        level=row["level"],
        puzzle_id=row["puzzle_id"],
        reference=reference_text(row["game"], row["date"], row["level"]),
        draft=bool(row["draft"]),
        status=None if best is None else best.status,
        count=best.count if best is not None and counted else None,
    )


@router.get("/puzzles/{game}/{date}", summary="Read the boards of a date")
def boards_of_date(
    game: str,
    date: dt.date,
    asked: Annotated[WhichLevel, Query()],
    service: Here,
) -> BoardsOfDay:
    """Read the boards of a date, in their game's own form, with their answers."""
    boards = find_on_date(service.lake, game, date, asked.level)
    bound = open_game(service.lake, game)
    ids = [bound.puzzle_id(board.published.puzzle) for board in boards]
    known = short_answers(service.lake, set(ids))
    return BoardsOfDay(
        game=game,
        date=date,
        boards=[
            BoardOfDay(
                level=str(board.published.level),
                puzzle_id=puzzle_id,
                reference=board.name,
                puzzle=bound.puzzle_to_json(board.published.puzzle),
                clue=board.published.clue,
                editor=board.published.editor,
                constructors=board.published.constructors,
                results=known.get(puzzle_id, []),
                picture=f"/v1/puzzles/{board.name}/picture.svg",
            )
            for board, puzzle_id in zip(boards, ids, strict=True)
        ],
    )


def find_on_date(lake: Lake, game: str, date: dt.date, level: str | None) -> list[Board]:
    """Find the boards of a date. Raises Problem with 404 if the lake has none."""
    known_game(game)
    return find_boards(lake, DateReference(game=game, date=date, level=level and level.lower()))


def short_answers(lake: Lake, puzzle_ids: Collection[str]) -> dict[str, list[ShortAnswer]]:
    """Look up the answers about puzzles, by puzzle, the usual question first."""
    if not puzzle_ids:
        return {}
    found: dict[str, list[ShortAnswer]] = {}
    for row in sorted(find_results_of_puzzles(lake, puzzle_ids).to_pylist(), key=_rank):
        about = {name: row[name] for name in ("ask", "rules", "lexicon_id")}
        answer = ShortAnswer(id=row["job_id"], **about, **answer_json(row))
        found.setdefault(row["puzzle_id"], []).append(answer)
    return found


def _rank(row: Mapping[str, Any]) -> tuple[bool, bool, int, str, str]:
    """Sort key of answers: the usual ask first, then final ones, then those with fewer rules."""
    is_usual = row["ask"] == str(game_plug(row["game"]).usual_ask)
    return (not is_usual, row["status"] not in FINAL, len(row["rules"]), row["ask"], row["job_id"])

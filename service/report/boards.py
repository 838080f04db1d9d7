"""The boards of a report, drawn with their solutions: the new ones, or else the last."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from nightgrid.archive.lake.storage import Lake
from nightgrid.archive.lookup.boards import Board, boards_of_dates
from nightgrid.archive.results.results import find_results, solutions_of
from nightgrid.service.games import view
from nightgrid.service.report.figures import Figures, Row
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.question import question_of
from nightgrid.solvers.registry import game, game_plug

BOARDS_MAX = 12
"""Most boards of one game that are drawn."""


def drawn_boards(lake: Lake, figures: Figures, of: Figures) -> tuple[list[dict[str, Any]], int]:
    """Draw the new boards of a game, at most BOARDS_MAX; also return how many are left out.

    Without new ones, those of its last date are drawn. A board has its name, clue, `svg`, whether
    it shows a solution, and its `row` of counts by date.
    """
    new = {(date, level) for name, date, level in figures["new"] if name == of["name"]}
    # A date has at least one board, so no more dates are looked up.
    dates = sorted({date for date, _ in new} or {of["last"]}, reverse=True)[:BOARDS_MAX]
    boards = [place for place in _on_dates(lake, of, dates).items() if not new or place[0] in new]
    boards.sort(key=lambda place: place[0][0], reverse=True)
    rows = {(row["date"], row["level"]): row for row in of["rows"]}
    drawn = _draw(lake, [(board, rows.get(place, {})) for place, board in boards[:BOARDS_MAX]])
    return drawn, (len(new) or len(boards)) - len(drawn)


def hardest_boards(lake: Lake, of: Figures) -> list[dict[str, Any]]:
    """Draw the hardest boards of a game."""
    rows = {(row["date"], row["level"]): row for row in of["hardest"]}
    boards = _on_dates(lake, of, [date for date, _ in rows])
    return _draw(lake, [(boards[place], row) for place, row in rows.items() if place in boards])


def _on_dates(
    lake: Lake, of: Figures, dates: Sequence[dt.date]
) -> dict[tuple[dt.date, str], Board]:
    with suppress(PermanentError):  # a lake with a damaged table has none
        return {
            (board.published.date or dt.date.min, board.published.level or ""): board
            for board in boards_of_dates(lake, of["name"], dates)
        }
    return {}


def _draw(lake: Lake, boards: Sequence[tuple[Board, Row]]) -> list[dict[str, Any]]:
    drawn: list[dict[str, Any]] = []
    for board, row in boards:
        published = board.published
        solution = published.solution or _found(lake, board)
        with suppress(PermanentError):  # too large for a picture, or none
            drawn.append(
                {
                    "name": board.name,
                    "clue": published.clue,
                    "svg": view(board.game).svg(published.puzzle, solution, None),
                    "solved": solution is not None,
                    "row": row,
                }
            )
    return drawn


def _found(lake: Lake, board: Board) -> Any | None:
    """Return a solution from a night, for a board without a published one."""
    plug = game_plug(board.game)
    if plug.words:
        return None
    played = game(board.game)
    puzzle_id = played.puzzle_id(board.published.puzzle)
    for ask in plug.night_asks:
        job_id = question_of(played, ask).job_id(puzzle_id)
        for row in find_results(lake, [job_id]).to_pylist():
            texts = solutions_of(lake, {job_id: row["run_id"]}).get(job_id, [])
            if texts:
                return played.solution_from_json(json.loads(texts[0]))
    return None

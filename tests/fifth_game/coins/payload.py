"""Read payloads of Coins: {"printDate": …, "coins": […], "total": …, "solution": […]}."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from nightgrid.archive.payloads.envelopes import check_game, in_input, read_one
from nightgrid.archive.payloads.published import Fault, Published
from nightgrid.solvers.errors import InvalidPuzzleError

from .puzzle import COINS_MAX, Puzzle, check_choice

GAME = "coins"
LEVELS = ("daily",)
FIRST_DATE = dt.date(2026, 3, 1)


def read_payload(data: bytes, date: dt.date) -> list[Published | Fault]:
    return read_one(data, date, LEVELS[0], _read_puzzle)


def read_puzzles(data: bytes, name: str) -> list[Published | Fault]:
    return in_input(read_one(data, None, LEVELS[0], _read_puzzle), name)


def _read_puzzle(value: Mapping[str, Any], date: dt.date | None, level: str | None) -> Published:
    check_game(value, GAME)
    puzzle = Puzzle.from_json(value)
    solution = value.get("solution")
    if solution is not None:
        solution = tuple(solution)
        if not check_choice(puzzle, solution, COINS_MAX):
            raise InvalidPuzzleError("solution", "solution", "expected coins that make the total")
    return Published(date=date, level=level, puzzle=puzzle, solution=solution)

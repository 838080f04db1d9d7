"""Read the question of a request: its body becomes a board, an ask, limits and a job."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from nightgrid.archive.games import claimed_game
from nightgrid.archive.lake.storage import Lake
from nightgrid.service.asking import Asked, asked_of
from nightgrid.service.http.field_faults import KNOWN
from nightgrid.service.http.guard.posted import posted_board, wrong
from nightgrid.service.http.settings import ServiceSettings
from nightgrid.service.http.solves.models import BudgetBody, SolveBody
from nightgrid.solvers.algebra import Budget, Expected
from nightgrid.solvers.registry import GAMES, game_plug

LIGHT_BYTES = 4096
"""Longer bodies are read in a thread: the event loop has other clients."""
WAIT_MAX_S = 60.0
"""The longest that one request waits."""
_WAIT = re.compile(r"wait\s*=\s*\"?(\d{1,6}(?:\.\d{1,3})?)\"?")


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveRequest:
    """What a client asks: a question about a board, and the limits of the answer."""

    asked: Asked
    budget: Budget | None
    """None: what the service allows."""
    deadline_at: float | None
    """Unix time."""
    names_board: bool
    """Whether the body names a board of the lake, and does not hold it."""
    expected: Expected
    """What its game expects it to take."""

    @property
    def job_id(self) -> str:
        """Which job it is."""
        return self.asked.job_id


def is_light(raw: bytes, body: Mapping[str, Any]) -> bool:
    """Return whether a body is read in about a millisecond, without words and without the lake."""
    if len(raw) > LIGHT_BYTES:
        return False
    puzzle = body.get("puzzle")
    if not isinstance(puzzle, dict) or body.get("words") is not None:
        return False
    game = body.get("game", puzzle.get("game")) or claimed_game(json.dumps(puzzle).encode("ascii"))
    return isinstance(game, str) and game in GAMES and not game_plug(game).words


def read_request(
    lake: Lake, settings: ServiceSettings, raw: bytes, value: Mapping[str, Any]
) -> SolveRequest:
    """Read a request, from its body and the object that the guard has read it as.

    Raises Problem or RequestValidationError, which name the fields.
    """
    body = read_body(raw, value)
    board = posted_board(lake, value, settings.limits)
    asked = asked_of(board.bound, board.puzzle, board.ask)
    return SolveRequest(
        asked=asked,
        budget=_budget(settings, body),
        deadline_at=None if body.deadline_s is None else time.time() + body.deadline_s,
        names_board=body.id is not None,
        expected=board.expected,
    )


def read_body(raw: bytes, value: Mapping[str, Any]) -> SolveBody:
    """Read the body of a question. Raises RequestValidationError that names the fields."""
    try:
        # Only an escape can stand for half a character, which this refuses.
        if b"\\" in raw:
            return SolveBody.model_validate_json(raw)
        return SolveBody.model_validate(value)
    except ValidationError as error:
        found = [
            {
                **each,
                "loc": ("body", *each["loc"]),
                "ctx": {KNOWN: _names_in(each["loc"][:-1]), **each.get("ctx", {})},
            }
            for each in error.errors()
        ]
        raise RequestValidationError(found) from error


def _names_in(place: tuple[int | str, ...]) -> list[str]:
    """List the fields of an object of a body."""
    models: dict[tuple[int | str, ...], type[BaseModel]] = {(): SolveBody, ("budget",): BudgetBody}
    return list(models[place].model_fields) if place in models else []


def _budget(settings: ServiceSettings, body: SolveBody) -> Budget | None:
    """Read the budget of a question. Raises Problem for more than the service allows."""
    if body.budget is None:
        return None
    limits = settings.workers.budget.limits
    given = body.budget.model_dump(exclude_none=True)
    for name, value in given.items():
        if value > limits[name]:
            raise wrong(f"/budget/{name}", f"is {value:g}; expected at most {limits[name]:g}")
    return Budget(**limits | given)


def wait_of(prefer: list[str]) -> float:
    """Read how many seconds a request may wait from its Prefer headers (RFC 7240), 0 by default.

    Preferences that cannot be read are ignored.
    """
    parts = [part.strip().lower() for text in prefer for part in re.split(r"[,;]", text)]
    waits = [float(found[1]) for part in parts if (found := _WAIT.fullmatch(part))]
    return min(waits[0], WAIT_MAX_S) if waits else 0.0

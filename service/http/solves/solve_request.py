"""Read the question of a request: its body becomes a board, an ask, limits and a job."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from nightgrid.archive.lake.storage import Lake
from nightgrid.service.asking import Asked
from nightgrid.service.http.guard.posted import posted_board, wrong
from nightgrid.service.http.solves.models import SolveBody
from nightgrid.solvers.algebra import Budget, Expected
from nightgrid.workers.settings import Settings

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


def read_request(lake: Lake, settings: Settings, body: SolveBody) -> SolveRequest:
    """Read a request. Raises Problem, which names the fields that are wrong."""
    board = posted_board(lake, body, settings)
    return SolveRequest(
        asked=board.asked,
        budget=_budget(settings, body),
        deadline_at=None if body.deadline_s is None else time.time() + body.deadline_s,
        names_board=body.id is not None,
        expected=board.expected,
    )


def _budget(settings: Settings, body: SolveBody) -> Budget | None:
    """Read the budget of a question. Raises Problem for more than the service allows."""
    if body.budget is None:
        return None
    limits = settings.budget.limits
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

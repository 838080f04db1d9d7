"""What solves look like in JSON. Numbers that may pass 2^53 are texts; times are RFC 3339, UTC."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

State = Literal["queued", "running", "done", "failed", "cancelled", "expired"]


class Answer(BaseModel):
    """What came out."""

    status: Literal["solved", "unsolvable", "over_budget", "invalid", "poison"]
    count: str | None
    value: int | None = None
    truncated: bool = False
    reason_code: str | None = None
    reason: str = ""
    states: str
    nodes: str
    kernel_s: float
    wall_s: float | None = None
    solver_version: str
    solutions_stored: int


class Progress(BaseModel):
    """How far a job is that a worker has begun."""

    chunks_done: int
    chunks_total: int
    states: str | None = Field(default=None, description="Of what is done.")
    expected_s: float | None = Field(
        default=None, description="Seconds of one core that it is expected to take."
    )
    left_s: float | None = Field(default=None, description="What of them is left.")


class Links(BaseModel):
    """Where more is."""

    self: str
    events: str
    solutions: str
    picture: str


class Solve(BaseModel):
    """A job: what was asked, where it is, and its answer when there is one."""

    id: str
    state: State
    game: str
    puzzle_id: str
    references: list[str]
    ask: str
    rules: str
    lexicon_id: str
    puzzle: Any = None
    created_at: str | None = None
    ended_at: str | None = None
    place: int | None = Field(default=None, description="Jobs before it in the queue.")
    progress: Progress | None = None
    answer: Answer | None = None
    reason: str = ""
    links: Links


class OpenSolves(BaseModel):
    """Jobs about one puzzle that have not ended, by their ids."""

    solves: list[Solve]


class Solutions(BaseModel):
    """A page of solutions, in canonical order."""

    total: str
    offset: int
    limit: int
    solutions: list[Any]
    next: str | None = None

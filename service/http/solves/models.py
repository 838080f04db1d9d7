"""JSON models of solves. Numbers that may exceed 2^53 are strings; times are RFC 3339, UTC."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

State = Literal["queued", "running", "done", "failed", "cancelled", "expired"]


class Answer(BaseModel):
    """The answer of a job."""

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
    """Progress of a started job."""

    chunks_done: int
    chunks_total: int
    states: str | None = Field(default=None, description="States so far.")
    elapsed_s: int | None = Field(default=None, description="Seconds since it was submitted.")
    expected_s: float | None = Field(
        default=None, description="Expected seconds of one core. Null: not known."
    )
    left_s: float | None = Field(default=None, description="The rest of them.")


class Links(BaseModel):
    """Related resources."""

    self: str
    events: str
    solutions: str
    picture: str


class Solve(BaseModel):
    """A job: its question, its state, and its answer if there is one."""

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
    """Open jobs about one puzzle, by id."""

    solves: list[Solve]


class Solutions(BaseModel):
    """A page of solutions, in canonical order."""

    total: str
    offset: int
    limit: int
    solutions: list[Any]
    next: str | None = None

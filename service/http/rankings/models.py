"""What rankings look like in JSON."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from nightgrid.archive.games import ranking_game
from nightgrid.service.http.guard.board_body import Puzzle

CLUE_CHARS = 500


class RankingBody(BaseModel):
    """A board of Strands that is to be ranked: `puzzle` or `id` says which."""

    model_config = ConfigDict(extra="forbid", strict=True)

    puzzle: Puzzle = Field(
        default=None, description="A published payload, or a board in the project's own form."
    )
    id: str | None = Field(
        default=None,
        description=f"Instead of a puzzle: {ranking_game()}/DATE, a puzzle id or its beginning.",
    )
    clue: str | None = Field(
        default=None,
        max_length=CLUE_CHARS,
        description="What the player is told. Default: what the payload or the lake says.",
    )


class RankedCover(BaseModel):
    """A cover, and how sure it is that it was meant."""

    spangram: str
    components: list[str] = Field(description="The words that the spangram is run together from.")
    theme_words: list[str]
    confidence: float = Field(description="Probability, if the meant cover is listed.")
    signals: dict[str, float] = Field(description="Nats by signal, against the mean of the list.")
    words: dict[str, dict[str, float]] = Field(
        description="By word, what each term of the search adds, in nats."
    )
    cover: dict[str, Any] = Field(description="As a solution, with paths.")


class Ranking(BaseModel):
    """The covers of a board, the likeliest first."""

    id: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    puzzle_id: str | None
    clue: str | None
    ranker: str | None = Field(description="Name of the weights.")
    with_model: bool | None = Field(description="Whether the models took part.")
    note: str = Field(description="What is missing of the signals; empty when nothing is.")
    status: str | None = Field(description="solved, unsolvable, over_budget, invalid or poison.")
    reason: str
    seconds: float | None
    cover_count: int | None
    covers: list[RankedCover]
    links: dict[str, str]

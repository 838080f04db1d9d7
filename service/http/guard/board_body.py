"""The body of a request that is about one board, as FastAPI describes it and pydantic checks it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

Puzzle = Annotated[
    Any, WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "array"}, {"type": "null"}]})
]
"""What a board may be before its reader looks at it, which says what is wrong."""


CLUE_CHARS = 500


class BoardBody(BaseModel):
    """A board, and the rules that it is played by."""

    model_config = ConfigDict(extra="forbid", strict=True)

    puzzle: Puzzle = Field(
        default=None, description="A published payload, or a board in its game's own form."
    )
    id: str | None = Field(
        default=None,
        description="Instead of a puzzle: GAME/DATE/LEVEL, a puzzle id or its beginning.",
    )
    game: str | None = Field(default=None, description="Default: what the board tells.")
    level: str | None = Field(default=None, description="Of a payload with several levels.")
    ask: str | None = Field(
        default=None,
        description="first, count, all, all(LIMIT), best(K) or meant(K). Default: the usual.",
    )
    clue: str | None = Field(
        default=None,
        max_length=CLUE_CHARS,
        description="What players are told next to the board, for meant(K). Default: what the "
        "payload or the lake says.",
    )
    rules: dict[str, Any] | None = Field(
        default=None, description="Values of rules, by the names that GET /v1/games has."
    )
    words: list[str] | None = Field(
        default=None, description="Words to play with instead of the default list."
    )

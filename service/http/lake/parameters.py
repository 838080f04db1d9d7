"""Common parameters of the lake's routes: games, dates, pages."""

from __future__ import annotations

import datetime as dt
from typing import Self
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, model_validator

from nightgrid.service.http.problems import Problem
from nightgrid.solvers.registry import GAMES

PAGE_ROWS = 100
PAGE_ROWS_MAX = 1000
OFFSET_MAX = 10**15


class Parameters(BaseModel):
    """Query parameters of a request, by name."""

    model_config = ConfigDict(extra="forbid")


class DateRange(Parameters):
    """A range of dates, maybe open."""

    from_: dt.date | None = Field(
        default=None, alias="from", description="First date; items without a date are left out."
    )
    to: dt.date | None = Field(default=None, description="Last date.")

    @model_validator(mode="after")
    def _begins_first(self) -> Self:
        if self.from_ and self.to and self.from_ > self.to:
            raise ValueError(f"from is {self.from_}, after to, which is {self.to}")
        return self


class Page(Parameters):
    """A page of a list."""

    offset: int = Field(default=0, ge=0, le=OFFSET_MAX, description="Items before the page.")
    limit: int = Field(default=PAGE_ROWS, ge=1, le=PAGE_ROWS_MAX, description="Items of the page.")

    def next(self, path: str, total: int, **others: object) -> str | None:
        """Return the path of the next page; None after the last."""
        if self.offset + self.limit >= total:
            return None
        given = {name: value for name, value in others.items() if value is not None}
        place = {"offset": self.offset + self.limit, "limit": self.limit}
        return f"{path}?{urlencode(given | place)}"


def known_game(name: str) -> str:
    """Return the name of a game. Raises Problem with 404 for an unknown one."""
    if name not in GAMES:
        detail = f"there is no game {name!r:.40}; expected one of {', '.join(GAMES)}"
        raise Problem("no-such-game", detail)
    return name

"""Parameters that several routes of the lake share: games, dates, pages."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any
from urllib.parse import urlencode

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from nightgrid.archive.payloads.envelopes import iso_date
from nightgrid.service.http.problems import Problem, wrong
from nightgrid.solvers.registry import GAMES

PAGE_ROWS = 100
PAGE_ROWS_MAX = 1000
OFFSET_MAX = 10**15


def _strict_date(value: Any) -> dt.date:
    date = value if isinstance(value, dt.date) else iso_date(value)
    if date is None:
        raise ValueError("expected a date as YYYY-MM-DD")
    return date


IsoDate = Annotated[dt.date, BeforeValidator(_strict_date)]
"""A date as YYYY-MM-DD; pydantic alone takes other forms, too."""


class Parameters(BaseModel):
    """Parameters of a request, by the names that a query has for them or by those of fields."""

    model_config = ConfigDict(populate_by_name=True, extra="forbid")


class Page(Parameters):
    """A page of a list."""

    offset: int = Field(default=0, ge=0, le=OFFSET_MAX, description="Items before the page.")
    limit: int = Field(default=PAGE_ROWS, ge=1, le=PAGE_ROWS_MAX, description="Items of the page.")

    def next(self, path: str, total: int, **others: object) -> str | None:
        """Name the page after this one; None after the last."""
        if self.offset + self.limit >= total:
            return None
        given = {name: value for name, value in others.items() if value is not None}
        place = {"offset": self.offset + self.limit, "limit": self.limit}
        return f"{path}?{urlencode(given | place)}"


def known_game(name: str) -> str:
    """Return the name of a game. Raises Problem with 404 for another one."""
    if name not in GAMES:
        detail = f"there is no game {name!r:.40}; expected one of {', '.join(GAMES)}"
        raise Problem("no-such-game", detail)
    return name


def check_range(since: dt.date | None, until: dt.date | None) -> None:
    """Raise Problem for a range of dates that ends before it begins."""
    if since is not None and until is not None and since > until:
        raise wrong("?from", f"is {since}, after to, which is {until}; expected no later")

"""What one nightly job is to do, apart from how workers work (that is workers.settings)."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Literal

from archive.fetch import REFRESH_DAYS
from solvers.algebra import Ask
from solvers.errors import PermanentError
from solvers.registry import GAMES, WORD_GAMES, check_ask
from solvers.registry import game as game_named
from workers.settings import Settings

ExecutorKind = Literal["celery", "inline"]
BEST_KEPT = 10
"""Best covers that a night keeps of a board of Strands, which ranks are read from, and shortest
chains of one of Letter Boxed."""
ASKS: dict[str, tuple[Ask, ...]] = {
    "pips": (Ask(kind="count"),),
    "strands": (Ask(kind="best", limit=BEST_KEPT),),
    "letterboxed": (Ask(kind="best", limit=BEST_KEPT),),
    "tiles": (Ask(kind="first"),),
}
"""What a night asks of each game unless told otherwise. The best come with the
count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlySettings:
    """One nightly job of one game. Raises PermanentError for a value that no job can have."""

    source: str
    """A folder of payloads named DATE.json, or the base URL of an HTTP archive."""
    game: str = "pips"
    asks: tuple[Ask, ...] = ()
    """What is asked of every puzzle, each ask a run of its own; empty: what ASKS has."""
    rules: str = ""
    """Rules that differ from the game's own, as name=value with spaces between them."""
    lexicon: str | None = None
    """A word list for a game of words; None: the default lexicon."""
    since: dt.date | None = None
    """First date wanted; None: the first that the source has."""
    until: dt.date | None = None
    """Last date wanted; None: the last that the source has, for HTTP today in UTC."""
    refresh_days: int = REFRESH_DAYS
    """Dates this recent are asked for again although they are known."""
    executor: ExecutorKind = "celery"
    """`celery`: the workers that serve our server, or, when none does, workers of our own.
    `inline`: this process by itself."""
    workers: Settings = field(default_factory=Settings)
    """Lake, server, processes, budgets."""

    def __post_init__(self) -> None:
        if not self.source:
            raise PermanentError("source is empty; expected a folder or an http(s) URL")
        if self.game not in GAMES:
            raise PermanentError(f"unknown game {self.game!r}; expected one of {', '.join(GAMES)}")
        if self.rules:
            game_named(self.game, self.rules)
        if self.lexicon is not None and self.game not in WORD_GAMES:
            raise PermanentError(f"{self.game} is not played with words; expected no lexicon")
        if not self.asks:
            object.__setattr__(self, "asks", ASKS[self.game])
        for ask in self.asks:
            check_ask(ask, self.game)
        if len(set(self.asks)) < len(self.asks):
            raise PermanentError(f"asks are {', '.join(map(str, self.asks))}; expected each once")
        if self.refresh_days < 0:
            raise PermanentError(f"refresh_days is {self.refresh_days}; expected 0 or more")
        if self.since and self.until and self.since > self.until:
            raise PermanentError(f"since {self.since} is after until {self.until}")
        if self.executor not in ("celery", "inline"):
            raise PermanentError(f"unknown executor {self.executor!r}; expected celery or inline")

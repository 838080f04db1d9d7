"""Settings of a night: its games, each with a source, an ask and a time."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, ConfigDict, PlainSerializer

from nightgrid.archive.games import claimed_game
from nightgrid.archive.ingest.fetch import REFRESH_DAYS
from nightgrid.archive.payloads.bounded_files import read_file
from nightgrid.archive.sources.folder_layouts import archive_in
from nightgrid.archive.sources.payloads_in_file import items_in
from nightgrid.flows.runs import RunSettings
from nightgrid.solvers.algebra import MEANT, Ask
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import DEFAULT_GAME, GAMES, check_ask, game_plug
from nightgrid.solvers.registry import game as game_named
from nightgrid.solvers.sentences import without_credentials
from nightgrid.workers.runs.status import cancelled_path
from nightgrid.workers.runs.unanswered_jobs import Retry

FIRST_PAYLOADS = 8
"""How many files of an archive are read to identify its games."""


def _parsed(ask: Ask | str) -> Ask:
    return Ask.parse(ask) if isinstance(ask, str) else ask


@dataclass(frozen=True, slots=True, kw_only=True)
class NightGame:
    """One game of a night. Raises PermanentError for an invalid value."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")
    """For serialisation to JSON: the parameters of a flow."""

    source: str
    """A folder or a file with an archive of payloads, or the base URL of an HTTP archive."""
    game: str = DEFAULT_GAME
    asks: tuple[Annotated[Ask, BeforeValidator(_parsed), PlainSerializer(str)], ...] = ()
    """Asks about every puzzle, each a run of its own; empty: the game's asks for a night."""
    rules: str = ""
    """Rules that differ from the game's own, as name=value separated by spaces."""
    lexicon: str | None = None
    """A word list for a word game; None: the default lexicon."""
    since: dt.date | None = None
    """First date wanted; None: the first that the source has."""
    until: dt.date | None = None
    """Last date wanted; None: the last that the source has, for HTTP today in UTC."""
    refresh_days: int = REFRESH_DAYS
    """Days for which known dates are requested again."""

    def __post_init__(self) -> None:
        if not self.source:
            raise PermanentError("source is empty; expected a folder or an http(s) URL")
        if without_credentials(self.source) != self.source:
            raise PermanentError("the source's URL carries credentials, which logs would show")
        plug = game_plug(self.game)
        if self.rules:
            game_named(self.game, self.rules)
        if self.lexicon is not None and not plug.words:
            raise PermanentError(f"{self.game} is not played with words; expected no lexicon")
        if not self.asks:
            object.__setattr__(self, "asks", plug.night_asks)
        for ask in self.asks:
            check_ask(ask, self.game)
        if len(set(self.asks)) < len(self.asks):
            raise PermanentError(f"asks are {', '.join(map(str, self.asks))}; expected each once")
        if self.refresh_days < 0:
            raise PermanentError(f"refresh_days is {self.refresh_days}; expected 0 or more")
        if self.since and self.until and self.since > self.until:
            raise PermanentError(f"since {self.since} is after until {self.until}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NightSettings(RunSettings):
    """A night over one game or several. Raises PermanentError for no game or a repeated one."""

    games: tuple[NightGame, ...]
    """In processing order."""
    retry: Retry | None = None
    """Which puzzles are solved again that an earlier night gave up within this budget."""

    def __post_init__(self) -> None:
        RunSettings.__post_init__(self)
        if not self.games:
            raise PermanentError("a night needs a game; expected the source of at least one")
        _check_once(game.game for game in self.games)
        if self.workers.rank:
            object.__setattr__(self, "games", tuple(map(_also_ranked, self.games)))

    def way_on(self, run_id: str, *, cancelled: bool) -> str:
        """Return how the next night continues, and what unblocks a cancelled run."""
        if cancelled:
            path = cancelled_path(run_id)
            return f"nights continue it once {path} is deleted from the lake"
        return "the next night continues it"


def _also_ranked(game: NightGame) -> NightGame:
    """Also ask of every board which covers were meant, if the game answers that."""
    if MEANT in game.asks or not game_plug(game.game).answers(MEANT):
        return game
    return replace(game, asks=(*game.asks, MEANT))


def night_sources(texts: Sequence[str], game: str | None = None) -> dict[str, str]:
    """Parse the sources of a night: {game: folder or URL}, in the order of the texts.

    `GAME=ADDRESS` names the game; any other address is the source of `game`. Without `game`, the
    names in an archive decide, else its first payloads, and a URL belongs to the default game.

    Raises PermanentError for a game that is given twice, and for an unknown one.
    """
    places: list[tuple[str, str]] = []
    for text in texts:
        name, equals, address = text.partition("=")
        if equals and name in GAMES:
            places.append((name, address))
            continue
        if equals and name.isidentifier() and not Path(text).exists():
            raise PermanentError(
                f"source {without_credentials(text)!r:.80} names an unknown game {name!r:.40}; "
                f"expected one of {', '.join(GAMES)}"
            )
        games = [game] if game else _games_inside(text)
        places += [(name, text) for name in games or [DEFAULT_GAME]]
    _check_once(name for name, _ in places)
    return dict(places)


def _games_inside(text: str) -> list[str]:
    """List the games in the names of an archive, else those of its first payloads.

    A few files are enough: an archive whose first files are all damaged keeps the default.
    """
    if "://" in text or not Path(text).exists():
        return []
    files = archive_in(Path(text))[0]
    if named := {file.game for file in files if file.game}:
        return [name for name in GAMES if name in named]
    for file in files[:FIRST_PAYLOADS]:
        with suppress(PermanentError):
            items = items_in(read_file(file.path), file.name)
            if found := set(map(claimed_game, (item.body for item in items))) - {None}:
                return [name for name in GAMES if name in found]
    return []


def _check_once(games: Iterable[str]) -> None:
    for name, count in Counter(games).items():
        if count > 1:
            raise PermanentError(f"{name} has two sources; expected one for each game")

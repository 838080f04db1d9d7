"""Settings of a night: its games, each with a source, an ask and a time."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, ConfigDict, PlainSerializer

from nightgrid.archive.games import claimed_game
from nightgrid.archive.ingest.fetch import REFRESH_DAYS
from nightgrid.flows.runs import RunSettings
from nightgrid.solvers.algebra import MEANT, Ask
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.registry import DEFAULT_GAME, GAMES, check_ask, game_plug
from nightgrid.solvers.registry import game as game_named
from nightgrid.solvers.sentences import without_credentials
from nightgrid.workers.runs.retry_option import Retry
from nightgrid.workers.runs.status import cancelled_path

FIRST_PAYLOADS = 8
"""How many payloads of a folder are looked at to tell its game."""


def _parsed(ask: Ask | str) -> Ask:
    return Ask.parse(ask) if isinstance(ask, str) else ask


@dataclass(frozen=True, slots=True, kw_only=True)
class NightGame:
    """One game of a night. Raises PermanentError for a value that no night can have."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")
    """For what reads and writes it as JSON: the parameters of a flow."""

    source: str
    """A folder of payloads named DATE.json, or the base URL of an HTTP archive."""
    game: str = DEFAULT_GAME
    asks: tuple[Annotated[Ask, BeforeValidator(_parsed), PlainSerializer(str)], ...] = ()
    """What is asked of every puzzle, each ask a run of its own; empty: what the game has
    for a night."""
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
    redirect_hosts: tuple[str, ...] = ()
    """Hosts, HOST or HOST:PORT, to which an HTTP source may redirect, besides its own."""

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
    """A night over one game or several. Raises PermanentError for no game, or one that repeats."""

    games: tuple[NightGame, ...]
    """In the order in which they are worked."""
    retry: Retry | None = None
    """Which puzzles are worked again that an earlier night gave up within this budget."""

    def __post_init__(self) -> None:
        RunSettings.__post_init__(self)
        if not self.games:
            raise PermanentError("a night needs a game; expected the source of at least one")
        _check_once(game.game for game in self.games)
        if self.workers.rank:
            object.__setattr__(self, "games", tuple(map(_also_ranked, self.games)))

    def way_on(self, run_id: str, *, cancelled: bool) -> str:
        """Write that the next night goes on, and what a cancelled run waits for."""
        if cancelled:
            path = cancelled_path(run_id)
            return f"nights go on with it when {path} is deleted from the lake"
        return "the next night goes on with it"


def _also_ranked(game: NightGame) -> NightGame:
    """Ask of every board, too, which covers were meant, in a game that answers that."""
    if MEANT in game.asks or not game_plug(game.game).answers(MEANT):
        return game
    return replace(game, asks=(*game.asks, MEANT))


def night_sources(texts: Sequence[str], game: str | None = None) -> dict[str, str]:
    """Read the sources of a night: {game: folder or URL}, in the order of the texts.

    `GAME=ADDRESS` names the game. A folder with folders that are called like games means
    those, or for that of `game` alone; any other address is the source of `game`. Without `game`, a
    folder is of the game that its payloads are of, and an address of the default game.

    Raises PermanentError for a game that is given twice, and for one that is unknown.
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
        inside = [name for name in GAMES if game in (None, name) and (Path(text) / name).is_dir()]
        places += [(name, str(Path(text) / name)) for name in inside] or [
            (game or _game_inside(text) or DEFAULT_GAME, text)
        ]
    _check_once(name for name, _ in places)
    return dict(places)


def _game_inside(text: str) -> str | None:
    """Return the game of a folder by its first payload that is of any; None where none is.

    A few payloads are enough: a folder in which the first ones are all damaged keeps the default.
    """
    try:
        paths = sorted(Path(text).glob("????-??-??.json"))[:FIRST_PAYLOADS]
        found = (claimed_game(path.read_bytes()) for path in paths)
        return next((game for game in found if game is not None), None)
    except (OSError, ValueError):
        return None


def beside_games(text: str) -> list[str]:
    """List what a folder of games has that is called like no game, sorted; hidden names not.

    Empty for any source that is no folder of games.
    """
    folder = Path(text)
    if not any((folder / name).is_dir() for name in GAMES):
        return []
    names = (path.name for path in folder.iterdir())
    return sorted(name for name in names if name not in GAMES and not name.startswith("."))


def _check_once(games: Iterable[str]) -> None:
    for name, count in Counter(games).items():
        if count > 1:
            raise PermanentError(f"{name} has two sources; expected one for each game")

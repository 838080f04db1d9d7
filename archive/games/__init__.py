"""The plugs of games in the archive, by name, and the game of an input by what it holds.

This floor knows no game but by its plug.
"""

from __future__ import annotations

from collections.abc import Callable

from nightgrid.archive.games.plug import ArchivePlug, PayloadReader
from nightgrid.archive.payloads.published import Published
from nightgrid.archive.payloads.strict_json import read_members
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.plug import Plugs
from nightgrid.solvers.registry import DEFAULT_GAME, GAMES

PLUGS: Plugs[ArchivePlug] = Plugs(__name__, "nightgrid.archive")


def has_plug(game: str) -> bool:
    """Tell whether the archive knows a game."""
    return game in GAMES and PLUGS.has(game)


def archive_plug(game: str) -> ArchivePlug:
    """Look up what the archive knows of a game. Raises PermanentError for a game without a plug."""
    if not has_plug(game):
        known = ", ".join(filter(PLUGS.has, GAMES))
        raise PermanentError(f"no reader for payloads of {game!r:.40}; expected one of {known}")
    return PLUGS.plug(game)


def reader(game: str) -> PayloadReader:
    """Look up what reads a game's payloads. Raises PermanentError for a game without a plug."""
    return archive_plug(game).reader()


def game_found_in(data: bytes, name: str) -> str | None:
    """Tell the game that a payload has a sound puzzle of; None for a payload without any."""
    game = game_of(data)
    found = reader(game).read_puzzles(data, name)
    return game if any(isinstance(item, Published) for item in found) else None


def game_of(data: bytes) -> str:
    """Tell a game by the form of its boards; the default one where no game claims them.

    A JSON object is the game's that it names, else the one that claims the first member which any
    claims.
    """
    text = data.lstrip()
    found: str | None = None
    if text[:1] == b"[":
        first = text[1:].lstrip()[:1]
        found = _claimed(lambda plug: plug.claims_list(first))
    elif text[:1] == b"{":
        for key, value in ((member.key, member.value) for member in read_members(data)):
            if key == "game" and value in GAMES:
                return str(value)
            found = _claimed(lambda plug: plug.claims_member(key, value))  # noqa: B023 - called at once
            if found is not None:
                break
    else:
        found = _claimed(lambda plug: plug.claims_page(text))
    return found or DEFAULT_GAME


def _claimed(claims: Callable[[ArchivePlug], bool]) -> str | None:
    return next((name for name in GAMES if has_plug(name) and claims(archive_plug(name))), None)

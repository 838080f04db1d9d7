"""Read payloads of any game: look the reader up, or tell the game by what an input holds."""

from __future__ import annotations

from collections.abc import Iterator

from nightgrid.archive.games import ArchivePlug, PayloadReader, archive_plug, has_plug
from nightgrid.archive.payloads.published import Published
from nightgrid.archive.payloads.strict_json import read_members
from nightgrid.solvers.registry import DEFAULT_GAME, GAMES

__all__ = ["PayloadReader", "game_found_in", "game_of", "reader"]


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
        found = next((plug.name for plug in _plugs() if plug.claims_list(first)), None)
    elif text[:1] == b"{":
        for member in read_members(data):
            if member.key == "game" and member.value in GAMES:
                return str(member.value)
            claims = (
                plug.name for plug in _plugs() if plug.claims_member(member.key, member.value)
            )
            found = next(claims, None)
            if found is not None:
                break
    else:
        found = next((plug.name for plug in _plugs() if plug.claims_page(text)), None)
    return found or DEFAULT_GAME


def _plugs() -> Iterator[ArchivePlug]:
    return (archive_plug(name) for name in GAMES if has_plug(name))

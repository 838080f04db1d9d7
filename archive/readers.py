"""The readers of payloads, by game."""

from __future__ import annotations

import datetime as dt
from importlib import import_module
from typing import Protocol, cast

from archive.published import Fault, Published
from archive.strict_json import read_members
from solvers.errors import PermanentError
from solvers.registry import GAMES

_MODULES = {
    "pips": "archive.pips",
    "strands": "archive.strands",
    "letterboxed": "archive.letterboxed",
    "tiles": "archive.tiles",
}
DEFAULT_GAME = "pips"
_GAME_OF_KEY = {"startingBoard": "strands", "sides": "letterboxed", "tiles": "tiles"}
"""Keys that boards of one game have and no other."""
_LETTER_BOXED_PAGE = b"gameData"
"""What the page of Letter Boxed calls its payload."""


class PayloadReader(Protocol):
    """A module that reads the payloads of one game."""

    GAME: str
    FIRST_DATE: dt.date
    """The day of the first published puzzle."""
    LEVELS: tuple[str, ...]
    """The levels that every published payload has."""

    def read_payload(self, data: bytes, date: dt.date) -> list[Published | Fault]:
        """Read the payload that stands for a date, in the order of its levels."""

    def read_puzzles(self, data: bytes, name: str) -> list[Published | Fault]:
        """Read a payload, or a puzzle by itself; `name` is what the input is called."""


def reader(game: str) -> PayloadReader:
    """Look up who reads a game's payloads.

    Raises PermanentError for a game that is not published.
    """
    if game not in _MODULES:
        known = ", ".join(sorted(_MODULES))
        raise PermanentError(f"nobody reads payloads of {game!r}; expected one of {known}")
    # Imported on first use: a game's puzzle types are loaded only where it is played.
    return cast("PayloadReader", import_module(_MODULES[game]))


def game_found_in(data: bytes, name: str) -> str | None:
    """Tell the game that a payload has a sound puzzle of; None for a payload without any."""
    game = game_of(data)
    found = reader(game).read_puzzles(data, name)
    return game if any(isinstance(item, Published) for item in found) else None


def game_of(data: bytes) -> str:
    """Tell a game by the form of its boards.

    Dominoes and regions are of Pips, rows of letters of Strands, sides of Letter Boxed, and tiles
    or a board of objects of Tiles.
    """
    text = data.lstrip()
    if text[:1] not in (b"[", b"{") and _LETTER_BOXED_PAGE in text:
        return "letterboxed"
    if text[:1] == b"[":
        return "tiles" if text[1:].lstrip()[:1] in (b"{", b"[") else "strands"
    if text[:1] == b"{":
        for member in read_members(data):
            if member.key == "game" and member.value in GAMES:
                return str(member.value)
            if member.key in _GAME_OF_KEY:
                return _GAME_OF_KEY[member.key]
            if member.key == "board":
                rows = member.value
                objects = isinstance(rows, list) and any(isinstance(row, dict) for row in rows)
                return "tiles" if objects else "strands"
    return DEFAULT_GAME

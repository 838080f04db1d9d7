"""The readers of payloads, by game."""

from __future__ import annotations

import datetime as dt
from importlib import import_module
from typing import Protocol, cast

from archive.published import Fault, Published
from solvers.errors import PermanentError

_MODULES = {
    "pips": "archive.pips",
    "strands": "archive.strands",
    "letterboxed": "archive.letterboxed",
    "tiles": "archive.tiles",
}


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

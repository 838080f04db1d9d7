"""The plugs of games in the archive, by name: this floor knows no game but by them."""

from __future__ import annotations

from nightgrid.archive.games.plug import ArchivePlug, PayloadReader, Remark
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.plug import Plugs
from nightgrid.solvers.registry import GAMES

__all__ = ["ArchivePlug", "PayloadReader", "Remark", "archive_plug", "has_plug"]

PLUGS: Plugs[ArchivePlug] = Plugs(__name__, "nightgrid.archive")


def has_plug(game: str) -> bool:
    """Tell whether the archive knows a game."""
    return game in GAMES and PLUGS.has(game)


def archive_plug(game: str) -> ArchivePlug:
    """Look up what the archive knows of a game. Raises PermanentError for a game without a plug."""
    if not has_plug(game):
        known = ", ".join(filter(PLUGS.has, GAMES))
        raise PermanentError(f"nobody reads payloads of {game!r:.40}; expected one of {known}")
    return PLUGS.plug(game)

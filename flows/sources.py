"""What --source says: the games of a night, each with its folder or URL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from solvers.errors import PermanentError
from solvers.registry import GAMES


def night_sources(texts: Sequence[str], game: str | None = None) -> dict[str, str]:
    """Read the sources of a night: {game: folder or URL}, in the order of the texts.

    `GAME=ADDRESS` names the game. A folder with folders that are called like games stands for
    those, or for that of `game` alone; any other address is the source of `game`, or of Pips.

    Raises PermanentError for a game that stands twice.
    """
    places: list[tuple[str, str]] = []
    for text in texts:
        name, equals, address = text.partition("=")
        if equals and name in GAMES:
            places.append((name, address))
            continue
        inside = [name for name in GAMES if game in (None, name) and (Path(text) / name).is_dir()]
        places += [(name, str(Path(text) / name)) for name in inside] or [(game or "pips", text)]
    names = [name for name, _ in places]
    for name in names:
        if names.count(name) > 1:
            raise PermanentError(f"{name} has two sources; expected one for each game")
    return dict(places)

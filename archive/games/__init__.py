"""The archive's plugs of games, by name, and the detection of an input's game.

This floor accesses games only through their plugs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import methodcaller
from typing import Any

from nightgrid.archive.games.plug import ArchivePlug, PayloadReader, RankingPlug
from nightgrid.archive.payloads.spans import first_byte, spans_in
from nightgrid.archive.payloads.strict_json import looks_like
from nightgrid.solvers.algebra import MEANT
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.plug import Plugs
from nightgrid.solvers.registry import GAMES, game_plug

WORDS_SHOWN = 8
"""Most words that a hint names."""
PLUGS: Plugs[ArchivePlug] = Plugs(__name__, "nightgrid.archive")


def has_plug(game: str) -> bool:
    """Return whether the archive has a plug of a game."""
    return game in GAMES and PLUGS.has(game)


def archived_games() -> tuple[str, ...]:
    """Return the games that have a plug here, in listing order."""
    return tuple(filter(PLUGS.has, GAMES))


def archive_plug(game: str) -> ArchivePlug:
    """Return the archive's plug of a game. Raises PermanentError if it has none."""
    if not has_plug(game):
        known = ", ".join(archived_games())
        raise PermanentError(f"no reader for payloads of {game!r:.40}; expected one of {known}")
    return PLUGS.plug(game)


def reader(game: str) -> PayloadReader:
    """Return the payload reader of a game. Raises PermanentError for a game without a plug."""
    return archive_plug(game).reader()


def ranking_game() -> str | None:
    """Return the game whose covers are ranked by how likely each was meant, or None."""
    return next((game for game in GAMES if game_plug(game).answers(MEANT)), None)


def ranking_plug() -> RankingPlug:
    """Return the plug of the ranker. Raises PermanentError if no game has one."""
    game = ranking_game()
    if game is None:
        raise PermanentError("no game here has ranked covers")
    return archive_plug(game).ranking()


def missing_words_hint(game: Game[Any, Any], official: Any) -> str:
    """Name the words of an official solution that a game as bound does not know.

    They are neither in its word list nor allowed compounds of its words. "" if there is no official
    solution, or the game knows all of its words.
    """
    if official is None or not game_plug(game.name).words:
        return ""
    words = archive_plug(game.name).missing_words(game, official)
    if not words:
        return ""
    shown = ", ".join(words[:WORDS_SHOWN])
    more = f" and {len(words) - WORDS_SHOWN} more" if len(words) > WORDS_SHOWN else ""
    what = "the official word" if len(words) == 1 else "the official words"
    isnt = "is" if len(words) == 1 else "are"
    return f"{what} {shown}{more} {isnt} not in the word list"


def claimed_game(data: bytes) -> str | None:
    """Return the game that the form of an input's boards belongs to, or None.

    A JSON object may name its game; else the first member that a game claims decides.
    """
    start = first_byte(data)
    begin = data[start : start + 1]
    if begin not in (b"{", b"["):
        return _claimed(methodcaller("claims_page", data))
    for key, first, stop in spans_in(data, start):
        value = data[first:stop]
        named = value[1:-1].decode("ascii", "replace")
        if key == "game" and named in GAMES:
            return named
        if (found := _claimed(methodcaller("claims_member", key, value))) or key is None:
            return found
    return None


def claims_key(key: str) -> bool:
    """Return whether a JSON object with such a key is a game's, whatever the value."""
    return _claimed(methodcaller("claims_member", key, b"")) is not None


def foreign(data: bytes) -> str:
    """Describe an input that no game claims; "" if it is not JSON, which readers report."""
    try:
        # Of bytes, `json` would take other encodings than the readers do.
        value = json.loads(data.decode())
    except (ValueError, RecursionError):
        return ""
    plugs = map(archive_plug, archived_games())
    forms = [f"{plug.form} ({game_plug(plug.name).title})" for plug in plugs if plug.form]
    return f"{looks_like(value)} is not a board; expected {', '.join(forms)}, or payloads with such"


def _claimed(claims: Callable[[ArchivePlug], bool]) -> str | None:
    return next((name for name in archived_games() if claims(archive_plug(name))), None)

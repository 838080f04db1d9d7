"""The archive's plugs of games, by name, and the detection of an input's game.

This floor accesses games only through their plugs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nightgrid.archive.games.plug import ArchivePlug, PayloadReader, RankingPlug
from nightgrid.archive.payloads.published import Published
from nightgrid.archive.payloads.strict_json import read_members
from nightgrid.solvers.algebra import MEANT
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.plug import Plugs
from nightgrid.solvers.registry import DEFAULT_GAME, GAMES, game_plug

WORDS_SHOWN = 8
"""Most words that a hint names."""
PLUGS: Plugs[ArchivePlug] = Plugs(__name__, "nightgrid.archive")


def has_plug(game: str) -> bool:
    """Return whether the archive has a plug of a game."""
    return game in GAMES and PLUGS.has(game)


def archive_plug(game: str) -> ArchivePlug:
    """Return the archive's plug of a game. Raises PermanentError if it has none."""
    if not has_plug(game):
        known = ", ".join(filter(PLUGS.has, GAMES))
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


def game_found_in(data: bytes, name: str) -> str | None:
    """Return the game of a payload's valid puzzle, or None."""
    game = game_of(data)
    found = reader(game).read_puzzles(data, name)
    return game if any(isinstance(item, Published) for item in found) else None


def game_of(data: bytes) -> str:
    """Return the game that the form of some boards belongs to, or the default game."""
    return claimed_game(data) or DEFAULT_GAME


def claimed_game(data: bytes) -> str | None:
    """Return the game that the form of an input's boards belongs to, or None.

    A JSON object may name its game; else the first member that a game claims decides.
    """
    text = data.lstrip()
    found: str | None = None
    if text[:1] == b"[":
        first = text[1:].lstrip()[:1]
        found = _claimed(lambda plug: plug.claims_list(first))
    elif text[:1] == b"{":
        try:
            members = read_members(data)
        except InvalidPuzzleError:
            return None
        for key, value in members.items():
            if key == "game" and value in GAMES:
                return str(value)
            found = _claimed(lambda plug: plug.claims_member(key, value))  # noqa: B023 - called at once
            if found is not None:
                break
    else:
        found = _claimed(lambda plug: plug.claims_page(text))
    return found


def _claimed(claims: Callable[[ArchivePlug], bool]) -> str | None:
    return next((name for name in GAMES if has_plug(name) and claims(archive_plug(name))), None)

"""Games as named by runs and messages: bound to rules and to a lexicon in the lake."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from nightgrid.solvers.algebra import MEANT, Ask
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Dictionaries, Game
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.question import Question
from nightgrid.solvers.registry import check_ask, game_plug
from nightgrid.solvers.registry import game as game_named

if TYPE_CHECKING:
    # Binding a game needs no lake, and none of the libraries that read one.
    from nightgrid.archive.lake.storage import Lake

_OPEN_MAX = 8
_open: dict[Hashable, Game[Any, Any]] = {}
"""Games of this process, cached with what they have derived from their lexicons."""


def bind_game(
    name: str,
    rules: str = "",
    lexicon: Lexicon | str | None = None,
    lake: Lake | None = None,
    ask: Ask | None = None,
) -> Game[Any, Any]:
    """Look up a game by its public name; a lexicon may be the path of a word list.

    For the ask `meant(k)`, it is the game that ranks, which has words of its own.

    A word game without a lexicon uses the default one or, if boards have their own words, those;
    boards in columns find theirs in the lake. Raises PermanentError for an unknown game, for rules
    that it does not have, and for words given to a game without words.
    """
    if ask is not None and ask.kind == "meant":
        return _meant_game(name, rules)
    plug = game_plug(name)
    own_words = plug.own_words and lexicon is None
    if plug.words and not own_words and not isinstance(lexicon, Lexicon):
        # Before the words, which may take long to compile, so that wrong rules fail at once.
        game_named(name, rules)
        from nightgrid.archive.words.lexicons import default_lexicon, lexicon_from_file

        lexicon = default_lexicon() if lexicon is None else lexicon_from_file(lexicon)
    if isinstance(lexicon, str):
        raise PermanentError(f"{name} is not played with words; expected no word list")
    return game_named(name, rules, lexicon, _dictionaries(lake, name))


def lexicon_for(name: str, *, own_words: bool) -> Lexicon | None:
    """Return the lexicon of a board if none is given.

    None if it needs none, as with `own_words`, else the default one of its game: if its boards
    usually have words, those that such games accept.
    """
    plug = game_plug(name)
    if not plug.words or (plug.own_words and own_words):
        return None
    from nightgrid.archive.words.lexicons import accepted_lexicon, default_lexicon

    return accepted_lexicon() if plug.own_words else default_lexicon()


def open_game(lake: Lake, name: str, rules: str = "", lexicon_id: str = "") -> Game[Any, Any]:
    """Look up a game as a run names it; the lexicon comes from the machine's cache or the lake.

    Returns one object a process for the same names. Raises PermanentError for a missing lexicon.
    """
    key = (lake.url, name, rules, lexicon_id)
    if key not in _open:
        lexicon = None
        if lexicon_id:
            from nightgrid.archive.words.lexicons import open_lexicon

            lexicon = open_lexicon(lake, lexicon_id)
        if len(_open) >= _OPEN_MAX:
            _open.clear()
        _open[key] = game_named(name, rules, lexicon, _dictionaries(lake, name))
    return _open[key]


def game_of(lake: Lake, question: Question) -> Game[Any, Any]:
    """Look up the game that answers a question, as `open_game`."""
    if question.ask.kind == "meant":
        key = (question.game, question.rules, "meant")
        if key not in _open:
            _open[key] = _meant_game(question.game, question.rules)
        return _open[key]
    return open_game(lake, question.game, question.rules, question.lexicon_id)


def _meant_game(name: str, rules: str) -> Game[Any, Any]:
    check_ask(MEANT, name)
    return game_plug(name).bind_meant(rules)


def _dictionaries(lake: Lake | None, name: str) -> Dictionaries | None:
    if lake is None or not game_plug(name).own_words:
        return None
    from nightgrid.archive.words.dictionaries import LakeDictionaries

    return LakeDictionaries(lake)


def keep_game(lake: Lake, game: Game[Any, Any]) -> None:
    """Store in the lake what others need to open the game: its words."""
    lexicon = lexicon_of(game)
    if lexicon is not None:
        from nightgrid.archive.words.lexicons import keep_lexicon

        keep_lexicon(lake, lexicon)


def lexicon_of(game: Game[Any, Any]) -> Lexicon | None:
    """Return the lexicon that a game is bound to, or None."""
    lexicon: Lexicon | None = getattr(game, "lexicon", None)
    return lexicon

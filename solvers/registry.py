"""The games of nightgrid, by name; solvers are loaded on first use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Dictionaries, Game
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.plug import GamePlug, Plugs

PLUGS: Plugs[GamePlug] = Plugs(__name__.rpartition(".")[0], "nightgrid.solvers")
_KNOWN = {
    plug.name: plug for _, plug in sorted(PLUGS.every(), key=lambda named: named[1].order)
}  # A plug is a few words and loads no kernel.

GAMES: tuple[str, ...] = tuple(_KNOWN)
"""All games, in listing order."""
DEFAULT_GAME = GAMES[0]
"""The default game."""


def game_plug(name: str) -> GamePlug:
    """Return a game's plug. Raises PermanentError for a name that is not in GAMES."""
    if name not in _KNOWN:
        raise PermanentError(f"unknown game {name!r:.40}; expected one of {', '.join(GAMES)}")
    return _KNOWN[name]


def game_named(text: str) -> str | None:
    """Return the game whose name or title is in a text as a word of its own; None without one."""
    words = f"-{re.sub('[^a-z]+', '-', text.lower())}-"
    titles = ((name, game_plug(name).title.lower().replace(" ", "-")) for name in GAMES)
    return next((n for n, title in titles if f"-{n}-" in words or f"-{title}-" in words), None)


def titles(names: Sequence[str]) -> str:
    """Join games' titles for a sentence: "A, B and C"."""
    called = [game_plug(name).title for name in names]
    return " and ".join([*([", ".join(called[:-1])] if called[1:] else []), *called[-1:]])


def check_ask(ask: Ask, name: str) -> None:
    """Raise PermanentError for an ask that a game does not answer."""
    plug = game_plug(name)
    if plug.answers(ask):
        return
    if ask.kind in ("best", "meant") and ask.kind not in plug.asks:
        able = titles([name for name, plug in _KNOWN.items() if ask.kind in plug.asks])
        why = "have no score" if ask.kind == "best" else "cannot be ranked by likelihood"
        raise PermanentError(f"{ask.kind}(K) is for {able}; solutions of {plug.title} {why}")
    limits = {"best": f"best({plug.best_max or 'K'})", "meant": "meant(K)"}
    expected = [limits.get(kind, kind) for kind in ("first", "best", "all", "count", "meant")]
    unlisted = plug.asks.isdisjoint(("count", "all"))
    why = ", whose solutions are neither counted nor listed" if unlisted else ""
    raise PermanentError(
        f"{ask} is not for {plug.title}{why}; expected "
        f"{' or '.join(text for text in expected if text.partition('(')[0] in plug.asks)}"
    )


def check_rules(rules: str, name: str) -> None:
    """Raise PermanentError for rules that a game does not have; loads no solver."""
    switched = game_plug(name).rules
    if switched is not None:
        switched.parse(rules)
    elif rules:
        raise PermanentError(f"{name} has no rules to switch; expected none, got {rules!r:.40}")


def game(
    name: str,
    rules: str = "",
    lexicon: Lexicon | None = None,
    dictionaries: Dictionaries | None = None,
) -> Game[Any, Any]:
    """Look a game up by name, bound to rules and, for a word game, to its words.

    Rules in any spelling that the game parses; "" means the game's own. Raises PermanentError for a
    name that is not in GAMES, for rules that the game does not have, and for a lexicon or rules
    given to a game without them.
    """
    plug = game_plug(name)
    check_rules(rules, name)
    if lexicon is not None and not plug.words:
        raise PermanentError(f"{name} is not played with words; expected no lexicon")
    return plug.bind(rules, lexicon, dictionaries)

"""Plug Letter Boxed in: chains of words round a polygon, the shortest ones first."""

from __future__ import annotations

from typing import Any

from nightgrid.solvers.algebra import Ask, Game
from nightgrid.solvers.letterboxed.rules import Rules
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.plug import Dictionaries, GamePlug

NIGHT_BEST = 10
"""Shortest chains that a night keeps of a board."""


def _bind(rules: str, lexicon: Lexicon | None, words: Dictionaries | None) -> Game[Any, Any]:
    # Imported on first use: a process that only reads the lake never loads Numba.
    from nightgrid.solvers.letterboxed.game import LetterBoxedGame

    return LetterBoxedGame(Rules.parse(rules), lexicon, words)


PLUG = GamePlug(
    name="letterboxed",
    title="Letter Boxed",
    order=30,
    bind=_bind,
    check_rules=Rules.parse,
    words=True,
    own_words=True,
    asks=frozenset({"first", "best", "all", "count"}),
    # The best come with the count.
    night_asks=(Ask(kind="best", limit=NIGHT_BEST),),
    quick_ask=Ask(kind="best", limit=1),
)

"""Plug Strands in: covers of a board with words, the most probable ones first."""

from __future__ import annotations

from typing import Any

from nightgrid.solvers.algebra import Ask, Game
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.plug import Dictionaries, GamePlug
from nightgrid.solvers.strands.rules import Rules

NIGHT_BEST = 10
"""Covers that a night keeps of a board: the official one is looked up among them."""


def _bind(rules: str, lexicon: Lexicon | None, _words: Dictionaries | None) -> Game[Any, Any]:
    # Imported on first use: a process that only reads the lake never loads Numba.
    from nightgrid.solvers.strands.game import StrandsGame

    return StrandsGame(Rules.parse(rules), lexicon)


PLUG = GamePlug(
    name="strands",
    title="Strands",
    order=20,
    bind=_bind,
    check_rules=Rules.parse,
    words=True,
    asks=frozenset({"first", "best", "all", "count"}),
    # The best come with the count.
    night_asks=(Ask(kind="best", limit=NIGHT_BEST),),
    quick_ask=Ask(kind="best", limit=1),
    # The best cover says most.
    sample_ask=Ask(kind="best", limit=1),
)

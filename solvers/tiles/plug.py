"""Plug Tiles in: walks that clear a board, which are neither counted nor listed."""

from __future__ import annotations

from typing import Any

from nightgrid.solvers.algebra import Ask, Game
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.plug import Dictionaries, GamePlug
from nightgrid.solvers.tiles.rules import Rules


def _bind(rules: str, _lexicon: Lexicon | None, _words: Dictionaries | None) -> Game[Any, Any]:
    # Imported on first use: a process that only reads the lake never loads Numba.
    from nightgrid.solvers.tiles.game import TilesGame

    return TilesGame(Rules.parse(rules))


PLUG = GamePlug(
    name="tiles",
    title="Tiles",
    order=40,
    bind=_bind,
    check_rules=Rules.parse,
    asks=frozenset({"first", "best"}),
    # A walk of the fewest moves.
    best_max=1,
    night_asks=(Ask(kind="first"),),
)

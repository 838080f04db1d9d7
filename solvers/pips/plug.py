"""Plug Pips in: domino tilings under sums, counted exactly."""

from __future__ import annotations

from typing import Any

from nightgrid.solvers.algebra import Game
from nightgrid.solvers.lexicon.lexicon import Lexicon
from nightgrid.solvers.plug import Dictionaries, GamePlug


def _bind(_rules: str, _lexicon: Lexicon | None, _words: Dictionaries | None) -> Game[Any, Any]:
    # Imported on first use: a process that only reads the lake never loads Numba.
    from nightgrid.solvers.pips.game import PIPS

    return PIPS


PLUG = GamePlug(name="pips", title="Pips", order=10, bind=_bind)

"""Plug Coins into the floor `solvers`: entry point of the group nightgrid.solvers."""

from __future__ import annotations

from typing import Any

from nightgrid.solvers.algebra import Game
from nightgrid.solvers.plug import GamePlug

from .rules import Rules


def _bind(rules: str, _lexicon: Any, _dictionaries: Any) -> Game[Any, Any]:
    from .game import CoinsGame

    return CoinsGame(Rules.parse(rules))


PLUG = GamePlug(name="coins", title="Coins", bind=_bind, check_rules=Rules.parse)

"""The solver's plug of Coins: entry point of the group nightgrid.solvers."""

from __future__ import annotations

from nightgrid.solvers.plug import GamePlug

from .rules import Rules

PLUG = GamePlug(name="coins", title="Coins", game=f"{__package__}.game:CoinsGame", rules=Rules)

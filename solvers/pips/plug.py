"""The solver's plug of Pips: domino tilings under sums, counted exactly."""

from __future__ import annotations

from nightgrid.solvers.plug import GamePlug

PLUG = GamePlug(
    name="pips",
    title="Pips",
    order=10,
    game="nightgrid.solvers.pips.game:PipsGame",
)

"""The solver's plug of Tiles: walks that clear a board, which are neither counted nor listed."""

from __future__ import annotations

from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.plug import GamePlug
from nightgrid.solvers.tiles.rules import Rules

PLUG = GamePlug(
    name="tiles",
    title="Tiles",
    order=40,
    game="nightgrid.solvers.tiles.game:TilesGame",
    rules=Rules,
    asks=frozenset({"first", "best"}),
    # A walk of the fewest moves.
    best_max=1,
    night_asks=(Ask(kind="first"),),
)

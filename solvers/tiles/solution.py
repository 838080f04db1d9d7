"""A solution of Tiles: the tiles in the order in which they are selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nightgrid.solvers.errors import PermanentError


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Tiles by their place in `Puzzle.tiles`, from the one that the player begins on."""

    tiles: tuple[int, ...]
    teleports: tuple[int, ...] = ()
    """Indexes into `tiles`, ascending: the selections that share nothing with the one before."""

    @property
    def moves(self) -> int:
        """Selections after the first tile, teleports included."""
        return len(self.tiles) - 1


def walk_to_json(walk: Walk) -> dict[str, Any]:
    """Return a walk as a JSON value."""
    return {"tiles": list(walk.tiles), "teleports": list(walk.teleports), "moves": walk.moves}


def walk_from_json(value: Any) -> Walk:
    """Parse a walk as returned by `walk_to_json`.

    Raises PermanentError for anything else.
    """
    fields = value if isinstance(value, dict) else {}
    tiles, teleports = fields.get("tiles"), fields.get("teleports", [])
    for numbers in (tiles, teleports):
        if not isinstance(numbers, list) or not all(type(n) is int and n >= 0 for n in numbers):
            raise PermanentError(
                "expected a walk: an object with `tiles` and `teleports`, lists of whole numbers"
            )
    if not tiles:
        raise PermanentError("expected a walk of at least one tile")
    return Walk(tiles=tuple(tiles), teleports=tuple(teleports))

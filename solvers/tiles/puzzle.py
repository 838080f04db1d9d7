"""The Tiles puzzle: a multiset of tiles, each a set of features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nightgrid.solvers.canonical import canonical_json, digest
from nightgrid.solvers.errors import Faults, InvalidPuzzleError, check_object, place_of

TILES_MAX = 10_000_000
FEATURES_MAX = 100_000_000
"""Features of all tiles together: the size of an instance in article 000, Section 5."""


@dataclass(frozen=True, kw_only=True)
class Puzzle:
    """A validated board: the tiles as they lie, row by row, each with its features sorted.

    The general instance of article 000, Definition 21. The places of tiles do not matter in the
    game; but a walk names tiles by place, so they are part of the `puzzle_id`. Raises
    InvalidPuzzleError naming the rule and the place that breaks it.
    """

    tiles: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        _check(self.tiles, "tiles")
        object.__setattr__(self, "tiles", tuple(tuple(sorted(tile)) for tile in self.tiles))

    @cached_property
    def puzzle_id(self) -> str:
        """Hash of the board with the places of its tiles."""
        return digest("tiles", canonical_json(self.tiles))

    def to_json(self) -> dict[str, Any]:
        """Return the board with the places of its tiles."""
        return {"game": "tiles", "tiles": [list(tile) for tile in self.tiles]}

    @classmethod
    def from_json(cls, value: object, place: str = "") -> Puzzle:
        """Validate a JSON value with `tiles`, lists of features.

        `place` is the path of the value in its document and starts every place that an error
        names. Other keys are ignored. The page's own form is read by
        `nightgrid.archive.games.tiles.payload`.
        """
        given = check_object(value, place)
        at = place_of(place, "tiles")
        tiles = given.get("tiles")
        if not isinstance(tiles, list | tuple):
            raise InvalidPuzzleError("tiles-type", at, "expected a list of tiles")
        faults = Faults()
        for i, tile in enumerate(tiles):
            if not isinstance(tile, list | tuple) or not all(isinstance(f, str) for f in tile):
                message = "expected a list of features, each a string"
                faults.add(InvalidPuzzleError("tile-type", f"{at}[{i}]", message))
        faults.check()
        _check(tiles, at)
        return cls(tiles=tuple(map(tuple, tiles)))


def _check(tiles: Any, place: str) -> None:
    if not 1 <= len(tiles) <= TILES_MAX:
        raise InvalidPuzzleError(
            "tile-count", place, f"{len(tiles)} tiles; expected 1 to {TILES_MAX:,}"
        )
    if sum(map(len, tiles)) > FEATURES_MAX:
        raise InvalidPuzzleError(
            "feature-count", place, f"expected at most {FEATURES_MAX:,} features in all"
        )
    faults = Faults()
    for i, tile in enumerate(tiles):
        if len(set(tile)) < len(tile):
            message = "a feature is twice on the tile"
            faults.add(InvalidPuzzleError("feature-twice", f"{place}[{i}]", message))
    faults.check()

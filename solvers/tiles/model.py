"""A board as numbers: its structure graph (article 000, Definition 22)."""

from __future__ import annotations

from dataclasses import dataclass

from nightgrid.solvers.tiles.puzzle import Puzzle


@dataclass(frozen=True, slots=True)
class Model:
    """The structure graph from both sides; features are numbers in order of first appearance."""

    tiles: list[list[int]]
    """The features of each tile, ascending."""
    holders: list[list[int]]
    """The tiles of each feature, ascending."""

    @property
    def size(self) -> int:
        """Features of all tiles together."""
        return sum(map(len, self.tiles))

    @property
    def solvable(self) -> bool:
        """Whether every feature is on an even number of tiles (article 000, Theorem 4)."""
        return all(len(tiles) % 2 == 0 for tiles in self.holders)


def model_of(puzzle: Puzzle) -> Model:
    """Number the features of a board and index its tiles by them."""
    numbers: dict[str, int] = {}
    tiles = [
        sorted(numbers.setdefault(name, len(numbers)) for name in tile) for tile in puzzle.tiles
    ]
    holders: list[list[int]] = [[] for _ in numbers]
    for tile, features in enumerate(tiles):
        for feature in features:
            holders[feature].append(tile)
    return Model(tiles, holders)

"""A board as the arrays that kernels work on: its structure graph (article 000, Definition 22)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import search_kernel
from nightgrid.solvers.tiles.puzzle import Puzzle


class Model(NamedTuple):
    """The structure graph from both sides; features are numbers in order of first appearance."""

    start: npt.NDArray[np.int64]
    """The features of tile t are feature[start[t]:start[t + 1]], ascending. Length tiles + 1."""
    feature: npt.NDArray[np.int32]
    """One for each tile and each of its features."""
    feature_start: npt.NDArray[np.int64]
    """The tiles of feature f are holder[feature_start[f]:feature_start[f + 1]], ascending."""
    holder: npt.NDArray[np.int32]

    @property
    def tile_count(self) -> int:
        """Tiles, empty ones included."""
        return len(self.start) - 1

    @property
    def feature_count(self) -> int:
        """Distinct features."""
        return len(self.feature_start) - 1

    @property
    def solvable(self) -> bool:
        """Whether every feature stands on an even number of tiles (article 000, Theorem 4)."""
        return not bool((np.diff(self.feature_start) & 1).any())

    @property
    def bytes(self) -> int:
        """Memory of the arrays."""
        return sum(
            array.nbytes for array in (self.start, self.feature, self.feature_start, self.holder)
        )


def model_of(puzzle: Puzzle) -> Model:
    """Number the features of a board and index its tiles by them."""
    numbers: dict[str, int] = {}
    flat = np.fromiter(
        (numbers.setdefault(name, len(numbers)) for tile in puzzle.tiles for name in tile),
        np.int32,
        puzzle.feature_count,
    )
    sizes = np.fromiter(map(len, puzzle.tiles), np.int64, len(puzzle.tiles))
    return index(sizes, flat, len(numbers))


def index(sizes: npt.NDArray[Any], feature: npt.NDArray[np.int32], feature_count: int) -> Model:
    """Index tiles, given the number of features of each and the features of each in turn."""
    start = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=start[1:])
    feature_start = np.zeros(feature_count + 1, np.int64)
    np.cumsum(np.bincount(feature, minlength=feature_count), out=feature_start[1:])
    holder = np.empty(len(feature), np.int32)
    ordered = np.empty(len(feature), np.int32)
    fill = np.empty(max(feature_count, len(sizes)), np.int64)
    _index(start, feature, feature_start, holder, ordered, fill)
    return Model(start=start, feature=ordered, feature_start=feature_start, holder=holder)


@search_kernel
def _index(
    start: npt.NDArray[np.int64], feature: npt.NDArray[np.int32],
    feature_start: npt.NDArray[np.int64], holder: npt.NDArray[np.int32],
    ordered: npt.NDArray[np.int32], fill: npt.NDArray[np.int64],
) -> None:  # fmt: skip
    """Write the tiles of each feature, and the features of each tile in ascending order.

    Two passes of a counting sort: no comparison, linear in the size of the board.
    """
    for f in range(len(feature_start) - 1):
        fill[f] = feature_start[f]
    for t in range(len(start) - 1):
        for i in range(start[t], start[t + 1]):
            holder[fill[feature[i]]] = t
            fill[feature[i]] += 1
    for t in range(len(start) - 1):
        fill[t] = start[t]
    for f in range(len(feature_start) - 1):
        for i in range(feature_start[f], feature_start[f + 1]):
            ordered[fill[holder[i]]] = f
            fill[holder[i]] += 1

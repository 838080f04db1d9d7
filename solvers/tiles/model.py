"""A board as the arrays that kernels work on: its structure graph (article 000, Definition 22)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import I32, I64, U64, Bools, inlined_kernel, search_kernel
from nightgrid.solvers.tiles.puzzle import Puzzle

_ONE = np.uint64(1)
_LOW_BITS = np.uint64(63)
_WORD_SHIFT = np.uint64(6)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""What splitmix64 adds to its state before every number."""


class Model(NamedTuple):
    """The structure graph from both sides; features are numbers in order of first appearance."""

    start: I64
    """The features of tile t are feature[start[t]:start[t + 1]], ascending. Length tiles + 1."""
    feature: I32
    """One for each tile and each of its features."""
    feature_start: I64
    """The tiles of feature f are holder[feature_start[f]:feature_start[f + 1]], ascending."""
    holder: I32

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


def index(sizes: npt.NDArray[Any], feature: I32, feature_count: int) -> Model:
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
    start: I64, feature: I32,
    feature_start: I64, holder: I32,
    ordered: I32, fill: I64,
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


@search_kernel
def decide_rows(feature: I32, offsets: I64, parity: U64, solvable: Bools) -> None:
    """Write for each row whether it is solvable (article 000, Theorem 4), in linear time.

    `feature` (int32) holds the rows' features, numbers below 64 * len(parity); row i is
    feature[offsets[i]:offsets[i + 1]]. `parity` is scratch, uint64, all zero before and after.
    """
    for row in range(len(offsets) - 1):
        start, stop = offsets[row], offsets[row + 1]
        if len(parity) == 1:
            word = np.uint64(0)
            for i in range(start, stop):
                word ^= _ONE << np.uint64(feature[i])
            solvable[row] = word == 0
            continue
        odd = 0
        for i in range(start, stop):
            number = np.uint64(feature[i])
            bit = _ONE << (number & _LOW_BITS)
            parity[number >> _WORD_SHIFT] ^= bit
            odd += 1 if parity[number >> _WORD_SHIFT] & bit else -1
        solvable[row] = odd == 0
        if odd:
            for i in range(start, stop):
                parity[np.uint64(feature[i]) >> _WORD_SHIFT] = 0


@inlined_kernel
def mixed(x: np.uint64) -> np.uint64:
    """Mix the bits of a number, as splitmix64 does with its state."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))

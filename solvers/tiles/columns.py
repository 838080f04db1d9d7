"""Boards of Tiles laid out column-wise: many boards, no Python object for any of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Arrays
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError
from nightgrid.solvers.tiles.puzzle import Puzzle


def to_arrays(puzzles: Sequence[Puzzle]) -> dict[str, npt.NDArray[Any]]:
    """Lay boards out as the columns of the puzzles table.

    `feature` holds the features of each tile in turn, as numbers in the order of their first
    appearance on the board; `tile_size` how many of them each tile has; `size` the number of
    tiles. Names play no role in the game and are kept so that a board can be written again:
    `name_letter` holds the code points of each feature's name in turn, `name_size` how many.
    """
    columns: dict[str, list[int]] = {
        name: [] for name in ("feature", "tile_size", "name_letter", "name_size")
    }
    ends: dict[str, list[int]] = {name: [0] for name in columns}
    for puzzle in puzzles:
        numbers: dict[str, int] = {}
        features = columns["feature"]
        for tile in puzzle.tiles:
            for feature in tile:
                features.append(numbers.setdefault(feature, len(numbers)))
        columns["tile_size"] += map(len, puzzle.tiles)
        columns["name_letter"] += [ord(c) for feature in numbers for c in feature]
        columns["name_size"] += map(len, numbers)
        for name, values in columns.items():
            ends[name].append(len(values))
    arrays: dict[str, npt.NDArray[Any]] = {
        "size": np.array([len(puzzle.tiles) for puzzle in puzzles], np.int32)
    }
    for name, values in columns.items():
        arrays[f"{name}.values"] = np.array(values, np.int32)
        arrays[f"{name}.offsets"] = np.array(ends[name], np.int32)
    return arrays


def from_arrays(arrays: Arrays, row: int) -> Puzzle:
    """Rebuild the board of one row, validated like any other.

    Raises InvalidPuzzleError naming the column where the row's lists do not fit one another.
    """

    def column(name: str) -> list[int]:
        start, stop = arrays[f"{name}.offsets"][row : row + 2]
        values: list[int] = arrays[f"{name}.values"][start:stop].tolist()
        return values

    sizes = column("name_size")
    letters = "".join(map(chr, column("name_letter")))
    numbers, tile_sizes = column("feature"), column("tile_size")
    for name, values, said in (
        ("feature", numbers, tile_sizes),
        ("name_letter", letters, sizes),
    ):
        if len(values) != sum(said):
            raise InvalidPuzzleError(
                "columns", name, f"{len(values)} values; expected {sum(said)}, as their sizes say"
            )
    names = list(_cut(letters, sizes))
    if numbers and not 0 <= min(numbers) <= max(numbers) < len(names):
        raise InvalidPuzzleError(
            "columns", "feature", "expected numbers of features that have a name"
        )
    return Puzzle(
        tiles=tuple(tuple(names[number] for number in tile) for tile in _cut(numbers, tile_sizes))
    )


def kernel_columns(arrays: Arrays) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Pick what the batch kernel reads: the features of all rows, and where each row begins.

    Raises PermanentError for columns that do not fit together: kernels trust their offsets.
    """
    values = np.require(arrays["feature.values"], np.int32, ["C", "W"])
    offsets = arrays["feature.offsets"].astype(np.int64)
    if (
        len(offsets) != len(arrays["size"]) + 1
        or offsets[0] < 0
        or (np.diff(offsets) < 0).any()
        or offsets[-1] > len(values)
    ):
        raise PermanentError(
            "column feature: expected offsets that rise from 0 on and end within the values"
        )
    if len(values) and values.min() < 0:
        raise PermanentError("column feature: expected numbers from 0 on")
    return values, offsets


def _cut(values: Any, sizes: Sequence[int]) -> Any:
    at = 0
    for size in sizes:
        yield values[at : at + size]
        at += size

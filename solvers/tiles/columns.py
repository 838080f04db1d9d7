"""Boards of Tiles as columns: many boards, without Python objects for any of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Arrays
from nightgrid.solvers.columns import list_column, list_of
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError
from nightgrid.solvers.tiles.puzzle import Puzzle


def to_arrays(puzzles: Sequence[Puzzle]) -> dict[str, npt.NDArray[Any]]:
    """Encode boards as the columns of the puzzles table.

    `feature` holds the features of each tile in turn, as numbers in the order of their first
    appearance on the board; `tile_size` how many of them each tile has; `size` the number of tiles.
    Names do not matter in the game; they are kept to restore boards: `name_letter` holds the code
    points of each feature's name in turn, `name_size` how many.
    """
    numbers = [
        {name: i for i, name in enumerate(dict.fromkeys(f for tile in p.tiles for f in tile))}
        for p in puzzles
    ]
    boards = list(zip(puzzles, numbers, strict=True))
    return {
        "size": np.array([len(puzzle.tiles) for puzzle in puzzles], np.int32),
        **list_column("feature", ([of[f] for tile in p.tiles for f in tile] for p, of in boards)),
        **list_column("tile_size", ([*map(len, p.tiles)] for p in puzzles)),
        **list_column("name_letter", ([ord(c) for name in of for c in name] for of in numbers)),
        **list_column("name_size", ([*map(len, of)] for of in numbers)),
    }


def from_arrays(arrays: Arrays, row: int) -> Puzzle:
    """Decode the board of one row, validated like any other.

    Raises InvalidPuzzleError naming the column if the row's lists do not fit together.
    """
    sizes = list_of(arrays, "name_size", row)
    letters = "".join(map(chr, list_of(arrays, "name_letter", row)))
    numbers, tile_sizes = list_of(arrays, "feature", row), list_of(arrays, "tile_size", row)
    for name, values, lengths in (
        ("feature", numbers, tile_sizes),
        ("name_letter", letters, sizes),
    ):
        wanted = sum(lengths)
        if len(values) != wanted:
            raise InvalidPuzzleError(
                "columns", name, f"{len(values)} values; expected {wanted}, as their sizes say"
            )
    names = list(_cut(letters, sizes))
    if numbers and not 0 <= min(numbers) <= max(numbers) < len(names):
        raise InvalidPuzzleError(
            "columns", "feature", "expected numbers of features that have a name"
        )
    return Puzzle(
        tiles=tuple(tuple(names[number] for number in tile) for tile in _cut(numbers, tile_sizes))
    )


def features_by_row(arrays: Arrays) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return the features of all rows, and the start of each row.

    Raises PermanentError for columns that do not fit together.
    """
    values = arrays["feature.values"]
    offsets = arrays["feature.offsets"].astype(np.int64)
    if (
        len(offsets) != len(arrays["size"]) + 1
        or offsets[0] < 0
        or (np.diff(offsets) < 0).any()
        or offsets[-1] > len(values)
    ):
        raise PermanentError(
            "column feature: expected offsets that rise from 0 and end within the values"
        )
    if len(values) and values.min() < 0:
        raise PermanentError("column feature: expected numbers from 0 on")
    return values, offsets


def _cut(values: Any, sizes: Sequence[int]) -> Any:
    at = 0
    for size in sizes:
        yield values[at : at + size]
        at += size

"""Pips boards as columns: many boards, without Python objects for any of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Arrays
from nightgrid.solvers.columns import list_of
from nightgrid.solvers.errors import InvalidPuzzleError, PermanentError
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import REGION_TYPES, TARGETED, Region

CELL_LISTS = ("cell_row", "cell_col", "cell_region")
REGION_LISTS = ("region_type", "region_target")
DOMINO_LISTS = ("domino_a", "domino_b")
DTYPES: dict[str, type[np.generic]] = {
    "cell_row": np.int32,
    "cell_col": np.int32,
    "cell_region": np.int32,
    "region_type": np.uint8,
    "region_target": np.int64,
    "domino_a": np.int32,
    "domino_b": np.int32,
}


class Columns(NamedTuple):
    """The columns of many boards as kernels read them; row i of a list ends where i + 1 begins."""

    cell_row: npt.NDArray[np.int32]
    cell_col: npt.NDArray[np.int32]
    cell_region: npt.NDArray[np.int32]
    cell_offsets: npt.NDArray[np.int32]
    """int32[boards + 1]"""
    region_type: npt.NDArray[np.uint8]
    region_target: npt.NDArray[np.int64]
    region_offsets: npt.NDArray[np.int32]
    """int32[boards + 1]"""
    domino_a: npt.NDArray[np.int32]
    domino_b: npt.NDArray[np.int32]
    domino_offsets: npt.NDArray[np.int32]
    """int32[boards + 1]"""


_CODES = {kind: code for code, kind in enumerate(REGION_TYPES)}


def to_arrays(puzzles: Sequence[Puzzle]) -> dict[str, npt.NDArray[Any]]:
    """Lay puzzles out as the columns of the puzzles table.

    Cells are sorted by (row, column), regions and dominoes are in canonical order. Returns for each
    list column NAME.values and NAME.offsets (int32, one more than puzzles), and `size` (int32,
    dominoes per board).
    """
    cells = [
        sorted((*cell, i) for i, r in enumerate(puzzle.regions) for cell in r.cells)
        for puzzle in puzzles
    ]
    regions = [[(_CODES[r.type], r.target or 0) for r in p.regions] for p in puzzles]
    arrays = {"size": np.array([len(puzzle.dominoes) for puzzle in puzzles], np.int32)}
    groups: tuple[tuple[tuple[str, ...], Sequence[Sequence[tuple[int, ...]]]], ...] = (
        (CELL_LISTS, cells),
        (REGION_LISTS, regions),
        (DOMINO_LISTS, [puzzle.dominoes for puzzle in puzzles]),
    )
    for names, boards in groups:
        # One array for all: a single board is laid out for every solve, and arrays cost time.
        offsets = np.array([0, *accumulate(map(len, boards))], np.int32)
        columns = [*zip(*chain.from_iterable(boards), strict=True)] or [()] * len(names)
        for name, values in zip(names, columns, strict=True):
            arrays[f"{name}.values"] = np.array(values, DTYPES[name])
            arrays[f"{name}.offsets"] = offsets
    return arrays


def from_arrays(arrays: Arrays, row: int) -> Puzzle:
    """Decode the puzzle of one row, validated like any other.

    Raises InvalidPuzzleError naming the column if the row's lists do not fit together.
    """
    lists = {name: list_of(arrays, name, row) for name in DTYPES}
    for first, *others in (CELL_LISTS, REGION_LISTS, DOMINO_LISTS):
        for name in others:
            if len(lists[name]) != len(lists[first]):
                raise _misfit(
                    name, f"{len(lists[name])} values; expected {len(lists[first])}, as in {first}"
                )
    types = lists["region_type"]
    members: list[list[tuple[int, int]]] = [[] for _ in types]
    cells_of = zip(lists["cell_row"], lists["cell_col"], lists["cell_region"], strict=True)
    for at, (r, c, i) in enumerate(cells_of):
        if not 0 <= i < len(members):
            raise _misfit(
                f"cell_region[{at}]",
                f"region {i}; expected one of the {len(members)} of region_type, from 0 on",
            )
        members[i].append((r, c))
    regions = []
    for at, (cells, code, target) in enumerate(
        zip(members, types, lists["region_target"], strict=True)
    ):
        if code >= len(REGION_TYPES):
            raise _misfit(
                f"region_type[{at}]", f"code {code}; expected 0 to {len(REGION_TYPES) - 1}"
            )
        kind = REGION_TYPES[code]
        regions.append(
            Region(cells=tuple(cells), type=kind, target=target if kind in TARGETED else None)
        )
    dominoes = zip(lists["domino_a"], lists["domino_b"], strict=True)
    return Puzzle(regions=tuple(regions), dominoes=tuple(dominoes))


def _misfit(place: str, message: str) -> InvalidPuzzleError:
    return InvalidPuzzleError("columns", place, message)


def kernel_columns(arrays: Arrays) -> Columns:
    """Pick the arrays that kernels read.

    Read-only arrays, as Arrow returns them, are copied: Numba would compile every kernel again for
    their type.

    Raises PermanentError for columns that do not fit together: kernels trust their offsets.
    """
    groups = []
    for names in (CELL_LISTS, REGION_LISTS, DOMINO_LISTS):
        given = arrays[f"{names[0]}.offsets"]
        offsets = _writable(given, np.int32)
        values = [_writable(arrays[f"{name}.values"], DTYPES[name]) for name in names]
        if not _rise(offsets) or any(offsets[-1] > len(column) for column in values):
            raise PermanentError(
                f"columns {', '.join(names)}: expected offsets that rise from 0 and end within "
                "the values"
            )
        for name in names[1:]:
            others = arrays[f"{name}.offsets"]
            if others is given:
                continue
            if len(others) != len(offsets) or (others != offsets).any():
                raise PermanentError(
                    f"column {name}: expected the same offsets as {names[0]}, got others"
                )
        groups.append([*values, offsets])
    if len({len(group[-1]) for group in groups}) != 1:
        raise PermanentError("expected as many boards in the columns of cells, regions, dominoes")
    return Columns(*(array for group in groups for array in group))


def _rise(offsets: npt.NDArray[np.int32]) -> bool:
    """Return whether offsets increase from 0 or more."""
    # A single board has two, for which NumPy takes ten times as long.
    if len(offsets) == 2:
        return 0 <= offsets.item(0) <= offsets.item(1)
    return len(offsets) > 0 and offsets[0] >= 0 and not (offsets[1:] < offsets[:-1]).any()


def _writable(array: npt.NDArray[Any], dtype: type[np.generic]) -> npt.NDArray[Any]:
    """Copy an array unless it has this type and is contiguous and writable."""
    if array.dtype == dtype and array.flags.c_contiguous and array.flags.writeable:
        return array
    return np.require(array, dtype, ["C", "W"])

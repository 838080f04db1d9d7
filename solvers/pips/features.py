"""What the time for a Pips board depends on, read off its columns, and an estimate of it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Arrays
from nightgrid.solvers.kernel.compiling import Int, kernel
from nightgrid.solvers.pips.columns import Columns, kernel_columns
from nightgrid.solvers.pips.regions import REGION_TYPES, RegionType

FEATURES = ("size", "distinct_dominoes", "regions", "free_cells", "largest_region")
"""Size is the number of dominoes; free cells have a region without a rule. A change of `cost_s`
changes one of these names too: what was learnt under other names counts for nothing."""
_EMPTY = REGION_TYPES.index(RegionType.EMPTY)

LARGE_SIZE = 16
"""Dominoes of the largest boards that are published."""
LARGE_S = 0.4e-3
"""What such a board costs on average, files and messages included."""
SMALLER_FACTOR, LARGER_FACTOR = 1.4, 2.0
"""A board with a domino fewer costs so many times less, and one with a domino more so many times
more."""


def cost_s(arrays: Arrays) -> npt.NDArray[np.float64]:
    """Estimate the seconds that each board will take one core, from its number of dominoes."""
    beyond = np.minimum(arrays["size"].astype(np.float64) - LARGE_SIZE, 32.0)
    growth = np.where(beyond < 0, SMALLER_FACTOR, LARGER_FACTOR)
    cost: npt.NDArray[np.float64] = LARGE_S * growth**beyond
    return cost


def features(arrays: Arrays) -> npt.NDArray[np.float64]:
    """Tell of each board the FEATURES: (boards, 5)."""
    columns = kernel_columns(arrays)
    found = np.zeros((len(columns.cell_offsets) - 1, len(FEATURES)), np.float64)
    _read(columns, _EMPTY, found)
    return found


@kernel
def _read(columns: Columns, empty: Int, found: npt.NDArray[np.float64]) -> None:
    cell_offsets, region_offsets = columns.cell_offsets, columns.region_offsets
    domino_a, domino_b = columns.domino_a, columns.domino_b
    domino_offsets = columns.domino_offsets
    largest = 0
    for row in range(len(found)):
        largest = max(largest, region_offsets[row + 1] - region_offsets[row])
    sizes = np.zeros(largest, np.int64)
    for row in range(len(found)):
        first, last = region_offsets[row], region_offsets[row + 1]
        sizes[: last - first] = 0
        for cell in range(cell_offsets[row], cell_offsets[row + 1]):
            region = columns.cell_region[cell]
            if 0 <= region < last - first:
                sizes[region] += 1
        free = 0
        for region in range(last - first):
            found[row, 4] = max(found[row, 4], sizes[region])
            if columns.region_type[first + region] == empty:
                free += sizes[region]
        dominoes = domino_offsets[row + 1] - domino_offsets[row]
        kinds = np.empty(dominoes, np.int64)
        for i in range(dominoes):
            a, b = domino_a[domino_offsets[row] + i], domino_b[domino_offsets[row] + i]
            kinds[i] = (np.int64(min(a, b)) << 32) | np.int64(max(a, b))
        kinds.sort()
        distinct = 0
        for i in range(dominoes):
            distinct += i == 0 or kinds[i] != kinds[i - 1]
        found[row, 0] = dominoes
        found[row, 1] = distinct
        found[row, 2] = last - first
        found[row, 3] = free

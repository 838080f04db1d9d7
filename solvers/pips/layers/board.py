"""The record in which kernels store one board: allocated once, refilled for each board."""

from __future__ import annotations

from typing import Annotated, get_type_hints

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import I64, U64, Int
from nightgrid.solvers.kernel.machine import CLOCK_WORDS

F64 = npt.NDArray[np.float64]

MOST_CELLS = 1024
MOST_TYPES = 128
"""Distinct dominoes: two of a key's four words."""
MOST_PIPS = 256
"""Distinct numbers of pips."""

NO_BOUND = 1 << 60
"""More than any sum."""
MOST_SUMS = 256
"""Resolution of the distribution of a region's sum."""

# Codes of nightgrid.solvers.pips.puzzle.REGION_TYPES.
EMPTY, SUM, LESS, GREATER, EQUALS, UNEQUAL = range(6)


Scalar = Annotated[Int, np.int64, ()]
ByCell = Annotated[I64, np.int64, (MOST_CELLS,)]
"""By cell as given, sorted by row and column."""
ByPosition = Annotated[I64, np.int64, (MOST_CELLS,)]
"""By position in the cell order."""
Beside = Annotated[I64, np.int64, (MOST_CELLS, 4)]
ByRegion = Annotated[I64, np.int64, (MOST_CELLS,)]
ByPips = Annotated[I64, np.int64, (MOST_PIPS,)]
"""By index of the pips, ascending."""
TypesByPips = Annotated[U64, np.uint64, (MOST_PIPS, 2)]
"""Set of domino types as bits, by index of the pips."""
ByType = Annotated[I64, np.int64, (MOST_TYPES,)]
"""By domino type."""
ByFilled = Annotated[F64, np.float64, (2 * MOST_CELLS,)]
"""By region and number of its filled cells j: at outlook[region] + j."""
ByRest = Annotated[I64, np.int64, (MOST_CELLS + 8,)]


class Board:
    """One board. In kernels it is a record: passed by address, its arrays by name.

    The class has no instances: it defines BOARD's fields, and types for the type checker.
    """

    cells: Scalar
    regions: Scalar
    dominoes: Scalar
    types: Scalar
    """Distinct dominoes."""
    values: Scalar
    """Distinct numbers of pips."""
    multiples: Scalar
    """Domino types with more than one copy."""
    node_word: Scalar
    """The word of a key that holds the state's node in the forest of tilings,"""
    node_shift: Scalar
    """its place there,"""
    node_mask: Scalar
    """and its bits, moved to the lowest place."""

    row: ByCell
    col: ByCell
    cell_region: ByCell
    neighbours: Beside
    """By cell: cells, -1 for none."""
    position: ByCell
    """Position of the cell in the cell order."""
    component: ByCell
    sort_key: ByCell
    """Scratch."""

    order: ByPosition
    """The cell."""
    best_order: ByPosition
    """Scratch: the best order tried so far."""
    later: Beside
    """By position: positions of the neighbours that come later, ascending."""
    later_count: ByPosition
    region: ByPosition
    """-1 if the cell is unconstrained."""
    slot: ByPosition
    """Scratch: the entry of `rest` that counts the cell."""
    tile: ByPosition
    """In a part: the position that shares a tile with this one, else -1."""
    fixed: ByPosition
    """In a part: index of the pips that lie here, else -1."""

    kind: ByRegion
    """Code of the region's type, EMPTY if the constraint can never fail."""
    target: ByRegion
    least: ByRegion
    most: ByRegion
    """Bounds of its sum, for a region with a target."""
    size: ByRegion
    first: ByRegion
    """First position at which the region can be partly filled."""
    last: ByRegion
    """Position of its last cell."""
    field_word: ByRegion
    """The word of a key that holds the region's progress,"""
    field_shift: ByRegion
    """its place there,"""
    field_bits: ByRegion
    """and its number of bits."""
    rest: ByRest
    """Scratch: free cells, by region."""
    outlook: ByRegion
    """Where the region begins in `chance` and `variety`."""
    chance: ByFilled
    """log2 of the probability that random pips have not failed."""
    variety: ByFilled
    """log2 of the number of different progresses."""
    sums: Annotated[F64, np.float64, (2, MOST_SUMS)]
    """Scratch: distributions of a sum."""

    pips: ByPips
    halves: ByPips
    """Halves with these pips, among all dominoes."""
    has: TypesByPips
    """Domino types with these pips."""
    double: TypesByPips
    """The double of these pips."""
    spare: ByPips
    """Scratch: remaining halves with these pips, without those for known cells,"""
    spares: Scalar
    """and their total number."""
    base_key: Annotated[U64, np.uint64, (4,)]
    """Scratch: the key that all children with the same tile share."""
    next_a: ByPips
    """Scratch: the progress of the first free cell's region after these pips, -1 if not allowed."""
    next_b: ByPips
    """Scratch: the same for its partner's."""

    index_sum: ByType
    """Sum of the two pip indices,"""
    low_half: ByType
    """and the lower one."""
    copies: ByType
    extra_word: ByType
    """The word of a key that counts the copies beyond the first,"""
    extra_shift: ByType
    """and the place there."""

    low: ByRest
    """Scratch: sum of the r smallest of the spare halves, by r."""
    used: Annotated[I64, np.int64, (4,)]
    """Scratch: bits in use of each word of a key."""
    clock: Annotated[I64, np.int64, (CLOCK_WORDS,)]
    """See nightgrid.solvers.kernel.machine."""
    layer: Annotated[I64, np.int64, (MOST_CELLS // 2 + 3,)]
    """First node of each layer of the forest."""


def record_of(fields: type) -> np.dtype[np.void]:
    """Build a record type from a class whose fields are annotated with type and shape."""
    hints = get_type_hints(fields, include_extras=True)
    return np.dtype([(name, *hint.__metadata__) for name, hint in hints.items()], align=True)


BOARD = record_of(Board)

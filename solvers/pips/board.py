"""The memory in which kernels keep one board: allocated once, filled anew for each board."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]

MOST_CELLS = 1024
MOST_TYPES = 128
"""Distinct dominoes: two of a key's four words."""
MOST_PIPS = 256
"""Distinct numbers of pips."""

MOST_SUMS = 256
"""Resolution of the distribution of a region's sum."""

# Codes of solvers.pips.puzzle.REGION_TYPES.
EMPTY, SUM, LESS, GREATER, EQUALS, UNEQUAL = range(6)


def _dtype() -> np.dtype[Any]:
    i, u, f = np.int64, np.uint64, np.float64
    cells, types, pips = MOST_CELLS, MOST_TYPES, MOST_PIPS
    return np.dtype(
        [
            ("cells", i),
            ("regions", i),
            ("dominoes", i),
            ("types", i),
            ("values", i),
            ("multiples", i),  # domino types with more than one copy
            # Where a state keeps its node in the forest of tilings.
            ("node_word", i),
            ("node_shift", i),
            ("node_mask", i),
            # By cell as given, sorted by row and column.
            ("row", i, cells),
            ("col", i, cells),
            ("cell_region", i, cells),
            ("neighbours", i, (cells, 4)),  # cells, -1 for none
            ("position", i, cells),  # of the cell in the cell order
            ("component", i, cells),
            ("sort_key", i, cells),
            # By position in the cell order.
            ("order", i, cells),  # the cell
            ("best_order", i, cells),
            ("later", i, (cells, 4)),  # positions of the neighbours that come later, ascending
            ("later_count", i, cells),
            ("region", i, cells),  # -1 if nothing constrains the cell
            ("tile", i, cells),  # part: the position that shares a tile with this one, else -1
            ("fixed", i, cells),  # part: index of the pips that lie here, else -1
            # By region.
            ("kind", i, cells),  # EMPTY where the constraint can never fail
            ("target", i, cells),
            ("size", i, cells),
            ("first", i, cells),  # first position at which the region can be partly filled
            ("last", i, cells),  # position of its last cell
            ("field_word", i, cells),  # where a state keeps the region's progress
            ("field_shift", i, cells),
            ("field_bits", i, cells),
            ("rest", i, cells),  # scratch: free cells
            # What the estimate of an order knows of a region with j cells filled, at
            # outlook[region] + j: log2 of the chance that random pips have not failed, and of the
            # number of different progresses.
            ("outlook", i, cells),
            ("chance", f, 2 * cells),
            ("variety", f, 2 * cells),
            ("sums", f, (2, MOST_SUMS)),
            # By index of the pips, ascending.
            ("pips", i, pips),
            ("halves", i, pips),  # with these pips, among all dominoes
            ("has", u, (pips, 2)),  # domino types with these pips
            ("double", u, (pips, 2)),  # the double of these pips
            ("supply", i, pips),  # scratch: halves among the dominoes left
            ("demand", i, pips),
            ("allow_a", i, pips),  # may they lie on the first free cell
            ("allow_b", i, pips),  # may they lie on its partner
            ("next_a", u, pips),  # the region's progress afterwards, in place
            ("next_b", u, pips),
            # By domino type.
            ("index_sum", i, types),  # sum of the two pip indices
            ("copies", i, types),
            ("extra_word", i, types),  # where a state counts the copies beyond the first
            ("extra_shift", i, types),
            # Scratch.
            ("low", i, cells + 2),  # sum of the r smallest pips left
            ("high", i, cells + 2),  # sum of the r largest pips left
            ("sweep_weight", f, 8),  # estimates of the candidates for the cell order
            ("used", i, 4),  # bits of each key word that are given away
            ("timespec", i, 2),
            ("layer", i, cells // 2 + 3),  # first node of each layer of the forest
        ],
        align=True,
    )


BOARD = _dtype()
"""One board. In kernels it is a record: passed by address, its arrays by name."""

# Columns of Forest.nodes, edges and opens.
POSITION, WINDOW, LIVE, EDGE, OPEN, FREE = range(6)
PARTNER, CHILD, REST_A, REST_B = range(4)
OPEN_REGION, OPEN_REST = range(2)


class Forest(NamedTuple):
    """The forest of tilings with equal subtrees shared, as tables."""

    nodes: I64
    """By layer: first free POSITION, WINDOW of covered positions after it, first EDGE, first
    entry in `opens`, number of FREE constrained cells. Row i + 1 ends what row i begins."""
    edges: I64
    """By node: PARTNER position, CHILD node, REST_A and REST_B free cells of the regions of the
    two cells, those included."""
    opens: I64
    """By node: partly filled regions and their free cells."""
    index: I64
    """Hash index over the nodes of one layer."""


def allocate_board() -> Any:
    """Allocate one board, as a record."""
    return np.zeros(1, BOARD)[0]


def allocate_forest(nodes: int) -> Forest:
    """Allocate a forest of up to `nodes` nodes."""
    index = 1
    while index < 2 * nodes:
        index *= 2
    return Forest(
        nodes=np.empty((nodes + 1, 6), np.int64),
        edges=np.empty((2 * nodes + 4, 4), np.int64),
        opens=np.empty((8 * nodes + MOST_CELLS, 2), np.int64),
        index=np.empty(index, np.int64),
    )

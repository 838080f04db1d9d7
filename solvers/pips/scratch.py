"""Working memory of the kernels: small and kept for the common board, large for one solve."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.pips.board import MOST_TYPES, Forest, allocate_board, allocate_forest

NARROW: tuple[int, ...] = (0, 0)
"""A key of two words. Kernels are compiled per key length, which they take from this tuple."""
WIDE: tuple[int, ...] = (0, 0, 0, 0)

MOST_CHILDREN = 4 * 2 * MOST_TYPES
"""Partners of a cell, directions and domino types."""
SMALL_BYTES = 8 * 1024**2
SMALL_NODES = 8192
NODE_BYTES = 8 * (6 + 2 * 4 + 8 * 2 + 4)
"""Memory of a forest per node, with its share of edges, open regions and index."""
INDEX_SHARE = 4
"""One part in so many of the table bytes goes to the hash index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratch:
    """The arrays of one solve at a time."""

    words: tuple[int, ...]
    board: Any
    forest: Forest
    arena: npt.NDArray[np.uint64]
    index: npt.NDArray[np.int32]
    children: npt.NDArray[np.uint64]
    moves: npt.NDArray[np.int64]

    @classmethod
    def allocate(cls, words: tuple[int, ...], table_bytes: int, nodes: int) -> Scratch:
        """Allocate tables of about `table_bytes` and a forest of `nodes`.

        Memory is only promised here: a page costs nothing until a kernel writes on it.
        """
        slots = 256
        while 2 * slots * 4 * INDEX_SHARE <= table_bytes:
            slots *= 2
        rows = max((table_bytes - 4 * slots) // (8 * (len(words) + 2)), 16)
        return cls(
            words=words,
            board=allocate_board(),
            forest=allocate_forest(nodes),
            arena=np.empty((rows, len(words) + 2), np.uint64),
            index=np.empty(slots, np.int32),
            children=np.empty((MOST_CHILDREN, len(words)), np.uint64),
            moves=np.empty((MOST_CHILDREN, 3), np.int64),
        )

    @classmethod
    def for_budget(cls, words: tuple[int, ...], table_bytes: int) -> Scratch:
        """Allocate for one large board: a quarter of the budget for its forest at most."""
        nodes = max(min(table_bytes // 4 // NODE_BYTES, 2**22), 64)
        return cls.allocate(words, max(table_bytes - nodes * NODE_BYTES, 4096), nodes)


_kept = threading.local()


def kept() -> Scratch:
    """Return this thread's small scratch, allocated once."""
    scratch: Scratch | None = getattr(_kept, "scratch", None)
    if scratch is None:
        scratch = Scratch.allocate(NARROW, SMALL_BYTES, SMALL_NODES)
        _kept.scratch = scratch
    return scratch

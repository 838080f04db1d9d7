"""Working memory of the kernels: small and kept for the common board, large for one solve."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.pips.board import MOST_TYPES, Forest, allocate_board, allocate_forest
from solvers.pips.count import MOST_ROWS
from solvers.pips.order import PROBE_NODES
from solvers.pips.search import STACK_COLUMNS

NARROW: tuple[int, ...] = (0, 0)
"""A key of two words. Kernels are compiled per key length, which they take from this tuple."""
WIDE: tuple[int, ...] = (0, 0, 0, 0)

MOST_CHILDREN = 4 * 2 * MOST_TYPES
"""Partners of a cell, directions and domino types."""
SMALL_BYTES = 8 * 1024**2
SMALL_NODES = 8192
MOST_NODES = 2**22
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
    index: npt.NDArray[np.uint32]
    children: npt.NDArray[np.uint64]
    moves: npt.NDArray[np.int64]

    @classmethod
    def allocate(cls, words: tuple[int, ...], table_bytes: int, nodes: int) -> Scratch:
        """Allocate tables of about `table_bytes` and a forest of `nodes`.

        Memory is only promised here: a page costs nothing until a kernel writes on it.
        """
        arena, index = allocate_tables(words, table_bytes)
        return cls(
            words=words,
            board=allocate_board(),
            forest=allocate_forest(nodes),
            arena=arena,
            index=index,
            children=np.empty((MOST_CHILDREN, len(words)), np.uint64),
            moves=np.empty((MOST_CHILDREN, 3), np.int64),
        )

    @classmethod
    def for_budget(cls, words: tuple[int, ...], table_bytes: int, *, wide_forest: bool) -> Scratch:
        """Allocate for one large board; a wide forest takes a quarter of the budget at most."""
        nodes = SMALL_NODES
        if wide_forest:
            nodes = max(min(table_bytes // 4 // NODE_BYTES, MOST_NODES), 64)
        return cls.allocate(words, max(table_bytes - nodes * NODE_BYTES, 4096), nodes)


def allocate_tables(
    words: tuple[int, ...], table_bytes: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """Allocate states and their index for keys of so many words, about `table_bytes` together."""
    slots = 256
    while 2 * slots * 4 * INDEX_SHARE <= table_bytes:
        slots *= 2
    rows = min(max((table_bytes - 4 * slots) // (8 * (len(words) + 2)), 16), MOST_ROWS)
    return np.empty((rows, len(words) + 2), np.uint64), np.empty(slots, np.uint32)


FIRST_TABLE_ROWS = 1 << 15
"""Dead states that a search can keep before its tables grow."""
PROBE_ROWS = 2 * PROBE_NODES
"""States that a trial of a cell order can keep."""
KEPT_DOMINOES = 32
"""Boards up to this size are searched in memory that the thread keeps."""


@dataclass(slots=True, kw_only=True)
class SearchScratch:
    """The arrays of one search, from its first solution to its last."""

    words: tuple[int, ...]
    board: Any
    forest: Forest
    arena: npt.NDArray[np.uint64]
    index: npt.NDArray[np.uint32]
    children: npt.NDArray[np.uint64]
    moves: npt.NDArray[np.int64]
    stack: npt.NDArray[np.int64]
    path: npt.NDArray[np.int64]
    table: npt.NDArray[np.uint64]
    nodes: int
    own: tuple[Any, Forest] | None = None
    """Board and forest of its own, while it works on those of counts."""

    @classmethod
    def allocate(
        cls, words: tuple[int, ...], dominoes: int, types: int, nodes: int
    ) -> SearchScratch:
        """Allocate for boards of so many dominoes, domino types and tiling nodes."""
        fan = 8 * types
        depths = dominoes + 1
        return cls(
            words=words,
            board=allocate_board(),
            forest=allocate_forest(nodes),
            arena=np.empty((PROBE_ROWS, len(words) + 2), np.uint64),
            index=np.empty(2 * FIRST_TABLE_ROWS, np.uint32),
            children=np.empty(((depths + 1) * fan, len(words)), np.uint64),
            moves=np.empty(((depths + 1) * fan, 3), np.int64),
            stack=np.zeros((depths, STACK_COLUMNS), np.int64),
            path=np.zeros(depths, np.int64),
            table=np.empty((FIRST_TABLE_ROWS, len(words)), np.uint64),
            nodes=nodes,
        )

    @property
    def table_bytes(self) -> int:
        """What the tables that a budget bounds may come to."""
        return len(self.table) * (8 * len(self.words) + 8) + self.nodes * NODE_BYTES

    def grow(self, table_bytes: int) -> bool:
        """Double the table of dead states and its index, if the budget allows."""
        rows = len(self.table)
        if self.table_bytes + rows * (8 * len(self.words) + 8) > table_bytes:
            return False
        self.table = np.concatenate([self.table, np.empty_like(self.table)])
        self.index = np.concatenate([self.index, np.empty_like(self.index)])
        return True


_kept = threading.local()


def kept() -> Scratch:
    """Return this thread's small scratch, allocated once."""
    scratch: Scratch | None = getattr(_kept, "scratch", None)
    if scratch is None:
        scratch = Scratch.allocate(NARROW, SMALL_BYTES, SMALL_NODES)
        _kept.scratch = scratch
    return scratch


def borrow(dominoes: int, *, eager: bool) -> SearchScratch:
    """Take memory for a search: the thread's own if it fits and no other search has it.

    An eager search is over when its first solution is read, so nothing can come between: it
    works on the board and the forest of counts, which are in the cache already.
    """
    scratch: SearchScratch | None = getattr(_kept, "search", None)
    if scratch is not None and dominoes <= KEPT_DOMINOES:
        _kept.search = None
    else:
        size = max(dominoes, KEPT_DOMINOES)
        scratch = SearchScratch.allocate(NARROW, size, min(size, MOST_TYPES), SMALL_NODES)
    if eager and scratch.own is None:
        scratch.own = (scratch.board, scratch.forest)
        scratch.board, scratch.forest = kept().board, kept().forest
    return scratch


def give_back(scratch: SearchScratch) -> None:
    """Return memory that has not grown, for the next search of this thread."""
    if scratch.own is not None:
        scratch.board, scratch.forest = scratch.own
        scratch.own = None
    if (
        scratch.words is NARROW
        and len(scratch.table) == FIRST_TABLE_ROWS
        and scratch.nodes == SMALL_NODES
        and len(scratch.path) == KEPT_DOMINOES + 1
    ):
        _kept.search = scratch

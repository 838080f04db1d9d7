"""Working memory of the kernels: small and reused for common boards, large for one solve."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from nightgrid.solvers.algebra import Budget
from nightgrid.solvers.kernel.compiling import I64
from nightgrid.solvers.kernel.hash_table import MOST_NUMBERS
from nightgrid.solvers.kernel.machine import STOP_AT
from nightgrid.solvers.pips.layers.board import BOARD, MOST_TYPES
from nightgrid.solvers.pips.layers.order import PROBE_NODES
from nightgrid.solvers.pips.layers.search import STACK_COLUMNS
from nightgrid.solvers.pips.layers.space import OPENS, Children, Table, Work, allocate_forest

NARROW: tuple[int, ...] = (0, 0)
"""A key of two words. Kernels are compiled for each length of this tuple."""
WIDE: tuple[int, ...] = (0, 0, 0, 0)

MOST_CHILDREN = 4 * 2 * MOST_TYPES
"""Most partners of a cell, directions and domino types."""
SMALL_BYTES = 8 * 1024**2
SMALL_NODES = 8192
MOST_NODES = 2**22
NODE_BYTES = 8 * (7 + 2 * 4 + OPENS * 2 + 4)
"""Most bytes of a forest per node, with its share of edges, open regions and index."""
INDEX_SHARE = 4
"""Divisor of the table bytes for the hash index."""


def allocate(width: tuple[int, ...], table_bytes: int, nodes: int) -> Work:
    """Allocate for one board: tables of about `table_bytes` and a forest of `nodes`.

    Memory is only reserved here: a page costs nothing until a kernel writes to it.
    """
    return Work(
        boards=np.zeros(1, BOARD),
        forest=allocate_forest(nodes),
        width=width,
        table=allocate_table(width, table_bytes),
        children=_allocate_children(MOST_CHILDREN, width),
    )


def allocate_for_budget(width: tuple[int, ...], table_bytes: int) -> Work:
    """Allocate for one large board, whose forest takes a quarter of the budget at most."""
    nodes = max(min(table_bytes // 4 // NODE_BYTES, MOST_NODES), 64)
    return allocate(width, max(table_bytes - nodes * NODE_BYTES, 4096), nodes)


def heed(work: Work, budget: Budget) -> None:
    """Make kernels poll the stop of a budget from now on."""
    work.boards[0]["clock"][STOP_AT] = budget.stop_address


def allocate_table(width: tuple[int, ...], table_bytes: int) -> Table:
    """Allocate states with their counts, and their index, about `table_bytes` together."""
    slots = 256
    while 2 * slots * 4 * INDEX_SHARE <= table_bytes:
        slots *= 2
    row_words = len(width) + 2
    rows = min(max((table_bytes - 4 * slots) // (8 * row_words), 16), MOST_NUMBERS)
    return Table(rows=np.empty((rows, row_words), np.uint64), slots=np.empty(slots, np.uint32))


def _allocate_children(rows: int, width: tuple[int, ...]) -> Children:
    return Children(
        keys=np.empty((rows, len(width)), np.uint64), moves=np.empty((rows, 3), np.int64)
    )


FIRST_TABLE_ROWS = 1 << 15
"""Initial capacity of a search for dead states."""
PROBE_ROWS = 2 * PROBE_NODES
"""Capacity of a trial of a cell order."""


@dataclass(slots=True, kw_only=True)
class SearchScratch:
    """The memory of one search, from its first solution to its last."""

    work: Work
    """Its table is for trials of cell orders; its children have room for every depth."""
    dead: Table
    """Dead states. The index is that of the work's table."""
    stack: I64
    path: I64
    """See nightgrid.solvers.pips.layers.search.Walk."""
    nodes: int
    """Nodes of the forest."""

    @classmethod
    def allocate(
        cls, width: tuple[int, ...], dominoes: int, types: int, nodes: int
    ) -> SearchScratch:
        """Allocate for boards of so many dominoes, domino types and tiling nodes."""
        fan = 8 * types
        depths = dominoes + 1
        slots = np.empty(2 * FIRST_TABLE_ROWS, np.uint32)
        return cls(
            work=Work(
                boards=np.zeros(1, BOARD),
                forest=allocate_forest(nodes),
                width=width,
                table=Table(rows=np.empty((PROBE_ROWS, len(width) + 2), np.uint64), slots=slots),
                children=_allocate_children((depths + 1) * fan, width),
            ),
            dead=Table(rows=np.empty((FIRST_TABLE_ROWS, len(width)), np.uint64), slots=slots),
            stack=np.zeros((depths, STACK_COLUMNS), np.int64),
            path=np.zeros(depths, np.int64),
            nodes=nodes,
        )

    @property
    def table_bytes(self) -> int:
        """Most bytes of the tables that a budget bounds."""
        return len(self.dead.rows) * self._row_bytes + self.nodes * NODE_BYTES

    @property
    def _row_bytes(self) -> int:
        return 8 * len(self.work.width) + 8

    def grow(self, table_bytes: int) -> bool:
        """Double the table of dead states and its index, if the budget allows."""
        rows, slots = self.dead
        more = min(len(rows), MOST_NUMBERS - len(rows))
        if more == 0 or self.table_bytes + more * self._row_bytes > table_bytes:
            return False
        self.dead = Table(
            rows=np.concatenate([rows, np.empty_like(rows[:more])]),
            slots=np.concatenate([slots, np.empty_like(slots)]),
        )
        return True


_kept = threading.local()


def kept() -> Work:
    """Return this thread's small memory, allocated once."""
    work: Work | None = getattr(_kept, "work", None)
    if work is None:
        work = _kept.work = allocate(NARROW, SMALL_BYTES, SMALL_NODES)
    return work

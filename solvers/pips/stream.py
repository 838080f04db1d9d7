"""Solutions of one board as a stream, with tables that grow while it is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from solvers.algebra import Budget, Statistics, Status
from solvers.errors import PermanentError
from solvers.pips.board import allocate_board, allocate_forest
from solvers.pips.columns import kernel_columns, to_arrays
from solvers.pips.count import DONE, OUT_OF_BYTES
from solvers.pips.endings import SOLVING, ending
from solvers.pips.order import PROBE_NODES
from solvers.pips.parts import Part, part_arrays
from solvers.pips.prepare import FOREST_TOO_LARGE, KEY_TOO_LONG, READY, UNTILEABLE
from solvers.pips.puzzle import Cell, Placement, Puzzle, Solution
from solvers.pips.scratch import NARROW, NODE_BYTES, WIDE
from solvers.pips.search import KERNEL_NS, MORE, NODES, REGISTERS, STATES, begin, search_board

FIRST_TABLE_ROWS = 1 << 15
FIRST_NODES = 8192
ROWS_PER_CALL = 1024
"""Solutions that one kernel call writes at most."""
UNLIMITED = 2**62
PROBE_ROWS = 2 * PROBE_NODES
"""States that a trial of a cell order can keep."""


class SolutionStream:
    """The solutions of a board or of a part of it, in canonical order.

    Iterate to get them; `status`, `reason`, `truncated` and `statistics` are final once the
    iteration ends. With `limit` it stops there; `eager` spares it looking for one more, and
    leaves open whether there is one.
    """

    def __init__(
        self, puzzle: Puzzle, part: Part | None, budget: Budget, limit: int | None, eager: bool
    ) -> None:
        self.status = Status.UNSOLVABLE
        self.reason = ""
        self.truncated = False
        self._puzzle = puzzle
        self._part = part_arrays(puzzle, part)
        self._budget = budget
        self._limit = limit
        self._eager = eager
        self._nodes = FIRST_NODES
        self._run = np.zeros(REGISTERS, np.int64)
        self._spent_ns = 0
        self._table_bytes = 0

    @property
    def statistics(self) -> Statistics:
        """What the stream has cost so far."""
        return Statistics(
            states=int(self._run[STATES]),
            nodes=int(self._run[NODES]),
            kernel_ns=self._spent_ns + int(self._run[KERNEL_NS]),
            table_bytes=self._table_bytes,
        )

    def _prepare(self) -> int:
        # A key of two words and a small forest, and more of either if the board wants it.
        columns = kernel_columns(to_arrays([self._puzzle]))
        depths = len(self._puzzle.dominoes) + 1
        self._fan = 8 * len(set(self._puzzle.dominoes))
        self._stack = np.zeros((depths, 4), np.int64)
        self._path = np.zeros(depths, np.int64)
        self._moves = np.empty(((depths + 1) * self._fan, 3), np.int64)
        self._board = allocate_board()
        self._words = NARROW
        while True:
            self._forest = allocate_forest(self._nodes)
            self._children = np.empty(((depths + 1) * self._fan, len(self._words)), np.uint64)
            self._table = np.empty((FIRST_TABLE_ROWS, len(self._words)), np.uint64)
            self._index = np.empty(2 * FIRST_TABLE_ROWS, np.int32)
            tables = (self._arena(), self._index, self._children, self._moves)
            code = int(
                begin(
                    self._board, self._forest, self._words, *tables, columns, 0, *self._part,
                    self._stack, self._run,
                )
            )  # fmt: skip
            if code == KEY_TOO_LONG and self._words is NARROW:
                self._words = WIDE
            elif code == FOREST_TOO_LARGE and self._room_for_nodes(4 * self._nodes):
                self._nodes *= 4
            else:
                return code
            self._spent_ns += int(self._run[KERNEL_NS])

    def order(self) -> list[Cell]:
        """Return the cells in the order in which the search fills them.

        Raises PermanentError for a board that is refused.
        """
        code = self._prepare()
        if code not in (READY, UNTILEABLE):
            raise PermanentError(ending(code)[1])
        cells = self._puzzle.cells
        return [cells[i] for i in self._board["order"][: len(cells)].tolist()]

    def _arena(self) -> Any:
        return np.empty((PROBE_ROWS, len(self._words) + 2), np.uint64)

    def _room_for_nodes(self, nodes: int) -> bool:
        return nodes * NODE_BYTES <= self._budget.table_bytes // 2

    def _bytes(self, rows: int) -> int:
        return rows * (8 * len(self._words) + 8) + self._nodes * NODE_BYTES

    def _grow(self) -> bool:
        rows = len(self._table)
        if self._bytes(2 * rows) > self._budget.table_bytes:
            return False
        self._table = np.concatenate([self._table, np.empty_like(self._table)])
        self._index = np.concatenate([self._index, np.empty_like(self._index)])
        return True

    def __iter__(self) -> Iterator[Solution]:
        code = self._prepare()
        if code != READY:
            self.status, self.reason = ending(code)
            return
        cells = self._puzzle.cells
        left = UNLIMITED if self._limit is None else self._limit
        rows = min(left, ROWS_PER_CALL)
        pips = np.empty((rows, len(cells)), np.int32)
        partners = np.empty((rows, len(cells)), np.int32)
        while True:
            wanted = min(left, rows)
            code, found = search_board(
                self._board, self._forest, self._words, self._children, self._moves, self._fan,
                self._stack, self._path, self._table, self._index, self._run, pips, partners,
                wanted, self._eager, self._budget.nodes, int(self._budget.seconds * 1e9),
            )  # fmt: skip
            self._table_bytes = self._bytes(len(self._table))
            for row in range(found):
                yield _solution(cells, pips[row], partners[row])
            left -= found
            if found:
                self.status = Status.SOLVED
            if code == DONE:
                return
            if code == MORE:
                if left == 0:
                    self.truncated = True
                    return
            elif code != OUT_OF_BYTES or not self._grow():
                self.status, self.reason = ending(SOLVING + code)
                return


def _solution(cells: tuple[tuple[int, int], ...], pips: Any, partners: Any) -> Solution:
    values, others = pips.tolist(), partners.tolist()
    return tuple(
        Placement(cell_a=cells[a], cell_b=cells[b], pip_a=values[a], pip_b=values[b])
        for a, b in enumerate(others)
        if a < b
    )

"""Solutions of one board as a stream, with tables that grow while it is read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nightgrid.solvers.algebra import Budget, SolutionStream, Statistics
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.kernel.codes import DONE, OUT_OF_BYTES
from nightgrid.solvers.pips.columns import kernel_columns, to_arrays
from nightgrid.solvers.pips.depth_first.search import GIVEN_UP, UNSOLVABLE, find_first
from nightgrid.solvers.pips.general.search import GeneralSearch, general_order, is_first_choice
from nightgrid.solvers.pips.layers import search as searches
from nightgrid.solvers.pips.layers.board import MOST_TYPES
from nightgrid.solvers.pips.layers.endings import SOLVING, ending, is_refusal
from nightgrid.solvers.pips.layers.scratch import (
    NARROW,
    NODE_BYTES,
    SMALL_NODES,
    WIDE,
    SearchScratch,
    heed,
)
from nightgrid.solvers.pips.layers.search import Found, Walk
from nightgrid.solvers.pips.layers.space import FOREST_TOO_LARGE, KEY_TOO_LONG, READY, UNTILEABLE
from nightgrid.solvers.pips.parts import Part, is_in_part, part_arrays
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell
from nightgrid.solvers.pips.solution import Placement, Solution

ROWS_PER_CALL = 1024
"""Most solutions that one kernel call writes."""
UNLIMITED = 2**62


class PipsStream(SolutionStream[Solution]):
    """The solutions of a board or of a part of it."""

    def __init__(
        self, puzzle: Puzzle, part: Part | None, budget: Budget, limit: int | None, *, first: bool
    ) -> None:
        self.limit, self.first = limit, first
        self._puzzle = puzzle
        self._part = part_arrays(puzzle, part)
        self._named_part = part
        self._general: GeneralSearch | None = None
        self._budget = budget
        self._run = np.zeros(searches.REGISTERS, np.int64)
        self._spent_ns = 0
        self._spent_nodes = 0
        self._table_bytes = 0

    @property
    def statistics(self) -> Statistics:
        """Cost of the stream so far."""
        if self._general is not None:
            return self._general.meter.statistics()
        return Statistics(
            states=int(self._run[searches.STATES]) + self._spent_nodes,
            nodes=int(self._run[searches.NODES]) + self._spent_nodes,
            kernel_ns=self._spent_ns + int(self._run[searches.KERNEL_NS]),
            table_bytes=self._table_bytes,
            engine="layers",
        )

    def _prepare(self) -> tuple[int, SearchScratch]:
        # A key of two words and a small forest, or more if the board needs it.
        columns = kernel_columns(to_arrays([self._puzzle]))
        dominoes = len(self._puzzle.dominoes)
        types = min(len(set(self._puzzle.dominoes)), MOST_TYPES)
        width, nodes = NARROW, SMALL_NODES
        budget_ns = int(self._budget.seconds * 1e9)
        while True:
            scratch = SearchScratch.allocate(width, dominoes, types, nodes)
            heed(scratch.work, self._budget)
            walk = self._walk(scratch)
            code = int(searches.begin(scratch.work, columns, 0, self._part, walk, budget_ns))
            if code == KEY_TOO_LONG and width is NARROW:
                width = WIDE
            elif code == FOREST_TOO_LARGE and 8 * nodes * NODE_BYTES <= self._budget.table_bytes:
                nodes *= 4
            else:
                return code, scratch
            self._spent_ns += int(self._run[searches.KERNEL_NS])

    def _walk(self, scratch: SearchScratch) -> Walk:
        return Walk(stack=scratch.stack, path=scratch.path, run=self._run)

    def order(self) -> list[Cell]:
        """Return the cells in the order in which the search fills them.

        Raises PermanentError for a refused board.
        """
        if is_first_choice(self._puzzle):
            return general_order(self._puzzle)
        code, scratch = self._prepare()
        if is_refusal(code):
            return general_order(self._puzzle)
        if code not in (READY, UNTILEABLE):
            why = ending(code)[1]
            raise PermanentError("" if why is None else why.sentence)
        cells = self._puzzle.cells
        return [cells[i] for i in scratch.work.boards[0]["order"][: len(cells)].tolist()]

    def found(self) -> Iterator[Solution]:
        """Search for one solution after the other. Raises BudgetSpentError.

        The first one of a part is that of the whole board, if it is in the part and found quickly.
        """
        if self.first:
            quick = find_first(self._puzzle, self._budget)
            self._spent_ns, self._spent_nodes = quick.kernel_ns, quick.nodes
            if quick.solution is not None and is_in_part(quick.solution, self._named_part):
                yield quick.solution
                return
            if quick.code == UNSOLVABLE:
                return
            if quick.code not in (DONE, GIVEN_UP):
                self._end(SOLVING + quick.code)
                return
        if is_first_choice(self._puzzle):
            yield from self._search_generally()
            return
        code, scratch = self._prepare()
        if code == READY:
            yield from self._search(scratch)
        elif is_refusal(code):
            yield from self._search_generally()
        else:
            self._end(code)

    def _end(self, code: int) -> None:
        self.status, why = ending(code)
        if why is not None:
            self.reason_code, self.reason = why.code, why.sentence

    def _search_generally(self) -> Iterator[Solution]:
        self._general = GeneralSearch(self._puzzle, self._named_part, self._budget, exists=True)
        yield from self._general.solutions()

    def _search(self, scratch: SearchScratch) -> Iterator[Solution]:
        cells = self._puzzle.cells
        placements: dict[tuple[int, int, int, int], Placement] = {}
        # One more than requested shows whether there are more.
        left = UNLIMITED if self.limit is None else self.skip + self.limit + (not self.first)
        rows = min(left, ROWS_PER_CALL)
        into = Found(
            pips=np.empty((rows, len(cells)), np.int32),
            partners=np.empty((rows, len(cells)), np.int32),
        )
        walk = self._walk(scratch)
        while left:
            code, found = searches.search_board(
                scratch.work, scratch.dead, walk, into, min(left, rows),
                self._budget.nodes - self._spent_nodes,
                int(self._budget.seconds * 1e9) - self._spent_ns,
            )  # fmt: skip
            code, found = int(code), int(found)
            self._table_bytes = scratch.table_bytes
            for row in range(found):
                yield _solution(cells, placements, into, row)
            left -= found
            if code == DONE:
                return
            if code == searches.MORE:
                continue
            if code != OUT_OF_BYTES or not scratch.grow(self._budget.table_bytes):
                self._end(SOLVING + code)
                return


def _solution(
    cells: tuple[Cell, ...],
    placements: dict[tuple[int, int, int, int], Placement],
    found: Found,
    row: int,
) -> Solution:
    # A board has few different placements, so each is created once for all solutions.
    values, others = found.pips[row].tolist(), found.partners[row].tolist()
    solution = []
    for a, b in enumerate(others):
        if a < b:
            key = (a, b, values[a], values[b])
            placement = placements.get(key)
            if placement is None:
                placement = placements[key] = Placement(
                    cell_a=cells[a], cell_b=cells[b], pip_a=values[a], pip_b=values[b]
                )
            solution.append(placement)
    return tuple(solution)

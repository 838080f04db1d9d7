"""Pips as a nightgrid.solvers.game_contract game: ask, split, solve, merge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers import algebra
from nightgrid.solvers.algebra import (
    Arrays,
    Ask,
    Budget,
    Outcome,
    Statistics,
    Status,
    count_of,
)
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.kernel.compiling import Int, search_kernel
from nightgrid.solvers.pips import batch
from nightgrid.solvers.pips.batch import Counts, Rows, count_again, count_rows
from nightgrid.solvers.pips.columns import Columns, from_arrays, kernel_columns, to_arrays
from nightgrid.solvers.pips.depth_first.search import find_first
from nightgrid.solvers.pips.general.search import DOMINOES_MIN, count_generally, is_first_choice
from nightgrid.solvers.pips.layers import endings
from nightgrid.solvers.pips.layers.board import BOARD
from nightgrid.solvers.pips.layers.load import load
from nightgrid.solvers.pips.layers.order import judge_orders
from nightgrid.solvers.pips.layers.space import READY
from nightgrid.solvers.pips.parts import (
    NO_PART,
    Part,
    canonical_key,
    divide,
    divide_in_order,
    part_arrays,
)
from nightgrid.solvers.pips.playing import continue_board
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell
from nightgrid.solvers.pips.solution import (
    Solution,
    solution_from_json,
    solution_text,
    solution_to_json,
)
from nightgrid.solvers.pips.staged.layer_parts import (
    LayerPart,
    count_layer_part,
    divide_layer_part,
    only_counts,
)
from nightgrid.solvers.pips.staged.layers import LayeredCount, take_up
from nightgrid.solvers.pips.stream import PipsStream

STATE_S = 0.8e-6
"""Seconds for each state of the estimate. Of 23 loose boards of 14 dominoes 19 take a fifth to two
and a half times as long as expected, and the others up to eight times as long."""
BOARD_S = 50e-6
"""Overhead of a board besides its states."""
LARGE_SIZE = 16
"""Dominoes of the largest published boards."""
LARGE_S = 0.4e-3
"""Average cost of such a board, including files and messages."""
SMALLER_FACTOR, LARGER_FACTOR = 1.4, 2.0
"""Factor of the cost for one domino more or less."""
NOT_COUNTED = -1.0
MOST_NARROW_TYPES = 64
"""Most distinct dominoes of a key of two words."""
SOLUTION_BYTES = 64
"""Overhead of a tuple in a list of solutions, on top of 8 bytes for each placement."""


@search_kernel
def _expected_states(boards: npt.NDArray[np.void], columns: Columns, row: Int) -> float:
    board = boards[0]
    return judge_orders(board) if load(board, columns, row) == READY else NOT_COUNTED


class PipsGame(Game[Puzzle, Solution]):
    """Pips, which has no rules to switch."""

    name = "pips"
    solver_version = "pips-4"
    reasons = endings.REASONS
    counts = ("count",)
    parts_in_order = True
    puzzle_from_json = staticmethod(Puzzle.from_json)
    solution_to_json = staticmethod(solution_to_json)
    solution_from_json = staticmethod(solution_from_json)
    solution_text = staticmethod(solution_text)
    to_arrays = staticmethod(to_arrays)
    from_arrays = staticmethod(from_arrays)

    def split(
        self, puzzle: Puzzle, ask: Ask, part: Part | LayerPart | None, into: int
    ) -> list[Any]:
        """Divide a job or a part by subtrees of the forest of tilings, buckets into fewer.

        For `all`, by the first dominoes, in the canonical order of solutions.
        """
        if isinstance(part, dict):
            return divide_layer_part(puzzle, ask, part, into)
        if ask.kind == "all":
            return divide_in_order(puzzle, _order_of(puzzle), part, into)
        return divide(puzzle, _order_of(puzzle), part, into)

    def open_stream(
        self, puzzle: Puzzle, part: Any, budget: Budget, limit: int | None, *, first: bool
    ) -> PipsStream:
        """Return a stream of the solutions of a part."""
        if isinstance(part, dict):
            raise only_counts(Ask(kind="first") if first else Ask(kind="all", limit=limit))
        return PipsStream(puzzle, part, budget, limit, first=first)

    def continuation(
        self,
        puzzle: Puzzle,
        moves: Sequence[Any],
        budget: Budget,
        published: Solution | None = None,  # noqa: ARG002
    ) -> Outcome[tuple[Any, ...]]:
        """Solve the rest of the board around placed dominoes."""
        return continue_board(self, puzzle, moves, budget)

    def solution_bytes(self, solution: Solution) -> int:
        """Estimate a solution's share of a list of solutions."""
        return SOLUTION_BYTES + 8 * len(solution)

    def solve_counted(
        self, puzzle: Puzzle, ask: Ask, part: Part | LayerPart | None, budget: Budget
    ) -> Outcome[Solution]:
        """Count the solutions of a part."""
        del ask
        if isinstance(part, dict):
            return count_layer_part(puzzle, part, budget)
        if is_first_choice(puzzle):
            return count_generally(puzzle, part, budget)
        columns = kernel_columns(to_arrays([puzzle]))
        counts = Counts.of(1)
        rows = Rows(columns, 0, 1, part_arrays(puzzle, part))
        count_rows(rows, budget, counts)
        count_again(rows, budget, counts)
        out = counts.costs
        if endings.is_refusal(int(out[0, batch.CODE])):
            return count_generally(puzzle, part, budget)
        status, why = endings.ending(int(out[0, batch.CODE]))
        count: int | None = count_of(counts.counts[0, 0], counts.counts[0, 1])
        if status is Status.OVER_BUDGET:
            count = None
        elif count == 0:
            status = Status.UNSOLVABLE
        return Outcome(
            status=status,
            count=count,
            statistics=Statistics(**_costs_in(out[0].tolist()), engine="layers"),
            reason_code=None if why is None else why.code,
            reason="" if why is None else why.sentence,
        )

    def in_order(self, puzzle: Puzzle, ask: Ask, solutions: list[Solution]) -> list[Solution]:
        """Sort solutions as a search of the whole board finds them."""
        if ask.kind == "first":
            quick = find_first(puzzle, Budget()).solution
            if quick in solutions:
                return [quick]
        order = _order_of(puzzle)
        positions = {cell: p for p, cell in enumerate(order)}
        return sorted(solutions, key=lambda one: canonical_key(order, positions, one))

    def solve_batch(self, arrays: Arrays, ask: Ask, budget: Budget) -> dict[str, npt.NDArray[Any]]:
        """Count every row in one kernel call; the few that need larger tables follow one by one.

        Raises PermanentError for an ask other than `count`.
        """
        self.check_batch(ask)
        columns = kernel_columns(arrays)
        boards = len(columns.cell_offsets) - 1
        into = Counts.of(boards)
        out, counts = into.costs, into.counts
        large = np.flatnonzero(arrays["size"] >= DOMINOES_MIN).tolist()
        apart = [row for row in large if is_first_choice(from_arrays(arrays, row))]
        for start, stop in pairwise([-1, *apart, boards]):
            count_rows(Rows(columns, start + 1, stop, NO_PART), budget, into)
        for row in np.flatnonzero(_IS_CAPACITY[out[:, batch.CODE]]).tolist():
            count_again(Rows(columns, row, row + 1, NO_PART), budget, into)
        refused = np.flatnonzero(_IS_REFUSAL[out[:, batch.CODE]]).tolist()
        codes = out[:, batch.CODE]
        status = endings.STATUS_OF_CODE[codes]
        status[(counts == 0).all(axis=1) & (status == _SOLVED)] = _UNSOLVABLE
        answered: dict[str, npt.NDArray[Any]] = {
            "status": status,
            "reason": endings.REASON_OF_CODE[codes],
            "count_hi": counts[:, 0].copy(),
            "count_lo": counts[:, 1].copy(),
            **_costs_in(out.T.copy()),
        }
        for one in [*apart, *refused]:
            outcome = count_generally(from_arrays(arrays, one), None, budget)
            self.write_row(answered, one, outcome)
        return answered

    def layered(self, puzzle: Puzzle, budget: Budget) -> LayeredCount | None:
        """Prepare a board to be counted by layers; None if only the general search supports it."""
        return None if is_first_choice(puzzle) else take_up(puzzle, budget)[0]

    def cost_s(self, arrays: Arrays, ask: Ask) -> npt.NDArray[np.float64]:  # noqa: ARG002
        """Estimate the seconds that each row takes one core, from its number of dominoes."""
        beyond = np.minimum(arrays["size"].astype(np.float64) - LARGE_SIZE, 32.0)
        growth = np.where(beyond < 0, SMALLER_FACTOR, LARGER_FACTOR)
        cost: npt.NDArray[np.float64] = LARGE_S * growth**beyond
        return cost

    def close_cost_s(self, arrays: Arrays, ask: Ask) -> float | None:
        """Estimate the seconds of counting the only row by layers; None if they cannot.

        The number of dominoes says little about a loose board: of two boards of 14, one takes a
        millisecond and the other ten seconds. The estimate that chooses a cell order is mostly
        within a factor of ten of the actual states, and costs about 0.03 ms a board: too much for
        a plan of a million boards, but nothing for a few jobs.
        """
        if ask.kind != "count":
            return None
        if arrays["size"][0] >= DOMINOES_MIN and is_first_choice(from_arrays(arrays, 0)):
            return None
        states = float(_expected_states(np.zeros(1, BOARD), kernel_columns(arrays), 0))
        return None if states == NOT_COUNTED else BOARD_S + STATE_S * states

    def warm(self) -> None:
        """Compile or load the kernels of keys of two words, which hold every published board."""
        puzzle = _small_board()
        self._warm_with(puzzle)
        self.close_cost_s(self.to_arrays([puzzle]), Ask(kind="count"))

    def warm_rare(self) -> None:
        """Compile or load the kernels for keys of four words, which no published board needs."""
        self._warm_with(_wide_board())

    def _warm_with(self, board: Puzzle) -> None:
        self.solve(board, Ask(kind="count"))
        self.solve(board, Ask(kind="count"), {"layer": 1, "buckets": [0, 1]})
        self.solve(board, Ask(kind="first"))
        self.solve(board, Ask(kind="all", limit=1))


_IS_REFUSAL = np.array(
    [code < endings.SOLVING and endings.is_refusal(code) for code in range(endings.CODES)]
)
_IS_CAPACITY = np.array([endings.is_capacity(code) for code in range(endings.CODES)])
_SOLVED = algebra.STATUS_CODES.index(Status.SOLVED)
_UNSOLVABLE = algebra.STATUS_CODES.index(Status.UNSOLVABLE)


def _costs_in(columns: Any) -> dict[str, Any]:
    """Return the columns of Counts.costs after the code."""
    return dict(zip(algebra.COST_COLUMNS, columns[batch.STATES :], strict=True))


def _small_board() -> Puzzle:
    return Puzzle.from_json(
        {
            "dominoes": [[0, 1], [1, 2]],
            "regions": [
                {"indices": [[0, 0], [0, 1]], "type": "sum", "target": 2},
                {"indices": [[1, 0], [1, 1]], "type": "empty"},
            ],
        }
    )


def _wide_board() -> Puzzle:
    dominoes = MOST_NARROW_TYPES + 1
    strip = [[r, c] for r in range(2) for c in range(dominoes)]
    return Puzzle.from_json(
        {
            "dominoes": [[a, a + 1] for a in range(dominoes)],
            "regions": [{"indices": strip, "type": "empty"}],
        }
    )


def _order_of(puzzle: Puzzle) -> list[Cell]:
    return PipsStream(puzzle, None, Budget(), 1, first=True).order()

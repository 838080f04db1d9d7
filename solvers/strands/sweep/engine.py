"""The search cell by cell: states, their children in canonical order, their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Budget, count_of
from nightgrid.solvers.kernel.codes import DONE, FIXED_TABLE_FULL, OUT_OF_NODES
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.pieces.pieces import Found, reordered
from nightgrid.solvers.strands.pieces.words import on_board
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.states.cell_supports import COMPOUND, PLAIN, SPANNING, supports_of
from nightgrid.solvers.strands.states.engine import Engine, RootChildren, State
from nightgrid.solvers.strands.states.table import EXISTS, NODES_MAX, STATUS
from nightgrid.solvers.strands.sweep import sweep as sweeps
from nightgrid.solvers.strands.sweep.sweep import Sweep, SweepState, sweep_children, sweep_cover


class SweepEngine(RootChildren, Engine):
    """Cell by cell; any rules, any number of words, boards of any length."""

    name = "sweep"

    def __init__(
        self, puzzle: Puzzle, rules: Rules, found: Found, budget: Budget, *, exists: bool
    ) -> None:
        super().__init__(budget, exists=exists)
        self.found = found
        self.sweep, self.piece = sweep_of(puzzle, rules, found)
        words = puzzle.theme_words if rules.words == "given" else None
        self.n = sweeps.ANY if words is None else words + (rules.spangram != "off")
        self.out = np.empty((max(1, int(np.diff(self.sweep.at).max())), 8), np.uint64)
        self.stack = np.empty((puzzle.cell_count + 1, sweeps.FRAME_WORDS), np.uint64)
        self.on_progress: Callable[[int, int], None] | None = None
        self.root: State = _state(0, self.sweep.supports.beyond, 0, False, self.n, PLAIN, 0)
        self._root_children = self.children(self.root)

    def ends_within(self, nodes: int) -> bool:
        """Count all covers; return whether these nodes, and the room for sets, suffice.

        The result does not depend on the ask. Raises BudgetSpentError if the budget ends it first.
        """
        control = self.control
        nodes_max, exists = int(control[NODES_MAX]), int(control[EXISTS])
        control[NODES_MAX], control[EXISTS] = min(nodes_max, nodes), 0
        try:
            self.value(self.root)
        except BudgetSpentError as error:
            ran_out = error.code == OUT_OF_NODES and nodes < nodes_max
            if not ran_out and error.code != FIXED_TABLE_FULL:
                raise
            control[STATUS] = DONE
            return False
        finally:
            control[NODES_MAX], control[EXISTS] = nodes_max, exists
        return True

    def value(self, state: State) -> tuple[int, int]:
        """Count the covers below a state, and find the best score among them."""
        hi, lo, best = sweep_cover(_state(*state), self.sweep, self.table, self.pool, self.stack)
        self.check()
        return count_of(int(hi), int(lo)), int(best)

    def children(self, state: State) -> list[tuple[tuple[str, int], int, State]]:
        """List (piece, score, state) after each piece on the first free cell."""
        asked = _state(*state)
        if asked.n == 0 or asked.first >= len(self.sweep.at) - 1:
            return []
        count = sweep_children(asked, self.sweep, self.table, self.pool, self.out)
        self.check()
        return [
            (self._name(int(row[0])), int(self.sweep.fields[int(row[0]), 1]), _state(*row[1:]))
            for row in self.out[:count].copy()
        ]

    def _name(self, piece: int) -> tuple[str, int]:
        row, words = int(self.piece[piece]), len(self.found.words)
        return ("word", row) if row < words else ("compound", row - words)


def _state(
    first: Any, covered: Any, closed: Any, several: Any, n: Any, flag: Any, ban: Any
) -> SweepState:
    """Convert the fields of a state to the types for which the kernels are compiled."""
    return SweepState(
        int(first), np.uint64(covered), np.uint64(closed), bool(several), int(n), int(flag),
        int(ban),
    )  # fmt: skip


def sweep_of(puzzle: Puzzle, rules: Rules, found: Found) -> tuple[Sweep, npt.NDArray[np.intp]]:
    """Sort all pieces by lowest cell for the sweep; also return the row each has in `found`.

    Rows of compounds follow those of words.
    """
    words, compounds = found.words, found.compounds
    low = np.concatenate([words.low, compounds.low]).astype(np.int64)
    cells = np.concatenate([words.cells, compounds.cells])
    order = np.argsort(low, kind="stable")
    names, number = np.unique(words.word, return_inverse=True)
    fields = np.zeros((len(low), sweeps.SWEEP_FIELDS), np.int64)
    fields[: len(words), 0] = number
    fields[len(words) :, 0] = len(names)
    fields[:, 1] = np.concatenate([words.score, compounds.score])
    off = rules.spangram == "off"
    fields[: len(words), 3] = np.where(words.spans & (not off), SPANNING, PLAIN)
    fields[len(words) :, 3] = COMPOUND
    by_word = np.argsort(number, kind="stable")
    bounds = np.searchsorted(number[by_word], np.arange(len(names) + 2)).astype(np.int64)
    if not rules.repeats:
        fields[: len(words), 2] = np.diff(bounds)[number] > 1
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    sizes = np.concatenate([np.diff(words.block_offsets), np.diff(compounds.block_offsets)])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    sets = np.concatenate([words.blocks, compounds.blocks])
    block_offsets, places = reordered(starts, order)
    sure = np.bitwise_and.reduceat(sets, starts[:-1]) if len(low) else sets
    low, cells, fields = low[order], on_board(cells[order], low[order]), fields[order]
    supports, alive = supports_of(
        cells, on_board(sure[order], low), low, fields[:, sweeps.SWEEP_KIND],
        puzzle.cell_count,
    )  # fmt: skip
    size = puzzle.cell_count, puzzle.column_count
    sweep = Sweep(
        cells=cells,
        tried=np.where(alive, cells, ~np.uint64(0)),
        fields=fields,
        block_offsets=block_offsets,
        blocks=on_board(sets[places], np.repeat(low, np.diff(block_offsets))),
        at=np.searchsorted(low, np.arange(puzzle.cell_count + 1)).astype(np.int64),
        low=low,
        word_offsets=bounds,
        word_pieces=place[by_word].astype(np.int64),
        geometry=np.array([*size, rules.min_letters, sweeps.RULES[rules.spangram]], np.int64),
        supports=supports,
    )
    return sweep, order

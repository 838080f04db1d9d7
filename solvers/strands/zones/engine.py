"""The search by spangrams and zones: what spangrams leave, states, their children and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nightgrid.solvers.algebra import Budget, count_of
from nightgrid.solvers.kernel.codes import DONE, FIXED_TABLE_FULL
from nightgrid.solvers.kernel.compiling import I64, U64, Int, search_kernel
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.pieces.pieces import Found
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.states.blocks import Pool, combine, open_blocks
from nightgrid.solvers.strands.states.engine import Engine, State
from nightgrid.solvers.strands.states.table import DEAD, STATUS
from nightgrid.solvers.strands.zones import board as boards
from nightgrid.solvers.strands.zones.board import Spangrams, Words, ZoneBoard, ZoneSearch, ZoneState
from nightgrid.solvers.strands.zones.candidates import still_banned, zone_children
from nightgrid.solvers.strands.zones.model import model_of
from nightgrid.solvers.strands.zones.zones import cover

OWN_WORD, OWN_RANK = range(2)
_ZERO = np.uint64(0)


@search_kernel
def after_spangram(
    s: Int, n: Int, spangrams: Spangrams, words: Words, board: ZoneBoard, pool: Pool
) -> tuple[Int, ZoneState]:
    """Place a spangram on the empty board; return (code, state that n words are to cover).

    Code 0 if it fits, -2 without room for another set.
    """
    left = board.frames[0, boards.F_LEFT] ^ spangrams.cells[s]
    code, closed, several = combine(
        _ZERO, bool(_ZERO), spangrams.blocks, spangrams.block_offsets[s],
        spangrams.block_offsets[s + 1], open_blocks(left, board.geometry.columns), pool,
    )  # fmt: skip
    ban: Int = np.int64(0)
    if spangrams.fields[s, OWN_WORD] >= 0:
        ban = still_banned(np.int64(0), spangrams.fields[s, OWN_WORD], left, words, pool)
        if ban < 0:
            code = -2
    return code, ZoneState(left, closed, several, n, ban, spangrams.fields[s, OWN_RANK])


@search_kernel
def cover_beside(
    start: Int, stop: Int, n: Int, spangrams: Spangrams, search: ZoneSearch, counts: U64, best: I64
) -> None:
    """Cover the board beside spangrams `start` to `stop` with n theme words each.

    Writes counts (uint64[spangrams, 2]) and best scores of the theme words. A budget that runs out
    shows in the table's status.
    """
    board, control = search.board, search.table.control
    full = board.frames[0, boards.F_LEFT]
    for s in range(start, stop):
        counts[s, 0] = _ZERO
        counts[s, 1] = _ZERO
        best[s] = DEAD
        if boards.price_of(full ^ spangrams.cells[s], board.prices) > n * boards.UNIT:
            continue
        code, state = after_spangram(s, n, spangrams, search.words, board, search.pool)
        if code == -2:
            control[STATUS] = FIXED_TABLE_FULL
            return
        hi, lo, value = cover(state, search)
        if control[STATUS] != DONE:
            return
        counts[s, 0] = hi
        counts[s, 1] = lo
        best[s] = value


ROOT_STEP = 512
"""Spangrams between two reports of progress."""


class ZoneEngine(Engine):
    """Spangram first, then its zones; the number of theme words is known."""

    name = "zones"

    def __init__(
        self, puzzle: Puzzle, rules: Rules, found: Found, budget: Budget, *, exists: bool
    ) -> None:
        super().__init__(budget, exists=exists)
        assert puzzle.theme_words is not None
        self.found = found
        self.n = puzzle.theme_words
        self.model = model_of(puzzle, rules, found)
        self.group = np.repeat(
            np.arange(len(self.model.spangrams.cells)), np.diff(self.model.member_offsets)
        )
        self.search = ZoneSearch(self.model.words, self.model.board, self.table, self.pool)
        self.out = np.empty((len(self.model.words.cells), 8), np.uint64)
        self.on_progress: Callable[[int, int], None] | None = None

    def root_size(self) -> int:
        """Count the root's children: one for each spangram."""
        return len(self.group)

    def _score(self, member: int) -> int:
        kind = int(self.model.members[member])
        if kind >= 0:
            return int(self.found.compounds.score[kind])
        return int(self.found.words.score[-1 - kind])

    def root_child(self, member: int) -> tuple[tuple[str, int], int, State]:
        """Name the piece of a root's child, its score and the state after it."""
        model = self.model
        kind = int(model.members[member])
        piece = ("compound", kind) if kind >= 0 else ("word", -1 - kind)
        code, after = after_spangram(
            int(self.group[member]), self.n, model.spangrams, model.words, model.board, self.pool
        )
        if code == -2:
            raise BudgetSpentError(FIXED_TABLE_FULL)
        return piece, self._score(member), _state(*after)

    def root_values(self, start: int, stop: int) -> tuple[list[int], list[int], list[int]]:
        """Value the root's children start..stop that have covers: indices, counts, best scores."""
        model = self.model
        if stop <= start:
            return [], [], []
        first, last = int(self.group[start]), int(self.group[stop - 1]) + 1
        counts = np.zeros((len(model.spangrams.cells), 2), np.uint64)
        best = np.full(len(counts), DEAD, np.int64)
        for at in range(first, last, ROOT_STEP):
            to = min(at + ROOT_STEP, last)
            cover_beside(at, to, self.n, model.spangrams, self.search, counts, best)
            self.check()
            if self.on_progress is not None:
                self.on_progress(to - first, last - first)
        groups = self.group[start:stop]
        covered = np.flatnonzero((counts[:, 0] | counts[:, 1])[groups])
        indices = [start + int(i) for i in covered]
        return (
            indices,
            [count_of(*counts[groups[i]].tolist()) for i in covered],
            [int(best[groups[i - start]]) + self._score(i) for i in indices],
        )

    def value(self, state: State) -> tuple[int, int]:
        """Count the covers below a state, and find the best score among them."""
        hi, lo, best = cover(_state(*state), self.search)
        self.check()
        return count_of(int(hi), int(lo)), int(best)

    def children(self, state: State) -> list[tuple[tuple[str, int], int, State]]:
        """List (piece, score, state) after each word on the cell that is covered next."""
        asked = _state(*state)
        if asked.n == 0 or int(asked.left) == 0:
            return []
        model = self.model
        count = zone_children(asked, self.search, self.out)
        self.check()
        rows = self.out[:count].copy()
        return [
            (
                ("word", int(model.piece[int(row[0])])),
                int(model.words.fields[int(row[0]), boards.SCORE]),
                _state(*row[1:7]),
            )
            for row in rows
        ]


def _state(left: Any, closed: Any, several: Any, n: Any, ban: Any, rank: Any) -> ZoneState:
    """Convert the fields of a state to the types for which the kernels are compiled."""
    return ZoneState(np.uint64(left), np.uint64(closed), bool(several), int(n), int(ban), int(rank))

"""The search by spangrams and zones: states after spangrams, their children and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nightgrid.solvers.algebra import Budget, count_of
from nightgrid.solvers.kernel.codes import FIXED_TABLE_FULL
from nightgrid.solvers.kernel.compiling import U64, Int, search_kernel
from nightgrid.solvers.kernel.machine import ZERO
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.pieces.pieces import Found
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.states.blocks import combine, open_blocks
from nightgrid.solvers.strands.states.engine import Engine, State
from nightgrid.solvers.strands.zones import board as boards
from nightgrid.solvers.strands.zones.board import Spangrams, ZoneSearch, ZoneState
from nightgrid.solvers.strands.zones.candidates import still_banned, zone_children
from nightgrid.solvers.strands.zones.model import model_of
from nightgrid.solvers.strands.zones.zones import cover

OWN_WORD, OWN_RANK = range(2)


@search_kernel
def after_spangrams(
    start: Int, stop: Int, n: Int, spangrams: Spangrams, search: ZoneSearch, out: U64
) -> Int:
    """Write the states after spangrams `start` to `stop` on the empty board, which n words cover.

    Rows of `out` (uint64[spangrams, STATE_FIELDS]); code -2 if there is no room for another set.
    """
    words, board, pool = search.words, search.board, search.pool
    full = board.frames[0, boards.F_LEFT]
    spare = n * boards.UNIT - boards.price_of(full, board.prices)
    for s in range(start, stop):
        left = full ^ spangrams.cells[s]
        closed, several = ZERO, bool(ZERO)
        ban: Int = np.int64(0)
        slack = spare + boards.price_of(spangrams.cells[s], board.prices)
        # If the words cannot cover the remaining cells, closed blocks do not matter.
        if slack >= 0:
            code, closed, several = combine(
                closed, several, spangrams.blocks, spangrams.block_offsets[s],
                spangrams.block_offsets[s + 1], open_blocks(left, board.geometry.columns), pool,
            )  # fmt: skip
            if spangrams.fields[s, OWN_WORD] >= 0:
                ban = still_banned(ban, spangrams.fields[s, OWN_WORD], left, words, pool)
            if code == -2 or ban < 0:
                return -2
        after = ZoneState(left, closed, several, n, ban, spangrams.fields[s, OWN_RANK], slack)
        boards.write_state(s - start, s, after, out)
    return 0


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
        rows = max(ROOT_STEP, len(self.model.words.cells))
        self.rows = np.empty((rows, boards.STATE_FIELDS), np.uint64)
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
        """Return the piece of a root's child, its score and the state after it."""
        model = self.model
        kind = int(model.members[member])
        piece = ("compound", kind) if kind >= 0 else ("word", -1 - kind)
        group = int(self.group[member])
        (row,) = self._after_spangrams(group, group + 1)
        return piece, self._score(member), tuple(row.tolist())

    def _after_spangrams(self, start: int, stop: int) -> U64:
        if after_spangrams(start, stop, self.n, self.model.spangrams, self.search, self.rows):
            raise BudgetSpentError(FIXED_TABLE_FULL)
        return self.rows[: stop - start]

    def root_values(self, start: int, stop: int) -> tuple[list[int], list[int], list[int]]:
        """Value the root's children start..stop that have covers: indices, counts, best scores."""
        if stop <= start:
            return [], [], []
        first, last = int(self.group[start]), int(self.group[stop - 1]) + 1
        values = np.empty((last - first, 3), np.uint64)
        for at in range(first, last, ROOT_STEP):
            to = min(at + ROOT_STEP, last)
            cover(self._after_spangrams(at, to), self.search, values[at - first : to - first])
            self.check()
            if self.on_progress is not None:
                self.on_progress(to - first, last - first)
        values = values[self.group[start:stop] - first]
        covered = np.flatnonzero(values[:, 0] | values[:, 1])
        indices = [start + int(i) for i in covered]
        bests = values[covered, 2].astype(np.int64).tolist()
        return (
            indices,
            [count_of(hi, lo) for hi, lo in values[covered, :2].tolist()],
            [best + self._score(i) for best, i in zip(bests, indices, strict=True)],
        )

    def value(self, state: State) -> tuple[int, int]:
        """Count the covers below a state, and find the best score among them."""
        values = np.empty((1, 3), np.uint64)
        cover(np.array([state], np.uint64), self.search, values)
        self.check()
        hi, lo, _ = values[0].tolist()
        return count_of(hi, lo), int(values.view(np.int64)[0, 2])

    def children(self, state: State) -> list[tuple[tuple[str, int], int, State]]:
        """List (piece, score, state) after each word on the cell that is covered next."""
        return self._children(self._rows_after(state))

    def live_children(self, state: State) -> list[tuple[int, int, Any]]:
        """List (best score below, index, child) of the children that have covers."""
        rows = self._rows_after(state)
        values = np.empty((len(rows), 3), np.uint64)
        cover(rows, self.search, values)
        self.check()
        live = np.flatnonzero(values[:, 0] | values[:, 1])
        bests = values[live, 2].astype(np.int64).tolist()
        return list(zip(bests, live.tolist(), self._children(rows[live]), strict=True))

    def _rows_after(self, state: State) -> U64:
        if state[boards.S_N] == 0 or state[boards.S_LEFT] == 0:
            return self.rows[:0]
        count = zone_children(np.array([state], np.uint64), self.search, self.rows)
        self.check()
        return self.rows[:count]

    def _children(self, rows: U64) -> list[tuple[tuple[str, int], int, State]]:
        pieces = rows[:, boards.S_PIECE].astype(np.int64)
        scores = self.model.words.fields[pieces, boards.SCORE].tolist()
        names = self.model.piece[pieces].tolist()
        return [
            (("word", name), score, tuple(after))
            for name, score, after in zip(names, scores, rows.tolist(), strict=True)
        ]

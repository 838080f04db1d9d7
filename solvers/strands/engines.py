"""The two searches behind one shape: states, their children in canonical order, their values."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from solvers.algebra import Budget, Statistics, count_of
from solvers.strands.choices import zone_children
from solvers.strands.model import Model, edges
from solvers.strands.pieces import Found
from solvers.strands.puzzle import Puzzle
from solvers.strands.roots import after_spangram, cover_beside
from solvers.strands.rules import Rules
from solvers.strands.sweep import (
    ANY,
    COMPOUND,
    OFF,
    ONE,
    PLAIN,
    REQUIRED,
    SPANNING,
    SWEEP_FIELDS,
    Sweep,
    sweep_children,
    sweep_cover,
)
from solvers.strands.table import (
    CLOCK_STRIDE,
    DEAD,
    DEADLINE_NS,
    EXISTS,
    NODES,
    NODES_MAX,
    OK,
    STATE_BYTES,
    STATES,
    STATES_MAX,
    STATUS,
    TICK,
    Table,
    clear,
    new_pool,
    new_table,
)
from solvers.strands.zones import cover

State = tuple[Any, ...]
STATES_KEPT = 1 << 22
ROOT_STEP = 512
"""Spangrams between two looks at the clock for whoever watches the progress."""
_kept: list[Table] = []


class BudgetSpentError(Exception):
    """The kernel stopped; `code` says why (solvers.strands.table)."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def _table(budget: Budget) -> Table:
    states = max(1, min(budget.table_bytes // STATE_BYTES, 2**31 - 1))
    if states <= STATES_KEPT:
        table = new_table(int(states))
    else:
        if not _kept or len(_kept[0].states) < states:
            _kept[:] = [new_table(int(states))]
        table = _kept[0]
        table.control[STATES_MAX] = states
    clear(table)
    return table


class Engine:
    """What both searches share: the table, the budget, and how a piece is named."""

    found: Found

    def __init__(self, budget: Budget, *, exists: bool) -> None:
        self.table = _table(budget)
        self.pool = new_pool()
        control = self.table.control
        control[NODES] = 0
        control[NODES_MAX] = budget.nodes
        control[DEADLINE_NS] = time.monotonic_ns() + int(budget.seconds * 1e9)
        control[EXISTS] = exists
        control[TICK] = CLOCK_STRIDE - 1
        self.started_ns = time.perf_counter_ns()

    def statistics(self) -> Statistics:
        """Say what the search has cost so far."""
        control = self.table.control
        return Statistics(
            states=int(control[STATES]),
            nodes=int(control[NODES]),
            kernel_ns=time.perf_counter_ns() - self.started_ns,
            table_bytes=int(control[STATES]) * STATE_BYTES,
        )

    def check(self) -> None:
        """Raise BudgetSpentError if the kernel has stopped."""
        if self.table.control[STATUS] != OK:
            raise BudgetSpentError(int(self.table.control[STATUS]))


class ZoneEngine(Engine):
    """Spangram first, then its zones; the number of theme words is known."""

    def __init__(
        self, puzzle: Puzzle, rules: Rules, found: Found, budget: Budget, *, exists: bool
    ) -> None:
        super().__init__(budget, exists=exists)
        assert puzzle.theme_words is not None
        self.found = found
        self.n = puzzle.theme_words
        self.model = Model(puzzle, rules, found, self.n)
        self.group = np.repeat(
            np.arange(len(self.model.spangrams.cells)), np.diff(self.model.member_offsets)
        )
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
        code, left, closed, several, banned, rank = after_spangram(
            int(self.group[member]), model.full, model.spangrams, model.words, model.ground,
            self.pool,
        )  # fmt: skip
        if code == -2:
            raise BudgetSpentError(4)
        return (
            piece,
            self._score(member),
            (np.uint64(left), np.uint64(closed), several, self.n, banned, rank),
        )

    def root_values(self, start: int, stop: int) -> tuple[Any, Any]:
        """Value the root's children start..stop: lists of counts and of best scores."""
        model = self.model
        if stop <= start:
            return [], []
        first, last = int(self.group[start]), int(self.group[stop - 1]) + 1
        size = len(model.spangrams.cells)
        counts = np.zeros((size, 2), np.uint64)
        best = np.full(size, DEAD, np.int64)
        for at in range(first, last, ROOT_STEP):
            to = min(at + ROOT_STEP, last)
            done = cover_beside(
                at, to, model.full, self.n, model.spangrams, model.words, model.ground,
                self.table, self.pool, counts, best,
            )  # fmt: skip
            self.check()
            if self.on_progress is not None:
                self.on_progress(to - first, last - first)
            if done < to - at or (self.table.control[EXISTS] and counts[at:to].any()):
                break
        groups = self.group[start:stop]
        values = [count_of(int(h), int(lo)) for h, lo in counts]
        scores = [int(best[g]) + self._score(start + i) if values[g] else DEAD
                  for i, g in enumerate(groups)]  # fmt: skip
        return [values[g] for g in groups], scores

    def value(self, state: State) -> tuple[int, int]:
        """Count the covers below a state, and find the best score among them."""
        left, closed, several, n, banned, rank = state
        if n == 0:
            return (1, 0) if int(left) == 0 else (0, DEAD)
        if int(left) == 0:
            return 0, DEAD
        model = self.model
        hi, lo, best = cover(
            left, closed, several, n, banned, rank, 0, len(model.words.cells), 0, model.words,
            model.ground, self.table, self.pool,
        )  # fmt: skip
        self.check()
        return count_of(int(hi), int(lo)), int(best)

    def children(self, state: State) -> list[tuple[tuple[str, int], int, State]]:
        """List (piece, score, state) after each word on the cell that is covered next."""
        left, closed, several, n, banned, rank = state
        if n == 0 or int(left) == 0:
            return []
        model = self.model
        count = zone_children(
            left, closed, several, n, banned, rank, model.words, model.ground, self.table,
            self.pool, self.out,
        )  # fmt: skip
        self.check()
        rows = self.out[:count].copy()
        return [
            (
                ("word", int(model.piece[int(row[0])])),
                int(model.words.fields[int(row[0]), 2]),
                (row[1], row[2], bool(row[3]), int(row[4]), int(row[5]), int(row[6])),
            )
            for row in rows
        ]


class SweepEngine(Engine):
    """Cell by cell; any rules, any number of words, boards of any length."""

    def __init__(
        self, puzzle: Puzzle, rules: Rules, found: Found, budget: Budget, *, exists: bool
    ) -> None:
        super().__init__(budget, exists=exists)
        self.found = found
        self.sweep, self.refs = sweep_of(puzzle, rules, found)
        words = puzzle.theme_words if rules.words == "given" else None
        if words is None:
            self.n = ANY
        else:
            self.n = words if rules.spangram == "off" else words + 1
        self.out = np.empty((max(1, int(np.diff(self.sweep.at).max())), 8), np.uint64)
        self.on_progress: Callable[[int, int], None] | None = None
        zero = np.uint64(0)
        self.root: State = (0, zero, zero, False, self.n, PLAIN, 0)
        self._root_children = self.children(self.root)

    def root_size(self) -> int:
        """Count the root's children: one for each piece on the first cell."""
        return len(self._root_children)

    def root_child(self, index: int) -> tuple[tuple[str, int], int, State]:
        """Name the piece of a root's child, its score and the state after it."""
        return self._root_children[index]

    def root_values(self, start: int, stop: int) -> tuple[Any, Any]:
        """Value the root's children start..stop: lists of counts and of best scores."""
        counts, scores = [0] * (stop - start), [DEAD] * (stop - start)
        for i in range(start, stop):
            _, score, state = self._root_children[i]
            count, best = self.value(state)
            if count:
                counts[i - start], scores[i - start] = count, score + best
            if self.on_progress is not None:
                self.on_progress(i + 1 - start, stop - start)
            if count and self.table.control[EXISTS]:
                break
        return counts, scores

    def value(self, state: State) -> tuple[int, int]:
        """Count the covers below a state, and find the best score among them."""
        first, covered, closed, several, n, flag, ban = state
        hi, lo, best = sweep_cover(
            first, covered, closed, several, n, flag, ban, self.sweep, self.table, self.pool
        )
        self.check()
        return count_of(int(hi), int(lo)), int(best)

    def children(self, state: State) -> list[tuple[tuple[str, int], int, State]]:
        """List (piece, score, state) after each piece on the first free cell."""
        first, covered, closed, several, n, flag, ban = state
        if n == 0 or first >= len(self.sweep.at) - 1:
            return []
        count = sweep_children(
            first, covered, closed, several, n, flag, ban, self.sweep, self.table, self.pool,
            self.out,
        )  # fmt: skip
        self.check()
        return [
            (
                self.refs[int(row[0])],
                int(self.sweep.fields[int(row[0]), 1]),
                (int(row[1]), row[2], row[3], bool(row[4]), int(row[5]), int(row[6]), int(row[7])),
            )
            for row in self.out[:count].copy()
        ]


def sweep_of(puzzle: Puzzle, rules: Rules, found: Found) -> tuple[Sweep, list[tuple[str, int]]]:
    """Sort all pieces by lowest cell for the sweep, and name each."""
    words, compounds = found.words, found.compounds
    low = np.concatenate([words.low, compounds.low]).astype(np.int64)
    order = np.argsort(low, kind="stable")
    cells = np.concatenate([words.cells, compounds.cells])[order]
    names, number = np.unique(words.word, return_inverse=True)
    fields = np.zeros((len(low), SWEEP_FIELDS), np.int64)
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
    picked = [np.arange(starts[i], starts[i + 1]) for i in order] if (sizes > 1).any() else None
    blocks = sets[starts[:-1][order]] if picked is None else sets[np.concatenate(picked)]
    sweep = Sweep(
        cells=cells,
        fields=fields[order],
        block_offsets=np.concatenate([[0], np.cumsum(sizes[order])]).astype(np.int64),
        blocks=blocks.astype(np.uint64),
        at=np.searchsorted(low[order], np.arange(puzzle.cell_count + 1)).astype(np.int64),
        low=low[order],
        word_offsets=bounds,
        word_pieces=place[by_word].astype(np.int64),
        geometry=np.array(
            [
                puzzle.cell_count,
                puzzle.column_count,
                rules.min_letters,
                rules.repeats,
                {"required": REQUIRED, "one": ONE, "off": OFF}[rules.spangram],
                rules.diagonal,
            ],
            np.int64,
        ),
        edges=edges(puzzle) if puzzle.cell_count <= 64 else np.zeros(2, np.uint64),
    )
    count = len(words)
    refs = [("word", int(i)) if i < count else ("compound", int(i) - count) for i in order]
    return sweep, refs


def engine_for(
    puzzle: Puzzle, rules: Rules, found: Found, budget: Budget, *, exists: bool
) -> ZoneEngine | SweepEngine:
    """Choose the search: by zones where the number of words is known, else cell by cell."""
    known = rules.words == "given" and puzzle.theme_words is not None
    if known and rules.spangram != "off" and 1 <= (puzzle.theme_words or 0) <= 60:
        if puzzle.cell_count <= 63:
            return ZoneEngine(puzzle, rules, found, budget, exists=exists)
    return SweepEngine(puzzle, rules, found, budget, exists=exists)


__all__ = ["BudgetSpentError", "Engine", "SweepEngine", "ZoneEngine", "engine_for"]

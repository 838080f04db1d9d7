"""The search for any board: states row by row for listing, values group by group."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from nightgrid.solvers.algebra import Budget, Statistics
from nightgrid.solvers.kernel.codes import FIXED_TABLE_FULL
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.general.forced import Step, Trail
from nightgrid.solvers.strands.general.group_search import NOTHING, GroupSearch, Shared, Value
from nightgrid.solvers.strands.general.groups import Group, groups_of
from nightgrid.solvers.strands.general.plan import blocks_to_cross
from nightgrid.solvers.strands.general.search import ANY
from nightgrid.solvers.strands.general.state_keys import ALTERNATIVES_MAX
from nightgrid.solvers.strands.general.table import USED_WORDS
from nightgrid.solvers.strands.general.wide_pieces import WideFound, bits_of
from nightgrid.solvers.strands.pieces.pieces import least_of
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.states.engine import RootChildren, State
from nightgrid.solvers.strands.sweep.sweep import COMPOUND, PLAIN

ALONE = -1
"""A group of one piece."""


class GeneralEngine(RootChildren):
    """Any board and any rules: cells in any order, states of any length."""

    name = "general"

    def __init__(
        self, puzzle: Puzzle, rules: Rules, found: WideFound, budget: Budget, *, exists: bool
    ) -> None:
        self.puzzle, self.rules, self.found, self.budget = puzzle, rules, found, budget
        self.shared = Shared(found, rules, puzzle, budget, exists=exists)
        self.laid = self.shared.laid
        self.check_clock = self.shared.check_clock
        self.on_progress: Callable[[int, int], None] | None = None
        cells = puzzle.cell_count
        words = puzzle.theme_words if rules.words == "given" else None
        self.n = ANY if words is None else words + (rules.spangram != "off")
        self.coupled = self.n != ANY or rules.spangram != "off"
        groups = groups_of(self.laid, rules, coupled=self.coupled)
        self.group_of = np.full(cells, ALONE, np.int64)
        """Group of each cell; ALONE where its piece is the only one."""
        self.searches: list[GroupSearch] = []
        score = 0
        for group in groups:
            if len(group.pieces) == 1 and not self.coupled and self._fills(group):
                score += int(self.laid.score[group.pieces[0]])
            else:
                self.group_of[group.cells] = len(self.searches)
                self.searches.append(GroupSearch(self.shared, group))
        by_low = np.argsort(self.laid.low, kind="stable")
        self._by_low = by_low
        self._at = np.searchsorted(self.laid.low[by_low], np.arange(cells + 1))
        self._masks: dict[int, int] = {}
        self.full = (1 << cells) - 1
        self._blocks = blocks_to_cross(self.laid)
        self.trail = Trail(self.laid)
        self.root = self._state(0, (0,), self.n, PLAIN, frozenset(), Step(None, -1, ALONE), score)
        self._root_children = self.children(self.root)

    def _fills(self, group: Group) -> bool:
        p = group.pieces[0]
        return bool(self.laid.offsets[p + 1] - self.laid.offsets[p] == len(group.cells))

    def statistics(self) -> Statistics:
        """Return what the search has cost so far."""
        return self.shared.spent(self.name, 8 * int(self.shared.control[USED_WORDS]))

    def _values(self, step: Step) -> list[Value]:
        """Value each group at a step: all but one are as they were before its last piece."""
        if step.values is None:
            step.values = self._derived(step)
        values: list[Value] = step.values
        return values

    def _derived(self, step: Step) -> list[Value]:
        parent = step.parent
        if parent is None:
            return self._valued(step.state)
        if parent.values is None:
            # Not further back than this: the way here may be thousands of pieces long.
            parent.values = self._valued(parent.state)
        values: list[Value] = parent.values
        group, piece = step.group, step.piece
        if len(values) < len(self.searches) or not self.laid.alive[piece]:
            return [NOTHING]
        if group == ALONE:
            return values
        self.trail.move_to(parent)
        forced = int(self.trail.map[parent.first])
        if forced < 0:
            kids = self._forced_by(parent)
            step.forced = kids[piece]
            if step.forced is None:
                return [NOTHING]
            alone = sum(kid is not None for kid in kids.values()) == 1
        elif forced != piece:
            return [NOTHING]
        else:
            alone = True
        values = list(values)
        if alone:
            # Every cover of the state before holds this piece.
            count, best = values[group]
            values[group] = count, best - int(self.laid.score[piece])
        else:
            values[group] = self.searches[group].value(*step.state)
        return values

    def _forced_by(self, step: Step) -> dict[int, Any]:
        """Find what each piece on the first free cell of a step forces; the map lies there."""
        if step.kids is None:
            at = self._at[step.first], self._at[step.first + 1]
            laid = self.laid
            covered, _, _, flag, bans = step.state
            step.kids = {
                p: self.trail.force(p)
                for p in self._by_low[at[0] : at[1]].tolist()
                if laid.alive[p] and self._allows(p, covered, flag, bans)
            }
        return step.kids

    def _valued(self, state: Any) -> list[Value]:
        values = []
        for search in self.searches:
            values.append(search.value(*state))
            if not values[-1][0]:
                break
        return values

    def value(self, state: State) -> Value:
        """Count the covers below a state, and find the best score among them."""
        count, best = 1, int(state[7])
        for more, score in self._values(state[6]):
            if not more:
                return NOTHING
            count *= more
            best += score
        return count, best

    def children(self, state: State) -> list[tuple[tuple[str, int], int, State]]:
        """List (piece, score, state) after each piece on the first free cell."""
        first, covered, closed, n, flag, bans, step, rest = state
        if n == 0 or covered == self.full:
            return []
        laid, kids = self.laid, []
        words, group = len(self.found.words), int(self.group_of[first])
        for p in self._by_low[self._at[first] : self._at[first + 1]].tolist():
            if not self._allows(p, covered, flag, bans):
                continue
            now = covered | self._mask(p)
            now_closed = self._closed(p, closed, now)
            if not now_closed:
                continue
            score = int(laid.score[p])
            after = self._state(
                now,
                now_closed,
                n if n == ANY else n - 1,
                max(flag, int(laid.kind[p])),
                self._bans(p, bans, now),
                Step(step, p, group),
                rest - score if group == ALONE else rest,
            )
            kids.append((("word", p) if p < words else ("compound", p - words), score, after))
        return kids

    def _allows(self, p: int, covered: int, flag: int, bans: frozenset[int]) -> bool:
        kind = int(self.laid.kind[p])
        if self._mask(p) & covered or (kind == COMPOUND and flag == COMPOUND):
            return False
        if self.rules.spangram == "one" and PLAIN not in (kind, flag):
            return False
        return int(self.laid.word[p]) not in bans

    @staticmethod
    def _state(
        covered: int, closed: tuple[int, ...], n: int, flag: int, bans: frozenset[int],
        step: Step, rest: int,
    ) -> State:  # fmt: skip
        step.first = (~covered & (covered + 1)).bit_length() - 1
        step.state = covered, closed, n, flag, bans
        return step.first, covered, closed, n, flag, bans, step, rest

    def _mask(self, p: int) -> int:
        if p not in self._masks:
            laid = self.laid
            self._masks[p] = sum(
                1 << c for c in laid.cells[laid.offsets[p] : laid.offsets[p + 1]].tolist()
            )
        return self._masks[p]

    def _closed(self, p: int, closed: tuple[int, ...], covered: int) -> tuple[int, ...]:
        """Close a piece's blocks as well: the least alternatives, none if it crosses."""
        laid, columns = self.laid, self.puzzle.column_count
        if self.rules.crossing:
            return closed
        sets = set()
        for s in range(laid.set_offsets[p], laid.set_offsets[p + 1]):
            blocks = laid.blocks[laid.block_offsets[s] : laid.block_offsets[s + 1]].tolist()
            own = sum(1 << b for b in blocks if b in self._blocks)
            sets |= {one | own for one in closed if not one & own}
        free = ~covered
        for block in bits_of(reduce(or_, sets, 0)):
            falling = free >> block & free >> (block - columns - 1) & 1
            rising = free >> (block - 1) & free >> (block - columns) & 1
            if not falling and not rising:
                sets = {one & ~(1 << block) for one in sets}
        if len(sets) > ALTERNATIVES_MAX:
            raise BudgetSpentError(FIXED_TABLE_FULL)
        return tuple(least_of(sets))

    def _bans(self, p: int, bans: frozenset[int], covered: int) -> frozenset[int]:
        """Ban a piece's word, and forget those that fit nowhere any more."""
        word = int(self.laid.word[p])
        if self.rules.repeats or (word < 0 and not bans):
            return bans
        now = bans | {word} if word >= 0 else bans
        return frozenset(
            w for w in now
            if any(not self._mask(q) & covered for q in self._rows_of(w))
        )  # fmt: skip

    def _rows_of(self, word: int) -> list[int]:
        if not hasattr(self, "_word_rows"):
            self._word_rows: dict[int, list[int]] = {}
            for q, w in enumerate(self.laid.word.tolist()):
                self._word_rows.setdefault(w, []).append(q)
        return self._word_rows[word]

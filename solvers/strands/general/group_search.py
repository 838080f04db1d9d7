"""Search one group of cells: the order it is kept to, and its value in a state."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from nightgrid.solvers.algebra import Budget, count_of
from nightgrid.solvers.kernel.codes import DONE, OUT_OF_NODES, OUT_OF_SECONDS
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.general.groups import Group, lay_out
from nightgrid.solvers.strands.general.orders import orders_of
from nightgrid.solvers.strands.general.plan import BLOCK_WORDS, WORDS, Keys, Plan, plan_of
from nightgrid.solvers.strands.general.search import (
    ALTERNATIVES_MAX,
    ANY,
    BANS_MAX,
    F_BANNED,
    F_BANS,
    F_CLOSED,
    F_FIRST,
    F_FLAG,
    F_LAST,
    F_LEFT,
    F_N,
    F_SETS,
    FRAME_FIELDS,
    Scratch,
    first_free,
    general_cover,
)
from nightgrid.solvers.strands.general.table import LOWEST, new_records
from nightgrid.solvers.strands.general.wide_pieces import WideFound, bits_of
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.states.table import (
    CLOCK_STRIDE,
    DEAD,
    DEADLINE_NS,
    EXISTS,
    NODES,
    NODES_MAX,
    STATUS,
    TICK,
)

TRIALS = (1 << 12, 1 << 16)
"""Nodes that each order of a group may take, round by round, before the best one is kept to."""
STACK_WORDS = 1 << 22
Value = tuple[int, int]
"""(count, best score)."""
NOTHING: Value = (0, DEAD)


class Shared:
    """What the groups of a board share: its pieces, the table and the budget."""

    def __init__(
        self, found: WideFound, rules: Rules, puzzle: Puzzle, budget: Budget, *, exists: bool
    ) -> None:
        self.rules, self.columns = rules, puzzle.column_count
        self.records = new_records(budget.table_bytes)
        control = self.records.control
        control[NODES_MAX] = budget.nodes
        control[DEADLINE_NS] = time.monotonic_ns() + int(budget.seconds * 1e9)
        control[EXISTS], control[TICK] = exists, CLOCK_STRIDE - 1
        self.stacks = np.empty(STACK_WORDS, np.uint64), np.empty(STACK_WORDS, np.int64)
        self.mask_bytes = (puzzle.cell_count + 7) // 8
        self.plan_count = 0
        self.laid = lay_out(found, rules, puzzle.cell_count)

    def check_clock(self) -> None:
        """Raise BudgetSpentError when the budget's seconds are over."""
        if time.monotonic_ns() > int(self.records.control[DEADLINE_NS]):
            raise BudgetSpentError(OUT_OF_SECONDS)

    def check(self) -> None:
        """Raise BudgetSpentError if the kernel has stopped."""
        if self.records.control[STATUS] != DONE:
            raise BudgetSpentError(int(self.records.control[STATUS]))


class GroupSearch:
    """A group of cells, its orders, and the one that is kept to."""

    def __init__(self, shared: Shared, group: Group) -> None:
        self.shared, self.group = shared, group
        self.cells = frozenset(group.cells.tolist())
        self.chosen: tuple[Plan, Keys] | None = None
        self.scratch: Scratch | None = None

    def value(self, covered: int, closed: tuple[int, ...], n: int, flag: int, bans: Any) -> Value:
        """Value the group where some of its cells are covered."""
        if self.chosen is None:
            if not len(self.group.pieces):
                return (1, 0) if self._is_covered(covered) and n in (0, ANY) else NOTHING
            known = self._choose(covered, closed, n, flag, bans)
            if known is not None:
                return known
        assert self.chosen is not None
        return self._run(*self.chosen, (covered, closed, n, flag, bans))

    def _is_covered(self, covered: int) -> bool:
        return all(covered >> cell & 1 for cell in self.cells)

    def _choose(self, *state: Any) -> Value | None:
        """Try every order for a while, and keep to the first that ends, or that comes furthest."""
        control = self.shared.records.control
        nodes_max = int(control[NODES_MAX])
        reached: list[tuple[int, int, tuple[Plan, Keys]]] = []
        for nodes in TRIALS:
            plans = [plan for _, _, plan in reached] or self._plans()
            reached = []
            for i, plan in enumerate(plans):
                control[LOWEST] = len(self.group.cells)
                control[NODES_MAX] = min(nodes_max, int(control[NODES]) + nodes)
                try:
                    value = self._run(*plan, state)
                    self.chosen = plan
                    return value
                except BudgetSpentError as error:
                    if error.code != OUT_OF_NODES or control[NODES] > nodes_max:
                        raise
                    control[STATUS] = DONE
                    reached.append((int(control[LOWEST]), i, plan))
                finally:
                    control[NODES_MAX] = nodes_max
        self.chosen = min(reached, key=lambda plan: plan[:2])[2]
        return None

    def _plans(self) -> Iterator[tuple[Plan, Keys]]:
        shared = self.shared
        for order in orders_of(self.group, shared.laid, shared.columns):
            shared.check_clock()
            shared.plan_count += 1
            yield plan_of(
                self.group, shared.laid, shared.rules, order, shared.columns, shared.plan_count
            )

    def _run(self, plan: Plan, keys: Keys, state: Any) -> Value:
        covered, closed, n, flag, bans = state
        scratch = self._scratch(plan)
        size = len(keys.cells)
        bits = np.unpackbits(
            np.frombuffer(covered.to_bytes(self.shared.mask_bytes, "little"), np.uint8),
            bitorder="little",
        )[keys.cells]
        padded = np.zeros(64 * int(plan.geometry[WORDS]), np.uint8)
        padded[:size] = bits
        scratch.covered[:] = np.packbits(padded, bitorder="little").view(np.uint64)
        taken = np.flatnonzero(bits)
        frame = scratch.frames[0]
        frame[F_FIRST] = first_free(scratch.covered, 0)
        frame[F_N], frame[F_FLAG] = n, flag
        frame[F_LAST] = taken[-1] if len(taken) else 0
        frame[F_LEFT] = size - len(taken)
        words = int(plan.geometry[BLOCK_WORDS])
        sets = {
            sum(1 << keys.blocks[b] for b in bits_of(mask) if b in keys.blocks) for mask in closed
        }
        least = least_of(sets)
        for i, mask in enumerate(least):
            row = np.frombuffer(mask.to_bytes(8 * words, "little"), np.uint64)
            scratch.closed[i * words : (i + 1) * words] = row
        frame[F_CLOSED], frame[F_SETS] = 0, len(least)
        own = sorted(keys.words[word] for word in bans if word in keys.words)
        scratch.bans[: len(own)] = own
        frame[F_BANS], frame[F_BANNED] = 0, len(own)
        hi, lo, best = general_cover(plan, scratch, self.shared.records)
        self.shared.check()
        return count_of(int(hi), int(lo)), int(best)

    def _scratch(self, plan: Plan) -> Scratch:
        if self.scratch is None or len(self.scratch.covered) < int(plan.geometry[WORDS]):
            size, words = len(self.group.cells), int(plan.geometry[WORDS])
            blocks = int(plan.geometry[BLOCK_WORDS])
            shared = self.shared.stacks
            self.scratch = Scratch(
                covered=np.zeros(words, np.uint64),
                frames=np.zeros((size + 2, FRAME_FIELDS), np.int64),
                closed=shared[0], bans=shared[1],
                key=np.zeros(2 + words + ALTERNATIVES_MAX * blocks + BANS_MAX, np.uint64),
            )  # fmt: skip
        return self.scratch


def least_of(masks: set[int]) -> tuple[int, ...]:
    """Keep of masks those that contain no other, ascending."""
    least: list[int] = []
    for mask in sorted(masks):
        if not any(known & mask == known for known in least):
            least.append(mask)
    return tuple(least)

"""Search one group of cells: the orders in which it may be covered, and its value in a state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from nightgrid.solvers.algebra import Budget, count_of
from nightgrid.solvers.kernel.codes import DONE, OUT_OF_NODES
from nightgrid.solvers.kernel.compiling import I32, I64, kernel
from nightgrid.solvers.reasons import BudgetSpentError
from nightgrid.solvers.strands.general import search as searches
from nightgrid.solvers.strands.general import state_keys
from nightgrid.solvers.strands.general.groups import Group, Laid, lay_out
from nightgrid.solvers.strands.general.plan import BLOCK_WORDS, WORDS, Keys, Plan, plan_of
from nightgrid.solvers.strands.general.state_keys import ALTERNATIVES_MAX, BANS_MAX, Scratch
from nightgrid.solvers.strands.general.table import LOWEST, new_records
from nightgrid.solvers.strands.general.wide_pieces import WideFound, bits_of
from nightgrid.solvers.strands.pieces.pieces import least_of
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.rules import Rules
from nightgrid.solvers.strands.states.engine import Meter
from nightgrid.solvers.strands.states.table import DEAD, NODES, NODES_MAX, STATUS

NEIGHBOURS_MAX = 1 << 23
"""Pairs of cells that share a piece; a group with more of them is covered row by row."""


def orders_of(group: Group, laid: Laid, columns: int) -> Iterator[I64]:
    """Yield orders of a group's cells.

    So that the border of what is covered stays short in the graph of cells that share pieces;
    column by column; row by row; and breadth first along the graph (Cuthill-McKee).
    """
    cells = group.cells
    graph = _neighbours(group, laid)
    if graph is None:
        yield cells
        yield cells[np.lexsort((cells // columns, cells % columns))]
        return
    yield cells[_short_border(*graph)]
    yield cells[np.lexsort((cells // columns, cells % columns))]
    yield cells
    yield cells[_breadth_first(*graph)]


def _neighbours(group: Group, laid: Laid) -> tuple[Any, Any] | None:
    """Find the cells that share a piece, by their places in the group: (bounds, places)."""
    place = np.full(len(laid.on_offsets) - 1, -1, np.int64)
    place[group.cells] = np.arange(len(group.cells))
    starts, near = np.zeros(len(group.cells) + 1, np.int64), np.empty(NEIGHBOURS_MAX, np.int32)
    if not _pair(group.cells, place, laid, starts, near):
        return None
    return starts, near[: starts[-1]].copy()


@kernel
def _pair(cells: I64, place: I64, laid: Laid, starts: I64, near: I32) -> bool:
    offsets, piece_cells, alive = laid.offsets, laid.cells, laid.alive
    on_offsets, on = laid.on_offsets, laid.on
    seen = np.full(len(cells), -1, np.int64)
    count = 0
    for a in range(len(cells)):
        seen[a] = a
        for i in range(on_offsets[cells[a]], on_offsets[cells[a] + 1]):
            p = on[i]
            if not alive[p]:
                continue
            for j in range(offsets[p], offsets[p + 1]):
                b = place[piece_cells[j]]
                if seen[b] != a:
                    if count == len(near):
                        return False
                    seen[b] = a
                    near[count] = b
                    count += 1
        starts[a + 1] = count
    return True


@kernel
def _breadth_first(starts: np.ndarray, near: np.ndarray) -> Any:
    cells = len(starts) - 1
    by_degree = np.argsort(starts[1:] - starts[:-1], kind="mergesort")
    order = np.empty(cells, np.int64)
    rank = np.empty(cells, np.int64)
    rank[by_degree] = np.arange(cells)
    done = np.zeros(cells, np.bool_)
    mark = np.full(cells, -1, np.int64)
    end = 0
    for first in by_degree:
        if done[first]:
            continue
        # From the far end of wherever we stand, twice: about as far apart as cells can be.
        at = first
        for turn in range(3):
            begin, stop = end, end + 1
            order[begin] = at
            mark[at] = 3 * first + turn
            i = begin
            while i < stop:
                a = order[i]
                i += 1
                old = stop
                for j in range(starts[a], starts[a + 1]):
                    b = near[j]
                    if mark[b] != 3 * first + turn:
                        mark[b] = 3 * first + turn
                        k = stop
                        while k > old and rank[order[k - 1]] > rank[b]:
                            order[k] = order[k - 1]
                            k -= 1
                        order[k] = b
                        stop += 1
            at = order[stop - 1]
            if turn == 2:
                for i in range(begin, stop):
                    done[order[i]] = True
                end = stop
    return order


@kernel
def _short_border(starts: np.ndarray, near: np.ndarray) -> Any:
    """Always take the cell of the border that brings the fewest new cells to it, the oldest."""
    seeds = _breadth_first(starts, near)
    cells = len(seeds)
    order = np.empty(cells, np.int64)
    fresh = starts[1:] - starts[:-1]
    state = np.zeros(cells, np.uint8)
    border = np.empty(cells, np.int64)
    size, done, seed = 0, 0, 0
    while done < cells:
        if size == 0:
            while state[seeds[seed]]:
                seed += 1
            border[0] = seeds[seed]
            size = 1
            state[border[0]] = 1
            for j in range(starts[border[0]], starts[border[0] + 1]):
                fresh[near[j]] -= 1
        least = 0
        for i in range(1, size):
            if fresh[border[i]] < fresh[border[least]]:
                least = i
        a = border[least]
        for i in range(least + 1, size):
            border[i - 1] = border[i]
        size -= 1
        state[a] = 2
        order[done] = a
        done += 1
        for j in range(starts[a], starts[a + 1]):
            b = near[j]
            if state[b] == 0:
                state[b] = 1
                border[size] = b
                size += 1
                for k in range(starts[b], starts[b + 1]):
                    fresh[near[k]] -= 1
    return order


TRIALS = (1 << 12, 1 << 16)
"""Nodes that each order of a group may take, round by round, before the best one is kept to."""
STACK_WORDS = 1 << 22
Value = tuple[int, int]
"""(count, best score)."""
NOTHING: Value = (0, DEAD)


class Shared(Meter):
    """What the groups of a board share: its pieces, the table and the budget."""

    def __init__(
        self, found: WideFound, rules: Rules, puzzle: Puzzle, budget: Budget, *, exists: bool
    ) -> None:
        self.rules, self.columns = rules, puzzle.column_count
        self.records = new_records(budget.table_bytes)
        super().__init__(self.records.control, self.records.clock, budget, exists=exists)
        self.stacks = np.empty(STACK_WORDS, np.uint64), np.empty(STACK_WORDS, np.int64)
        self.mask_bytes = (puzzle.cell_count + 7) // 8
        self.plan_count = 0
        self.laid = lay_out(found, rules, puzzle.cell_count)


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
                return (1, 0) if self._is_covered(covered) and n in (0, searches.ANY) else NOTHING
            known = self._choose(covered, closed, n, flag, bans)
            if known is not None:
                return known
        assert self.chosen is not None
        return self._run(*self.chosen, (covered, closed, n, flag, bans))

    def _is_covered(self, covered: int) -> bool:
        return all(covered >> cell & 1 for cell in self.cells)

    def _choose(self, *state: Any) -> Value | None:
        """Try every order for a while, and keep to the first that ends, or that comes furthest."""
        control = self.shared.control
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
        free = np.flatnonzero(padded == 0)
        frame = scratch.frames[0]
        frame[state_keys.F_FIRST] = free[0] if len(free) else len(padded)
        frame[state_keys.F_N], frame[state_keys.F_FLAG] = n, flag
        frame[state_keys.F_LAST] = taken[-1] if len(taken) else 0
        frame[state_keys.F_LEFT] = size - len(taken)
        words = int(plan.geometry[BLOCK_WORDS])
        sets = {
            sum(1 << keys.blocks[b] for b in bits_of(mask) if b in keys.blocks) for mask in closed
        }
        least = least_of(sets)
        for i, mask in enumerate(least):
            row = np.frombuffer(mask.to_bytes(8 * words, "little"), np.uint64)
            scratch.closed[i * words : (i + 1) * words] = row
        frame[state_keys.F_CLOSED], frame[state_keys.F_SETS] = 0, len(least)
        own = sorted(keys.words[word] for word in bans if word in keys.words)
        scratch.bans[: len(own)] = own
        frame[state_keys.F_BANS], frame[state_keys.F_BANNED] = 0, len(own)
        hi, lo, best = searches.general_cover(plan, scratch, self.shared.records)
        self.shared.check()
        return count_of(int(hi), int(lo)), int(best)

    def _scratch(self, plan: Plan) -> Scratch:
        if self.scratch is None or len(self.scratch.covered) < int(plan.geometry[WORDS]):
            size, words = len(self.group.cells), int(plan.geometry[WORDS])
            blocks = int(plan.geometry[BLOCK_WORDS])
            shared = self.shared.stacks
            self.scratch = Scratch(
                covered=np.zeros(words, np.uint64),
                frames=np.zeros((size + 2, state_keys.FRAME_FIELDS), np.int64),
                closed=shared[0], bans=shared[1],
                key=np.zeros(2 + words + ALTERNATIVES_MAX * blocks + BANS_MAX, np.uint64),
            )  # fmt: skip
        return self.scratch

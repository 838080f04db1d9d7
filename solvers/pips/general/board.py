"""A board of any size as the general search sees it."""

from __future__ import annotations

import heapq
from collections import Counter
from functools import cached_property

from nightgrid.solvers.algebra import MAX_COUNT
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell, RegionType

FREE = -1
"""Region of a cell whose region can never fail."""
SETTLED = -1
"""Progress of a region that can no longer fail."""
FULL = MAX_COUNT + 1
"""Counts are capped at this: results hold no more."""
Open = tuple[int, int, int]
"""A partly filled region: its number, its free cells, its progress."""


class GeneralBoard:
    """Cells by number in (row, column) order, domino types in canonical order."""

    def __init__(self, puzzle: Puzzle) -> None:
        self.cells: tuple[Cell, ...] = puzzle.cells
        number = {cell: i for i, cell in enumerate(self.cells)}
        self.near = [
            [number[c] for c in ((r - 1, k), (r, k - 1), (r, k + 1), (r + 1, k)) if c in number]
            for r, k in self.cells
        ]
        supply = Counter(puzzle.dominoes)
        self.types = sorted(supply)
        self.copies = [supply[t] for t in self.types]
        halves: Counter[int] = Counter()
        for (a, b), n in supply.items():
            halves[a] += n
            halves[b] += n
        self.halves = halves
        self.least, self.most = min(halves), max(halves)
        self.region = [FREE] * len(self.cells)
        self.kind: list[RegionType] = []
        self.target: list[int] = []
        self.size: list[int] = []
        self.pip_bit = {pip: 1 << i for i, pip in enumerate(sorted(halves))}
        for region in puzzle.regions:
            size, target = len(region.cells), region.target or 0
            if self._never_fails(region.type, size, target):
                continue
            for cell in region.cells:
                self.region[number[cell]] = len(self.kind)
            self.kind.append(region.type)
            self.target.append(target)
            self.size.append(size)
        self.partner = [-1] * len(self.cells)
        """The cell that must share a tile with this one; -1 if there is a choice."""
        self.can_be_tiled = self._force_tiles()

    def _never_fails(self, kind: RegionType, size: int, target: int) -> bool:
        return (
            kind is RegionType.EMPTY
            or (size == 1 and kind in (RegionType.EQUALS, RegionType.UNEQUAL))
            or (kind is RegionType.LESS and size * self.most < target)
            or (kind is RegionType.GREATER and size * self.least > target)
        )

    def _force_tiles(self) -> bool:
        """Match each cell that has one free neighbour; return whether no cell is stranded."""
        partner = self.partner
        degree = [len(near) for near in self.near]
        leaves = [i for i, d in enumerate(degree) if d <= 1]
        while leaves:
            cell = leaves.pop()
            if partner[cell] >= 0:
                continue
            other = next((c for c in self.near[cell] if partner[c] < 0), -1)
            if other < 0:
                return False
            partner[cell], partner[other] = other, cell
            for beside in self.near[other]:
                if partner[beside] < 0:
                    degree[beside] -= 1
                    if degree[beside] <= 1:
                        leaves.append(beside)
        return True

    @cached_property
    def has_one_tiling(self) -> bool:
        """Whether every tile is forced."""
        return self.can_be_tiled and min(self.partner) >= 0

    @cached_property
    def order(self) -> list[int]:
        """The order in which cells are filled, which keeps the number of open regions low.

        The next cell is the one that opens the fewest regions and borders, preferably one that
        closes some, then the one that was reached first. Forced tiles are filled together.
        """
        done = [False] * len(self.cells)
        waits: dict[int, int] = {}
        rest = list(self.size)
        members: list[list[int]] = [[] for _ in self.size]
        for cell, g in enumerate(self.region):
            if g != FREE:
                members[g].append(cell)
        heap: list[tuple[int, int, int]] = []
        order: list[int] = []

        def cost(cell: int) -> int:
            own = Counter(self.region[c] for c in (cell, self.partner[cell]) if c >= 0)
            value = 0
            for g, n in own.items():
                if g != FREE:
                    value += (rest[g] == self.size[g]) - (rest[g] == n)
            if self.partner[cell] < 0:
                value += sum(not done[c] and c not in waits for c in self.near[cell])
            return value

        def ask(cell: int) -> None:
            if not done[cell]:
                waits.setdefault(cell, len(waits))
                heapq.heappush(heap, (cost(cell), waits[cell], cell))

        # Boards are ordered like text: from the left, unconstrained cells at the end.
        seeds = sorted(
            range(len(self.cells)), key=lambda i: (self.region[i] == FREE, *self.cells[i][::-1])
        )
        for seed in seeds:
            ask(seed) if not done[seed] else None
            while heap:
                known, age, cell = heapq.heappop(heap)
                if done[cell]:
                    continue
                now = cost(cell)
                if now != known:
                    heapq.heappush(heap, (now, age, cell))
                    continue
                for c in (cell, self.partner[cell]):
                    if c < 0:
                        continue
                    done[c] = True
                    order.append(c)
                    g = self.region[c]
                    if g != FREE:
                        rest[g] -= 1
                        if rest[g] == self.size[g] - 1 or rest[g] <= 2:
                            for member in members[g]:
                                ask(member)
                for c in (cell, self.partner[cell]):
                    for beside in self.near[c] if c >= 0 else ():
                        if self.partner[beside] < 0 and self.partner[c] < 0:
                            ask(beside)
        return order

    def advance(self, g: int, rest: int, progress: int, pip: int) -> int | None:
        """Place a pip on a region with `rest` free cells; return its progress, None if it fails."""
        kind, target = self.kind[g], self.target[g]
        left = rest - 1
        if progress == SETTLED:
            return SETTLED
        if kind is RegionType.EQUALS:
            if rest == self.size[g]:
                return pip + 1 if self.halves[pip] >= rest else None
            return progress if progress == pip + 1 else None
        if kind is RegionType.UNEQUAL:
            bit = self.pip_bit[pip]
            if progress & bit or left > len(self.pip_bit) - (progress | bit).bit_count():
                return None
            return progress | bit
        total = progress + pip
        low, high = total + left * self.least, total + left * self.most
        if kind is RegionType.SUM:
            return total if low <= target <= high else None
        if kind is RegionType.LESS:
            if low >= target:
                return None
            return SETTLED if high < target else total
        if high <= target:
            return None
        return SETTLED if low > target else total

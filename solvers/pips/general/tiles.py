"""Count tile by tile: for boards of any size with few kinds of dominoes.

The states are those of nightgrid.solvers.pips.layers.count, without bounds: the first free cell of
the order, what is covered behind it, how many of each domino are used, and the open regions. A tile
that nothing constrains takes no domino: those that are left when all else is done fill such tiles
in any way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from nightgrid.solvers.algebra import MAX_COUNT
from nightgrid.solvers.pips.general.board import FREE, GeneralBoard, Open, Purse

State = tuple[int, int, int, tuple[Open, ...]]
"""First free position, covered positions behind it as bits, used dominoes, open regions."""
Step = tuple[int, int, int]
"""Position of the partner, pips on the first free cell, pips on the partner."""
FULL = MAX_COUNT + 1
"""Counts are held to this: more is more than a result holds."""


class TileSearch:
    """A board, or a part of it, tile by tile."""

    def __init__(
        self, board: GeneralBoard, tile: dict[int, int], fixed: dict[int, int], purse: Purse,
        *, exists: bool,
    ) -> None:  # fmt: skip
        self.board, self.purse, self.exists = board, purse, exists
        self.fixed = fixed
        order = board.order
        self.position = [0] * len(order)
        for p, cell in enumerate(order):
            self.position[cell] = p
        self.later = []
        for p, cell in enumerate(order):
            # A cell with a choice has none that takes another's forced partner: no tile would
            # look at that one again where the rest of the order is forced.
            partners = [c for c in board.near[cell] if board.partner[c] < 0]
            if board.partner[cell] >= 0:
                partners = [board.partner[cell]]
            if cell in tile:
                partners = [c for c in partners if c == tile[cell]]
            self.later.append(
                sorted(
                    q for c in partners
                    if (q := self.position[c]) > p and tile.get(c, cell) == cell
                )
            )  # fmt: skip
        bits = [n.bit_length() for n in board.copies]
        self.shift = [sum(bits[:t]) for t in range(len(bits))]
        self.mask = [(1 << b) - 1 for b in bits]
        self.by_pip: dict[int, list[tuple[int, int]]] = {}
        for t, (a, b) in enumerate(board.types):
            self.by_pip.setdefault(a, []).append((b, t))
            if a != b:
                self.by_pip.setdefault(b, []).append((a, t))
        for others in self.by_pip.values():
            others.sort()
        self.pips = sorted(self.by_pip)
        self.root: State = (0, 0, 0, ())
        self.tail = len(order)
        """From this position on nothing is left to choose but which domino lies where."""
        while self.tail and self._is_plain(order[self.tail - 1], tile):
            self.tail -= 1
        self._known: dict[State, int] = {}

    def _is_plain(self, cell: int, tile: dict[int, int]) -> bool:
        partner = self.board.partner[cell]
        return (
            self.board.region[cell] == FREE
            and partner >= 0
            and tile.get(cell, partner) == partner
            and cell not in self.fixed
        )

    def steps(self, state: State, *, explicit: bool) -> Iterator[tuple[Step | None, State]]:
        """Give the states after each tile on the first free cell, in canonical order.

        `explicit`: tiles that nothing constrains take a domino as well; else the step is None.
        """
        p, covered, used, opened = state
        board, order = self.board, self.board.order
        a = order[p]
        for q in self.later[p]:
            bit = 1 << (q - p - 1)
            if covered & bit:
                continue
            now = covered | bit
            run = (~now & (now + 1)).bit_length() - 1
            where = p + 1 + run, now >> (run + 1)
            b = order[q]
            loose = board.region[a] == FREE == board.region[b]
            if loose and not explicit and a not in self.fixed:
                yield None, (*where, used, opened)
                continue
            pips = (self.fixed[a],) if a in self.fixed else self.pips
            for own in pips:
                after = self._lay(a, own, opened)
                if after is None:
                    continue
                for other, t in self.by_pip.get(own, ()):
                    if b in self.fixed and self.fixed[b] != other:
                        continue
                    if (used >> self.shift[t]) & self.mask[t] == board.copies[t]:
                        continue
                    last = self._lay(b, other, after)
                    if last is not None:
                        taken = used + (1 << self.shift[t])
                        yield (q, own, other), (*where, taken, last)

    def _lay(self, cell: int, pip: int, opened: tuple[Open, ...]) -> tuple[Open, ...] | None:
        board = self.board
        g = board.region[cell]
        if g == FREE:
            return opened
        at = next((i for i, one in enumerate(opened) if one[0] >= g), len(opened))
        there = at < len(opened) and opened[at][0] == g
        rest, progress = opened[at][1:] if there else (board.size[g], 0)
        after = board.advance(g, rest, progress, pip)
        if after is None:
            return None
        kept = ((g, rest - 1, after),) if rest > 1 else ()
        return opened[:at] + kept + opened[at + there :]

    def value(self, state: State) -> int:
        """Count the solutions below a state, or with `exists` tell whether there are any."""
        known, purse = self._known, self.purse
        settled = self._settled(state)
        if settled is not None:
            return settled
        stack: list[list[Any]] = [[state, self.steps(state, explicit=False), 0]]
        while True:
            frame = stack[-1]
            child = next(frame[1], None)
            if child is not None:
                purse.node()
                settled = self._settled(child[1])
                if settled is None:
                    stack.append([child[1], self.steps(child[1], explicit=False), 0])
                    continue
                frame[2] = min(frame[2] + settled, FULL)
                if not (self.exists and frame[2]):
                    continue
            known[frame[0]] = frame[2]
            purse.kept(len(known))
            stack.pop()
            if not stack:
                return int(frame[2])
            above = stack[-1]
            above[2] = min(above[2] + frame[2], FULL)
            if self.exists and above[2]:
                above[1] = iter(())

    def _settled(self, state: State) -> int | None:
        if state[0] >= self.tail:
            return self._endings(state[2])
        return self._known.get(state)

    def _endings(self, used: int) -> int:
        """Count the ways to lay what is left on as many tiles without constraint."""
        if self.exists:
            return 1
        left, ways = 0, 1
        for t, (a, b) in enumerate(self.board.types):
            n = self.board.copies[t] - ((used >> self.shift[t]) & self.mask[t])
            left += n
            ways *= math.comb(left, n) << (n if a != b else 0)
        return min(ways, FULL)

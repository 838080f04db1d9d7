"""The general search of Pips: any number of cells, dominoes and pips, limited by the budget."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from nightgrid.solvers.algebra import MAX_COUNT, Budget, Outcome, Status
from nightgrid.solvers.game_contract import over_budget
from nightgrid.solvers.meter import Meter
from nightgrid.solvers.pips.general import dominoes as general_dominoes
from nightgrid.solvers.pips.general.board import FREE, FULL, GeneralBoard, Open
from nightgrid.solvers.pips.general.dominoes import DominoSearch, kinds_of
from nightgrid.solvers.pips.parts import Part, part_arrays
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell
from nightgrid.solvers.pips.solution import Placement, Solution
from nightgrid.solvers.reasons import BudgetSpentError, Reason, ReasonCode

State = tuple[int, int, int, tuple[Open, ...]]
"""First free position, covered positions after it as bits, used dominoes, open regions."""
Step = tuple[int, int, int]
"""Position of the partner, pips on the first free cell, pips on the partner."""


class TileSearch:
    """A board, or a part of it, tile by tile: for boards with few kinds of dominoes.

    The states are those of nightgrid.solvers.pips.layers.count, without bounds. Unconstrained tiles
    are left empty: at the end the remaining dominoes fill them in any way.
    """

    def __init__(
        self, board: GeneralBoard, tile: dict[int, int], fixed: dict[int, int], meter: Meter,
        *, exists: bool,
    ) -> None:  # fmt: skip
        self.board, self.meter, self.exists = board, meter, exists
        self.fixed = fixed
        order = board.order
        self.position = [0] * len(order)
        for p, cell in enumerate(order):
            self.position[cell] = p
        self.later = []
        for p, cell in enumerate(order):
            # A cell with a choice never takes another's forced partner, which nothing would check
            # again where the rest of the order is forced.
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
        """From this position on, the tiling is forced."""
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
        """Yield the states after each tile on the first free cell, in canonical order.

        `explicit`: unconstrained tiles take a domino too; else their step is None.
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
        """Count the solutions below a state, or with `exists` check whether there are any."""
        known, meter = self._known, self.meter
        settled = self._settled(state)
        if settled is not None:
            return settled
        stack: list[list[Any]] = [[state, self.steps(state, explicit=False), 0]]
        while True:
            frame = stack[-1]
            child = next(frame[1], None)
            if child is not None:
                meter.add_node()
                settled = self._settled(child[1])
                if settled is None:
                    stack.append([child[1], self.steps(child[1], explicit=False), 0])
                    continue
                frame[2] = min(frame[2] + settled, FULL)
                if not (self.exists and frame[2]):
                    continue
            known[frame[0]] = frame[2]
            meter.add_state(len(known))
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
        """Count the ways to lay the remaining dominoes on unconstrained tiles."""
        if self.exists:
            return 1
        left, ways = 0, 1
        for t, (a, b) in enumerate(self.board.types):
            n = self.board.copies[t] - ((used >> self.shift[t]) & self.mask[t])
            left += n
            ways *= math.comb(left, n) << (n if a != b else 0)
        return min(ways, FULL)


DOMINOES_MIN = 17
"""Most dominoes of boards that always go to the layers."""


def is_first_choice(puzzle: Puzzle) -> bool:
    """Return whether a board is better counted here than by nightgrid.solvers.pips.layers.count."""
    if len(set(puzzle.dominoes)) < DOMINOES_MIN:
        return False
    return general_dominoes.suits(GeneralBoard(puzzle))


class GeneralSearch:
    """A board or a part of it."""

    def __init__(self, puzzle: Puzzle, part: Part | None, budget: Budget, *, exists: bool) -> None:
        self.meter = Meter(budget)
        self.board = board = GeneralBoard(puzzle)
        tiles, halves = part_arrays(puzzle, part)
        tile: dict[int, int] = {}
        for a, b in tiles.tolist():
            tile[a], tile[b] = b, a
        fixed = dict(halves.tolist())
        self.tiles = TileSearch(board, tile, fixed, self.meter, exists=exists)
        self._dominoes: DominoSearch | None = None
        if general_dominoes.suits(board) and all(board.partner[a] == b for a, b in tile.items()):
            self._dominoes = DominoSearch(board, self.meter, exists=exists)

    def value(self, state: State) -> int:
        """Count the solutions below a state, up to one more than a result can hold."""
        if not self.board.can_be_tiled:
            return 0
        if self._dominoes is None:
            return self.tiles.value(state)
        # The part's later tiles are laid first.
        board, tiles = self.board, self.tiles
        p, covered, used, opened = state
        left = [
            n - ((used >> s) & m)
            for n, s, m in zip(board.copies, tiles.shift, tiles.mask, strict=True)
        ]
        progress = [0] * len(board.kind)
        rest = list(board.size)
        for g, free, now in opened:
            progress[g], rest[g] = now, free
        # Full regions hold; their progress only matters in sums.
        uncovered = [
            c for q, c in enumerate(board.order[p:])
            if q == 0 or not (covered >> (q - 1)) & 1
        ]  # fmt: skip
        touched = Counter(board.region[c] for c in uncovered)
        for g, target in enumerate(board.target):
            if not touched[g]:
                progress[g] = target
        cells = []
        for c in uncovered:
            other = board.partner[c]
            if c not in tiles.fixed:
                cells.append(c)
                continue
            if other < c:
                continue
            a, b = sorted((tiles.fixed[c], tiles.fixed[other]))
            if (a, b) not in board.types:
                return 0
            t = board.types.index((a, b))
            left[t] -= 1
            if left[t] < 0:
                return 0
            for half in (c, other):
                g = board.region[half]
                if g != FREE:
                    after = board.advance(g, rest[g], progress[g], tiles.fixed[half])
                    if after is None:
                        return 0
                    progress[g], rest[g] = after, rest[g] - 1
        return self._dominoes.value(kinds_of(board, cells), tuple(left), tuple(progress))

    def solutions(self) -> Iterator[Solution]:
        """Yield the solutions in canonical order."""
        cells, order = self.board.cells, self.board.order
        end = len(order)
        if not self.value(self.tiles.root):
            return
        placed: list[Placement] = []
        levels = [(0, self.tiles.steps(self.tiles.root, explicit=True))]
        while levels:
            p, steps = levels[-1]
            child = next(steps, None)
            if child is None:
                levels.pop()
                if levels:
                    placed.pop()
                continue
            self.meter.add_node()
            step, state = child
            assert step is not None
            if not self.value(state):
                continue
            a, b = cells[order[p]], cells[order[step[0]]]
            own, other = step[1], step[2]
            if b < a:
                a, b, own, other = b, a, other, own
            placed.append(Placement(cell_a=a, cell_b=b, pip_a=own, pip_b=other))
            if state[0] == end:
                yield tuple(sorted(placed, key=lambda at: at.cell_a))
                placed.pop()
            else:
                levels.append((state[0], self.tiles.steps(state, explicit=True)))


def general_order(puzzle: Puzzle) -> list[Cell]:
    """List the cells in the order in which the general search fills them."""
    board = GeneralBoard(puzzle)
    return [board.cells[i] for i in board.order]


def count_generally(puzzle: Puzzle, part: Part | None, budget: Budget) -> Outcome[Solution]:
    """Count the solutions of a board or of a part of it."""
    search = GeneralSearch(puzzle, part, budget, exists=False)
    try:
        count = search.value(search.tiles.root)
    except BudgetSpentError as error:
        return over_budget(Reason(code=error.reason_code), search.meter.statistics())
    statistics = search.meter.statistics()
    if count > MAX_COUNT:
        return over_budget(Reason(code=ReasonCode.COUNT_TOO_LARGE), statistics)
    return Outcome(
        status=Status.SOLVED if count else Status.UNSOLVABLE, count=count, statistics=statistics
    )

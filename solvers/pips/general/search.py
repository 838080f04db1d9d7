"""The general search of Pips: any number of cells, dominoes and pips, as far as the budget goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nightgrid.solvers.algebra import MAX_COUNT, Budget, Outcome, Status
from nightgrid.solvers.pips.general import dominoes as general_dominoes
from nightgrid.solvers.pips.general.board import FREE, GeneralBoard, Purse
from nightgrid.solvers.pips.general.dominoes import DominoSearch, kinds_of
from nightgrid.solvers.pips.general.tiles import State, TileSearch
from nightgrid.solvers.pips.parts import Part, part_arrays
from nightgrid.solvers.pips.puzzle import Cell, Puzzle
from nightgrid.solvers.pips.solution import Placement, Solution
from nightgrid.solvers.reasons import BudgetSpentError, ReasonCode

DOMINOES_MIN = 17
"""Dominoes up to which every board is left to the layers."""


def is_first_choice(puzzle: Puzzle) -> bool:
    """Tell whether the layers of nightgrid.solvers.pips.layers.count would be the wrong way to
    count a
    board.
    """
    if len(set(puzzle.dominoes)) < DOMINOES_MIN:
        return False
    return general_dominoes.suits(GeneralBoard(puzzle))


class GeneralSearch:
    """A board or a part of it."""

    def __init__(self, puzzle: Puzzle, part: Part | None, budget: Budget, *, exists: bool) -> None:
        self.purse = Purse(budget)
        self.board = board = GeneralBoard(puzzle)
        tiles, halves = part_arrays(puzzle, part)
        tile: dict[int, int] = {}
        for a, b in tiles.tolist():
            tile[a], tile[b] = b, a
        fixed = dict(halves.tolist())
        self.tiles = TileSearch(board, tile, fixed, self.purse, exists=exists)
        self._dominoes: DominoSearch | None = None
        if general_dominoes.suits(board) and all(board.partner[a] == b for a, b in tile.items()):
            self._dominoes = DominoSearch(board, self.purse, exists=exists)

    def value(self, state: State) -> int:
        """Count the solutions below a state, up to one more than a result can hold."""
        if not self.board.can_be_tiled:
            return 0
        if self._dominoes is None:
            return self.tiles.value(state)
        # What a part says of later tiles is laid first.
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
        # Regions that are full have held; their progress plays no role but in sums.
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
        """Give the solutions in canonical order."""
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
            self.purse.node()
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
        return Outcome(
            status=Status.OVER_BUDGET,
            reason_code=error.reason_code,
            statistics=search.purse.statistics(),
        )
    statistics = search.purse.statistics()
    if count > MAX_COUNT:
        return Outcome(
            status=Status.OVER_BUDGET, reason_code=ReasonCode.COUNT_TOO_LARGE, statistics=statistics
        )
    return Outcome(
        status=Status.SOLVED if count else Status.UNSOLVABLE, count=count, statistics=statistics
    )

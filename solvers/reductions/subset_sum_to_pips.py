"""Subset sum to Pips (article 000, Theorem 17): one constraint.

A number a is the domino a-0. A row of as many cells as there are numbers has to sum to the target;
each of its cells has one more cell next to it, alternately above and below, so that every domino is
upright with one half in the row.
"""

from __future__ import annotations

from collections import Counter

from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Cell, Region, RegionType
from nightgrid.solvers.pips.solution import Solution
from nightgrid.solvers.reductions.problems.choices import SubsetSum, check_subset
from nightgrid.solvers.reductions.reduced import Reduced

ROW = 1


def _beside(column: int) -> Cell:
    return (0, column) if column % 2 == 0 else (2, column)


def reduce(instance: SubsetSum) -> Reduced[SubsetSum, Puzzle]:
    """Write an instance as a board that can be solved if and only if a subset has the sum.

    Raises InvalidPuzzleError for numbers that are too large for a pip.
    """
    columns = range(len(instance.numbers))
    row = Region(
        cells=tuple((ROW, c) for c in columns), type=RegionType.SUM, target=instance.target
    )
    rest = tuple(Region(cells=(_beside(c),), type=RegionType.EMPTY) for c in columns)
    return Reduced(
        game="pips",
        instance=instance,
        puzzle=Puzzle(
            regions=(row, *rest), dominoes=tuple((0, number) for number in instance.numbers)
        ),
    )


def solution_of(reduced: Reduced[SubsetSum, Puzzle], solution: Solution) -> tuple[int, ...]:
    """Read the subset off a solution, as ascending indexes, and check it.

    Of equal numbers the first are taken.
    """
    in_row: Counter[int] = Counter()
    for put in solution:
        in_row[put.pip_a if put.cell_a[0] == ROW else put.pip_b] += 1
    chosen = []
    for i, number in enumerate(reduced.instance.numbers):
        if in_row[number]:
            in_row[number] -= 1
            chosen.append(i)
    check_subset(reduced.instance, chosen)
    return tuple(chosen)

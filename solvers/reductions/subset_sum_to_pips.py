"""Subset sum to Pips (article 000, Theorem 17): one constraint.

A number a is the domino a-0. A row of as many cells as there are numbers has to sum to the target;
each of its cells has one more cell beside it, above and below in turn, so that every domino stands
on end with one half in the row.
"""

from __future__ import annotations

import math
from collections import Counter

from nightgrid.solvers.pips.puzzle import Cell, Puzzle, Region, RegionType
from nightgrid.solvers.pips.solution import Placement, Solution
from nightgrid.solvers.reductions.problems.subset_sum import SubsetSum, check_subset
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


def arrangement_of(reduced: Reduced[SubsetSum, Puzzle], chosen: tuple[int, ...]) -> Solution:
    """Lay the numbers in their order, those chosen with their pips in the row."""
    check_subset(reduced.instance, chosen)
    placed = []
    for c, number in enumerate(reduced.instance.numbers):
        pips = {(ROW, c): number, _beside(c): 0}
        if c not in chosen:
            pips = {(ROW, c): 0, _beside(c): number}
        a, b = sorted(pips)
        placed.append(Placement(cell_a=a, cell_b=b, pip_a=pips[a], pip_b=pips[b]))
    return tuple(sorted(placed, key=lambda put: put.cell_a))


def solution_count(reduced: Reduced[SubsetSum, Puzzle], chosen: tuple[int, ...]) -> int:
    """Count the solutions that stand for one choice of numbers: the orders of the dominoes.

    Equal dominoes are one another's equal, and so are choices among equal numbers; summed over
    every choice the two cancel out.
    """
    del chosen
    repeats = Counter(reduced.instance.numbers).values()
    return math.factorial(len(reduced.instance.numbers)) // math.prod(map(math.factorial, repeats))

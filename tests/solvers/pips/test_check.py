from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.errors import InvalidPuzzleError
from nightgrid.solvers.pips.check import check_solution
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import PRESETS
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import Region, RegionType, holds
from nightgrid.solvers.pips.solution import (
    Placement,
    Solution,
    solution_from_json,
    solution_to_json,
)

# A board of 2 x 2 cells whose upper row must hold 3 pips.
SQUARE = Puzzle(
    regions=(
        Region(cells=((0, 0), (0, 1)), type=RegionType.SUM, target=3),
        Region(cells=((1, 0), (1, 1)), type=RegionType.EMPTY),
    ),
    dominoes=((1, 2), (3, 4)),
)
TOP = Placement(cell_a=(0, 0), cell_b=(0, 1), pip_a=1, pip_b=2)
BOTTOM = Placement(cell_a=(1, 0), cell_b=(1, 1), pip_a=4, pip_b=3)


def moved(placement: Placement, cell_a: tuple[int, int], cell_b: tuple[int, int]) -> Placement:
    return replace(placement, cell_a=cell_a, cell_b=cell_b)


@pytest.mark.parametrize("solution", [(TOP, BOTTOM), (BOTTOM, TOP)])
def test_a_solution_is_accepted_in_any_order(solution: Solution) -> None:
    check_solution(SQUARE, solution)
    assert solution_from_json(solution_to_json(solution)) == solution


@pytest.mark.parametrize(
    ("solution", "rule", "place"),
    [
        ((TOP,), "solution-uncovered-cell", "here"),
        ((), "solution-uncovered-cell", "here"),
        ((TOP, moved(BOTTOM, (1, 0), (2, 1))), "solution-not-neighbours", "here[1]"),
        ((TOP, moved(BOTTOM, (1, 0), (1, 0))), "solution-not-neighbours", "here[1]"),
        ((moved(TOP, (0, 1), (0, 0)), BOTTOM), "solution-cell-order", "here[0]"),
        ((TOP, moved(BOTTOM, (2, 0), (2, 1))), "solution-off-board", "here[1]"),
        ((TOP, BOTTOM, moved(TOP, (0, 0), (1, 0))), "solution-overlap", "here[2]"),
        ((TOP, replace(BOTTOM, pip_a=5)), "solution-wrong-domino", "here"),
        ((TOP, replace(TOP, cell_a=(1, 0), cell_b=(1, 1))), "solution-wrong-domino", "here"),
        (
            (moved(BOTTOM, (0, 0), (0, 1)), moved(TOP, (1, 0), (1, 1))),
            "solution-breaks-region",
            "here",
        ),
    ],
)
def test_every_broken_rule_is_named_with_its_place(
    solution: Solution, rule: str, place: str
) -> None:
    with pytest.raises(InvalidPuzzleError) as refusal:
        check_solution(SQUARE, solution, "here")
    assert (refusal.value.rule, refusal.value.place) == (rule, place)


@pytest.mark.parametrize(
    ("kind", "target", "good", "bad"),
    [
        (RegionType.SUM, 5, [2, 3], [2, 2]),
        (RegionType.LESS, 5, [2, 2], [2, 3]),
        (RegionType.GREATER, 5, [3, 3], [2, 3]),
        (RegionType.EQUALS, None, [2, 2], [2, 3]),
        (RegionType.UNEQUAL, None, [2, 3], [2, 2]),
    ],
)
def test_regions_are_checked_against_their_constraints(
    kind: RegionType, target: int | None, good: list[int], bad: list[int]
) -> None:
    region = Region(cells=((0, 0), (0, 1)), type=kind, target=target)
    assert holds(region, good)
    assert not holds(region, bad)
    assert holds(replace(region, type=RegionType.EMPTY, target=None), bad)


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), data=st.data())
def test_planted_solutions_are_accepted_and_a_changed_pip_never_is(
    seed: int, data: st.DataObject
) -> None:
    puzzle, solution = generate(PRESETS["hard"], seed)
    check_solution(puzzle, solution)
    i = data.draw(st.integers(0, len(solution) - 1))
    change: Callable[[Placement], Placement] = data.draw(
        st.sampled_from(
            [
                lambda p: replace(p, pip_a=p.pip_a + 1),
                lambda p: replace(p, pip_b=p.pip_b + 1),
                lambda p: replace(p, cell_a=p.cell_b, cell_b=p.cell_a),
            ]
        )
    )
    broken = (*solution[:i], change(solution[i]), *solution[i + 1 :])
    with pytest.raises(InvalidPuzzleError):
        check_solution(puzzle, broken)

"""Reductions to Pips: solvable if and only if the instance is, counted and mapped back."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import pytest

from nightgrid.solvers.algebra import Ask, Status
from nightgrid.solvers.errors import InvalidPuzzleError
from nightgrid.solvers.pips.check import check_solution
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import MAX_PIP, Cell, RegionType
from nightgrid.solvers.reductions import one_in_three_to_pips, subset_sum_to_pips
from nightgrid.solvers.reductions.problems.choices import SubsetSum, random_subset_sum
from nightgrid.solvers.reductions.problems.formula import assignments, exactly_one
from nightgrid.solvers.reductions.problems.planar import random_planar_formula
from tests.oracles import certificates
from tests.oracles.hard_instances import planar_formulas, subsets

SMALL_SIZES = ((3, 1), (3, 2), (4, 2), (4, 3), (4, 4), (5, 2), (5, 3), (5, 4))
"""The smallest formula without a model has 4 clauses."""


@pytest.mark.parametrize("connected", [False, True])
def test_solutions_are_models_times_the_ways_to_clean_up(connected: bool) -> None:
    seen = Counter[Status]()
    for instance in planar_formulas(*SMALL_SIZES):
        models = list(assignments(instance.formula, exactly_one))
        reduced = one_in_three_to_pips.reduce(instance, connected=connected)
        game = reduced.bind()
        counted = game.solve(reduced.puzzle, Ask(kind="count"))
        expected = sum(certificates.model_arrangement_count(reduced, model) for model in models)
        assert counted.count == expected, instance
        for solution in game.solve(reduced.puzzle, Ask(kind="first")).solutions:
            assert one_in_three_to_pips.solution_of(reduced, solution) in models
        for model in models:
            laid = certificates.arrangement_of_model(reduced, model)
            check_solution(reduced.puzzle, laid)
            assert one_in_three_to_pips.solution_of(reduced, laid) == model
        seen[counted.status] += 1
    assert min(seen[Status.SOLVED], seen[Status.UNSOLVABLE]) >= 2, seen


def components(puzzle: Puzzle) -> int:
    left = set(puzzle.cells)
    count = 0
    while left:
        count += 1
        waiting: list[Cell] = [left.pop()]
        while waiting:
            reached = neighbours(waiting.pop()) & left
            left -= reached
            waiting += reached
    return count


def test_boards_meet_the_theorem_and_connect_on_request() -> None:
    for seed in range(8):
        instance = random_planar_formula(12, 10, seed, exactly_one)
        for connected in (False, True):
            puzzle = one_in_three_to_pips.reduce(instance, connected=connected).puzzle
            assert set(puzzle.dominoes) == {(0, 0), (1, 1)}
            assert {region.type for region in puzzle.regions} == {
                RegionType.EQUALS,
                RegionType.SUM,
                RegionType.EMPTY,
            }
            targets = {r.target for r in puzzle.regions if r.type is RegionType.SUM}
            assert targets == ({0, 1} if connected else {1})
            assert (components(puzzle) == 1) == connected


@pytest.mark.parametrize("connected", [False, True])
def test_boards_can_be_tiled_in_one_way_only(connected: bool) -> None:
    """Such a board has a cell with one neighbour, and so has the rest without the two."""
    for seed in range(6):
        instance = random_planar_formula(26, 24, seed, exactly_one)
        left = set(one_in_three_to_pips.reduce(instance, connected=connected).puzzle.cells)
        waiting = sorted(left)
        while waiting:
            cell = waiting.pop()
            near = sorted(neighbours(cell) & left)
            if cell in left and len(near) == 1:
                left -= {cell, near[0]}
                waiting += sorted(neighbours(near[0]) & left)
        assert not left


def neighbours(cell: Cell) -> set[Cell]:
    r, c = cell
    return {(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)}


def small_sums() -> Iterator[SubsetSum]:
    for count in (1, 2, 3, 4):
        for numbers in itertools.combinations_with_replacement(range(1, 5), count):
            for target in range(sum(numbers) + 2):
                yield SubsetSum(numbers=numbers, target=target)


def test_orders_of_dominoes_times_subsets_are_the_solutions_of_a_sum() -> None:
    game = None
    seen = set()
    for instance in small_sums():
        reduced = subset_sum_to_pips.reduce(instance)
        game = game or reduced.bind()
        chosen = list(subsets(instance))
        expected = sum(certificates.subset_arrangement_count(reduced, one) for one in chosen)
        outcome = game.solve(reduced.puzzle, Ask(kind="all"))
        assert outcome.count == expected, instance
        for solution in outcome.solutions:
            assert subset_sum_to_pips.solution_of(reduced, solution) in chosen
        for one in chosen:
            laid = certificates.arrangement_of_subset(reduced, one)
            check_solution(reduced.puzzle, laid)
            again = subset_sum_to_pips.solution_of(reduced, laid)
            assert Counter(instance.numbers[i] for i in again) == Counter(
                instance.numbers[i] for i in one
            )
        seen.add(outcome.status)
    assert seen == {Status.SOLVED, Status.UNSOLVABLE}


def test_planted_sums_are_found_and_numbers_too_large_for_a_pip_are_refused() -> None:
    for seed in range(3):
        instance = random_subset_sum(12, 50, seed)
        reduced = subset_sum_to_pips.reduce(instance)
        (solution,) = reduced.bind().solve(reduced.puzzle, Ask(kind="first")).solutions
        subset_sum_to_pips.solution_of(reduced, solution)
    with pytest.raises(InvalidPuzzleError, match="expected pips from 0 to"):
        subset_sum_to_pips.reduce(SubsetSum(numbers=(MAX_PIP + 1,), target=1))

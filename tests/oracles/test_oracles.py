"""The oracles agree with one another and with what can be counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from benchmarks.kernels import tiling_trees
from tests.drawn import drawn
from tests.oracles import cp_sat
from tests.oracles.brute_force import count_tilings, enumerate_solutions, tilings
from tests.solvers.pips.boards import (
    Payload,
    is_solution,
    payloads,
    rectangle,
    unconstrained,
    unconstrained_count,
)


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    [(2, 3, 3), (2, 4, 5), (4, 4, 36), (3, 3, 0), (4, 8, 2245), (8, 8, 12_988_816)],
)
def test_rectangles_have_the_known_number_of_tilings(
    rows: int, columns: int, expected: int
) -> None:
    cells = frozenset(rectangle(rows, columns))
    assert count_tilings(cells) == expected
    if expected < 100:
        assert len(list(tilings(cells))) == expected


@pytest.mark.parametrize(
    "dominoes",
    [
        [(0, 1), (2, 3), (4, 5)],
        [(0, 0), (2, 3), (4, 5)],
        [(0, 1), (1, 0), (4, 5)],
        [(6, 6)] * 3,
    ],
)
def test_every_oracle_counts_a_board_without_constraints_as_the_formula_does(
    dominoes: list[tuple[int, int]],
) -> None:
    payload = unconstrained(rectangle(2, 3), dominoes)
    expected = unconstrained_count(payload)
    assert len(enumerate_solutions(payload)) == expected
    assert cp_sat.count_solutions(payload).count == expected
    assert tiling_trees.count_solutions(payload).count == expected


@settings(max_examples=drawn(60), deadline=None)
@given(payload=payloads(max_dominoes=4))
def test_the_oracles_agree(payload: Payload) -> None:
    solutions = enumerate_solutions(payload)
    assert len(set(solutions)) == len(solutions)
    assert all(is_solution(payload, solution) for solution in solutions)
    assert tiling_trees.count_solutions(payload).count == len(solutions)
    by_cp_sat = cp_sat.count_solutions(payload)
    assert by_cp_sat.complete
    assert by_cp_sat.count == len(solutions)


def test_the_backtracker_stops_at_the_first_solution_when_asked() -> None:
    payload = unconstrained(rectangle(2, 4), [(0, 1), (2, 3), (4, 5), (6, 6)])
    assert tiling_trees.count_solutions(payload, most=1).count == 1

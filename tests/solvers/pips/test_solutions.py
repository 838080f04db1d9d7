"""`all`, `all(limit)` and `first` give the solutions themselves, each once, in one order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.algebra import Ask, Status
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.pips.check import check_solution
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import PRESETS
from tests.drawn import drawn
from tests.oracles.brute_force import enumerate_solutions
from tests.solvers.pips.boards import (
    Payload,
    arrangement_of,
    is_solution,
    payloads,
    puzzle_of,
    rectangle,
    unconstrained,
)

COUNT, FIRST, ALL = Ask(kind="count"), Ask(kind="first"), Ask(kind="all")


@settings(max_examples=drawn(150), deadline=None)
@given(payload=payloads(max_dominoes=4))
def test_all_gives_exactly_the_solutions_of_brute_force(
    pips: Game[Any, Any], payload: Payload
) -> None:
    puzzle = puzzle_of(payload)
    outcome = pips.solve(puzzle, ALL)
    found = [arrangement_of(solution) for solution in outcome.solutions]
    assert sorted(found) == enumerate_solutions(payload)
    assert outcome.count == len(found) == pips.solve(puzzle, COUNT).count
    assert outcome.status is (Status.SOLVED if found else Status.UNSOLVABLE)
    assert not outcome.truncated
    for solution, arrangement in zip(outcome.solutions, found, strict=True):
        check_solution(puzzle, solution)
        assert is_solution(payload, arrangement)
        assert list(arrangement) == sorted(arrangement)


@settings(max_examples=drawn(80), deadline=None)
@given(payload=payloads(max_dominoes=4))
def test_first_is_one_of_all(pips: Game[Any, Any], payload: Payload) -> None:
    puzzle = puzzle_of(payload)
    everything = pips.solve(puzzle, ALL)
    first = pips.solve(puzzle, FIRST)
    assert first.status is everything.status
    assert set(first.solutions) <= set(everything.solutions)
    assert first.count == len(first.solutions) == min(len(everything.solutions), 1)
    assert not first.truncated


@settings(max_examples=drawn(80), deadline=None)
@given(payload=payloads(max_dominoes=4), limit=st.integers(1, 60))
def test_a_limit_cuts_the_list_and_says_so(
    pips: Game[Any, Any], payload: Payload, limit: int
) -> None:
    puzzle = puzzle_of(payload)
    everything = pips.solve(puzzle, ALL)
    some = pips.solve(puzzle, Ask(kind="all", limit=limit))
    assert some.status is everything.status
    assert some.solutions == everything.solutions[:limit]
    assert some.count == len(some.solutions)
    assert some.truncated == (len(everything.solutions) > limit)


@settings(max_examples=drawn(40), deadline=None)
@given(payload=payloads(min_dominoes=6, max_dominoes=10, min_regions_per_domino=1.0))
def test_the_solutions_of_larger_boards_are_distinct_valid_and_as_many_as_counted(
    pips: Game[Any, Any], payload: Payload
) -> None:
    puzzle = puzzle_of(payload)
    total = pips.solve(puzzle, COUNT).count
    assert total is not None
    outcome = pips.solve(puzzle, Ask(kind="all", limit=500))
    assert len(outcome.solutions) == min(total, 500)
    assert outcome.truncated == (total > 500)
    assert len(set(outcome.solutions)) == len(outcome.solutions)
    for solution in outcome.solutions:
        check_solution(puzzle, solution)
    assert len(pips.solve(puzzle, FIRST).solutions) == min(total, 1)


@pytest.mark.parametrize("dominoes", [31, 32])
def test_the_first_of_boards_around_the_bits_of_a_word(pips: Game[Any, Any], dominoes: int) -> None:
    strip = unconstrained(rectangle(2, dominoes), [(a, a + 1) for a in range(dominoes)])
    outcome = pips.solve(puzzle_of(strip), FIRST)
    check_solution(puzzle_of(strip), outcome.solutions[0])
    assert (outcome.statistics.table_bytes == 0) == (dominoes == 31)


def test_a_search_that_has_emptied_a_cell_goes_back(pips: Game[Any, Any]) -> None:
    for puzzle, planted in generate_many(5, 40, [PRESETS["hard"]], 1100):
        check_solution(puzzle, planted)
        check_solution(puzzle, pips.solve(puzzle, FIRST).solutions[0])


def test_a_few_of_astronomically_many_solutions_are_given(pips: Game[Any, Any]) -> None:
    puzzle = puzzle_of(unconstrained(rectangle(4, 7), [(0, 1), (2, 3)] * 7))
    outcome = pips.solve(puzzle, Ask(kind="all", limit=1000))
    assert len(set(outcome.solutions)) == 1000
    assert outcome.truncated
    for solution in outcome.solutions:
        check_solution(puzzle, solution)


def test_thousands_of_solutions_come_out_each_once(pips: Game[Any, Any]) -> None:
    payload = unconstrained(rectangle(2, 5), [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)])
    puzzle = puzzle_of(payload)
    outcome = pips.solve(puzzle, ALL)
    assert len(outcome.solutions) == len(set(outcome.solutions)) == 8 * 120 * 32
    assert outcome.count == len(outcome.solutions)


@settings(max_examples=drawn(30), deadline=None)
@given(payload=payloads(), other=payloads())
def test_the_same_question_gives_the_same_answer_after_any_other_solves(
    pips: Game[Any, Any], payload: Payload, other: Payload
) -> None:
    puzzle = puzzle_of(payload)
    for ask in (COUNT, FIRST, Ask(kind="all", limit=20)):
        before = pips.solve(puzzle, ask)
        pips.solve(puzzle_of(other), ask)
        after = pips.solve(puzzle, ask)
        assert (after.status, after.count, after.solutions) == (
            before.status,
            before.count,
            before.solutions,
        )
        assert after.statistics.states == before.statistics.states
        assert after.statistics.nodes == before.statistics.nodes


def test_a_solution_is_written_as_json(pips: Game[Any, Any]) -> None:
    puzzle = puzzle_of(unconstrained(rectangle(1, 2), [(3, 5)]))
    outcome = pips.solve(puzzle, ALL)
    written = [pips.solution_to_json(solution) for solution in outcome.solutions]
    assert len(written) == 2
    assert written[0] != written[1]

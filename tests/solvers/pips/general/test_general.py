"""The general search of Pips agrees with the layers, and answers where they cannot."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.pips.check import check_solution
from nightgrid.solvers.pips.general import dominoes as general_dominoes
from nightgrid.solvers.pips.general.board import GeneralBoard
from nightgrid.solvers.pips.general.search import (
    GeneralSearch,
    count_generally,
    general_order,
    is_first_choice,
)
from nightgrid.solvers.pips.parts import canonical_key, divide
from tests.drawn import drawn
from tests.solvers.pips.boards import (
    Payload,
    bands,
    payload_of,
    payloads,
    puzzle_of,
    rectangle,
    unconstrained,
)

COUNT, ALL, FIRST = Ask(kind="count"), Ask(kind="all"), Ask(kind="first")
LISTED = 100


@pytest.mark.parametrize("one_by_one", [False, True])
@settings(max_examples=drawn(60), deadline=None)
@given(payload=payloads())
def test_both_searches_answer_alike_whole_and_in_parts(
    pips: Game[Any, Any], one_by_one: bool, payload: Payload
) -> None:
    puzzle = puzzle_of(payload)
    expected = pips.solve(puzzle, COUNT)
    limits = {"TYPES_MIN": 0 if one_by_one else 99, "KINDS_MAX": 99, "HALVES_MIN": 2}
    with mock.patch.multiple(general_dominoes, **limits):
        assert count_generally(puzzle, None, Budget()).count == expected.count
        order = general_order(puzzle)
        parts = divide(puzzle, order, None, 4)
        counts = [count_generally(puzzle, part, Budget()).count or 0 for part in parts]
        assert sum(counts) == expected.count
        if (expected.count or 0) > LISTED:
            return
        solutions = list(GeneralSearch(puzzle, None, Budget(), exists=True).solutions())
        assert sorted(solutions) == sorted(pips.solve(puzzle, ALL).solutions)
        positions = {cell: p for p, cell in enumerate(order)}
        keys = [canonical_key(order, positions, solution) for solution in solutions]
        assert keys == sorted(keys)


def test_a_square_next_to_forced_tiles_has_two_tilings() -> None:
    # Its cells touch those of forced tiles, which are last in the order.
    cells = [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (0, 3), (1, 2), (2, 2)]
    puzzle = puzzle_of(payload_of([(0, 0)] * 4, [("empty", None, [cell]) for cell in cells]))
    assert count_generally(puzzle, None, Budget()).count == 2


def test_halves_start_from_the_dominoes_of_a_part(pips: Game[Any, Any]) -> None:
    cells = [(0, 1), (0, 2), (0, 3), (1, 0)]
    regions = [("sum", 2, cells), ("empty", None, [(0, 0)]), ("empty", None, [(2, 0)])]
    puzzle = puzzle_of(payload_of([(0, 0), (0, 1), (0, 1)], regions))
    part = [[[1, 0], [2, 0], 1, 0]]
    with mock.patch.multiple(general_dominoes, TYPES_MIN=0, HALVES_MIN=2):
        assert count_generally(puzzle, part, Budget()).count == 3
    assert pips.solve(puzzle, COUNT, part).count == 3


def subset_sum(numbers: list[int], target: int, other: int = 0) -> Payload:
    """Every domino is upright, with one half in a row that has to sum to the target."""
    row = [(0, c) for c in range(len(numbers))]
    regions = [("sum", target, row), *(("empty", None, [(1 if c % 2 else -1, c)]) for _, c in row)]
    shifted = [(k, t, [(r + 1, c) for r, c in cells]) for k, t, cells in regions]
    return payload_of([(other, n) for n in numbers], shifted)


@settings(max_examples=drawn(20), deadline=None)
@given(st.integers(0, 2**32))
def test_subset_sums_are_those_of_all_subsets(pips: Game[Any, Any], seed: int) -> None:
    rng = random.Random(seed)
    numbers = rng.sample(range(1, 60), 17)
    numbers += rng.choices(numbers, k=rng.randint(0, 2))
    other = rng.choice([0, 0, 3])
    target = sum(rng.choice([other, n]) for n in numbers)
    puzzle = puzzle_of(subset_sum(numbers, target, other))
    halves = [tuple(sorted((other, n))) for n in numbers]
    ways = {0: 1}
    for pair in halves:
        after: dict[int, int] = {}
        for total, count in ways.items():
            for pip in set(pair):
                after[total + pip] = after.get(total + pip, 0) + count
        ways = after
    # Turning one of two equal dominoes or the other is the same once they lie on any tiles.
    same = math.prod(math.factorial(halves.count(pair)) for pair in set(halves))
    expected = ways[target] * math.factorial(len(numbers)) // same
    outcome = pips.solve(puzzle, COUNT)
    assert outcome.count == expected
    assert is_first_choice(puzzle)
    check_solution(puzzle, pips.solve(puzzle, FIRST).solutions[0])


def test_a_subset_sum_of_large_numbers_is_decided_and_solved(pips: Game[Any, Any]) -> None:
    rng = random.Random(5)
    numbers = [rng.randrange(10**8, 10**9) for _ in range(30)]
    puzzle = puzzle_of(subset_sum(numbers, sum(numbers[::2])))
    outcome = pips.solve(puzzle, COUNT)
    assert outcome.statistics.engine == "general"
    # Another subset may have the sum as well.
    assert outcome.count in [math.factorial(30) * subsets for subsets in range(1, 9)]
    check_solution(puzzle, pips.solve(puzzle, FIRST).solutions[0])
    odd = puzzle_of(subset_sum([n // 2 * 2 for n in numbers], sum(numbers[::2]) // 2 * 2 + 1))
    assert pips.solve(odd, COUNT).status is Status.UNSOLVABLE
    assert pips.solve(odd, FIRST).status is Status.UNSOLVABLE


def test_long_regions_of_two_kinds_are_counted_and_listed(pips: Game[Any, Any]) -> None:
    # Each strip shows one number: half of them zeros.
    puzzle = puzzle_of(bands(40, 30))
    outcome = pips.solve(puzzle, COUNT)
    assert (outcome.count, outcome.statistics.engine) == (math.comb(40, 20), "general")
    listed = pips.solve(puzzle, Ask(kind="all", limit=3))
    assert listed.truncated
    for solution in listed.solutions:
        check_solution(puzzle, solution)


def test_unconstrained_boards_are_counted_at_any_size(pips: Game[Any, Any]) -> None:
    dominoes = [(1, 1)] * 995 + [(0, 2)] * 5
    puzzle = puzzle_of(unconstrained(rectangle(1, 2000), dominoes))
    assert pips.solve(puzzle, COUNT).count == math.comb(1000, 5) * 2**5
    assert pips.solve(puzzle, FIRST).status is Status.SOLVED
    stranded = puzzle_of(unconstrained([(0, c) for c in range(1999)] + [(1, 0)], dominoes))
    assert pips.solve(stranded, COUNT).count == math.comb(1000, 5) * 2**5
    odd = puzzle_of(unconstrained([(0, c) for c in range(1999)] + [(9, 0)], dominoes))
    assert pips.solve(odd, COUNT).status is Status.UNSOLVABLE


def test_more_distinct_dominoes_than_a_key_has_bits(pips: Game[Any, Any]) -> None:
    regions, dominoes = [], []
    for i, (a, b) in enumerate(itertools.combinations(range(24), 2)):
        dominoes.append((a, b))
        regions += [
            ("sum", a, [(i // 20 * 2, 3 * (i % 20))]),
            ("sum", b, [(i // 20 * 2, 3 * (i % 20) + 1)]),
        ]
    puzzle = puzzle_of(payload_of(dominoes, regions))
    outcome = pips.solve(puzzle, COUNT)
    assert (outcome.count, outcome.statistics.engine) == (1, "general")


def test_parts_of_a_large_board_merge_to_the_whole(pips: Game[Any, Any]) -> None:
    puzzle = puzzle_of(bands(14, 80))
    for ask in (COUNT, Ask(kind="all", limit=5), FIRST):
        whole = pips.solve(puzzle, ask)
        parts = pips.split(puzzle, ask, None, 3)
        merged = pips.merge(puzzle, ask, [pips.solve(puzzle, ask, part) for part in parts])
        assert (merged.status, merged.count) == (whole.status, whole.count)
        assert merged.solutions == whole.solutions


def test_a_batch_counts_rows_that_the_layers_refuse(pips: Game[Any, Any]) -> None:
    puzzles = [
        puzzle_of(payload)
        for payload in (
            unconstrained(rectangle(2, 2), [(0, 1), (1, 2)]),
            bands(40, 30),
            subset_sum(list(range(3, 23)), 60),
            unconstrained(rectangle(1, 4), [(0, 1), (1, 2)]),
        )
    ]
    out = pips.solve_batch(pips.to_arrays(puzzles), COUNT, Budget())
    counts = [
        int(h) << 64 | int(low) for h, low in zip(out["count_hi"], out["count_lo"], strict=True)
    ]
    assert counts == [pips.solve(puzzle, COUNT).count for puzzle in puzzles]
    assert np.all(out["status"] == 0)


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (Budget(nodes=500), "nodes"),
        (Budget(table_bytes=1 << 14), "table bytes"),
        (Budget(seconds=1e-9), "seconds"),
    ],
)
def test_a_budget_that_runs_out_says_which(
    pips: Game[Any, Any], budget: Budget, reason: str
) -> None:
    puzzle = puzzle_of(bands(40, 30))
    for ask in (COUNT, FIRST):
        outcome = pips.solve(puzzle, ask, None, budget)
        assert (outcome.status, outcome.count) == (Status.OVER_BUDGET, None)
        assert reason in outcome.reason


def test_forced_tiles_are_those_of_every_tiling() -> None:
    puzzle = puzzle_of(unconstrained([*rectangle(2, 3), (0, 3), (0, 4)], [(0, 0)] * 4))
    board = GeneralBoard(puzzle)
    at = {cell: i for i, cell in enumerate(board.cells)}
    assert board.partner[at[0, 4]] == at[0, 3]
    assert board.partner[at[0, 0]] == -1
    assert not board.has_one_tiling

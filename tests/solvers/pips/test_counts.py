"""Counts are exact: brute force, CP-SAT and closed forms say the same."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from benchmarks.kernels import tiling_trees
from nightgrid.solvers.algebra import MAX_COUNT, Ask, Budget, Status
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.pips.generate.generator import generate_many
from nightgrid.solvers.pips.generate.mix import EASY, HARD, MEDIUM, Mix
from tests.drawn import drawn
from tests.oracles import cp_sat
from tests.oracles.brute_force import enumerate_solutions
from tests.solvers.pips.boards import (
    Payload,
    cornered,
    payload_of,
    payloads,
    puzzle_of,
    rectangle,
    unconstrained,
    unconstrained_count,
)

COUNT = Ask(kind="count")
CP_SAT_LIMIT = 1000
TREES_LIMIT = 100_000
"""Boards with more solutions would only test how fast the oracles enumerate."""


def expect_count(pips: Game[Any, Any], payload: Payload, expected: int) -> None:
    outcome = pips.solve(puzzle_of(payload), COUNT)
    assert outcome.count == expected
    assert outcome.status is (Status.SOLVED if expected else Status.UNSOLVABLE)
    assert outcome.solutions == ()
    assert outcome.reason == ""
    assert not outcome.truncated


@settings(max_examples=drawn(250), deadline=None)
@given(payload=payloads())
def test_count_equals_brute_force(pips: Game[Any, Any], payload: Payload) -> None:
    expect_count(pips, payload, len(enumerate_solutions(payload)))


@pytest.mark.slow
@settings(max_examples=drawn(40), deadline=None)
@given(payload=payloads(min_dominoes=6, max_dominoes=9, min_regions_per_domino=1.0))
def test_count_equals_cp_sat_on_larger_boards(pips: Game[Any, Any], payload: Payload) -> None:
    oracle = cp_sat.count_solutions(payload, limit=CP_SAT_LIMIT, time_limit_s=1)
    if oracle.complete:
        expect_count(pips, payload, oracle.count)
    else:
        outcome = pips.solve(puzzle_of(payload), COUNT)
        assert outcome.count is not None
        assert outcome.count >= oracle.count


@pytest.mark.drawn
@pytest.mark.slow
@pytest.mark.parametrize(
    "mix",
    [
        EASY,
        MEDIUM,
        HARD,
        replace(MEDIUM, max_pip=20, unconstrained=0.3),
        replace(MEDIUM, max_pip=2, duplicates=True),
        replace(MEDIUM, components=((4, 1.0),)),
    ],
    ids=["easy", "medium", "hard", "many pips", "many copies", "components"],
)
def test_count_equals_backtracking_on_generated_boards(
    pips: Game[Any, Any], seed: int, mix: Mix
) -> None:
    complete = 0
    for puzzle, _ in generate_many(seed, drawn(15), [mix]):
        oracle = tiling_trees.count_solutions(puzzle.to_json(), most=TREES_LIMIT)
        count = pips.solve(puzzle, COUNT).count
        assert count is not None
        assert count >= oracle.count >= 1
        if oracle.count < TREES_LIMIT:
            complete += 1
            assert count == oracle.count
    assert complete > drawn(15) // 3


@pytest.mark.parametrize(
    ("rows", "columns", "dominoes"),
    [
        (1, 2, [(4, 4)]),
        (2, 4, [(0, 1), (0, 1), (2, 2), (0, 0)]),
        (3, 4, [(a, a + 1) for a in range(6)]),
        (4, 6, [(0, 1)] * 4 + [(1, 1)] * 4 + [(0, 40)] * 4),
        (2, 12, [(0, 5), (1, 6), (2, 7), (3, 8)] * 3),
    ],
)
def test_boards_without_constraints_follow_the_closed_form(
    pips: Game[Any, Any], rows: int, columns: int, dominoes: list[tuple[int, int]]
) -> None:
    payload = unconstrained(rectangle(rows, columns), dominoes)
    expect_count(pips, payload, unconstrained_count(payload))


@pytest.mark.parametrize("by_sum", [True, False])
@pytest.mark.parametrize(
    ("rows", "columns", "kinds"), [(2, 5, 2), (2, 8, 3), (4, 4, 2), (4, 5, 4), (3, 8, 3)]
)
def test_boards_with_pinned_corners_follow_the_closed_form(
    pips: Game[Any, Any], rows: int, columns: int, kinds: int, by_sum: bool
) -> None:
    expect_count(pips, *cornered(rows, columns, kinds, by_sum=by_sum))


@pytest.mark.parametrize("turned", [False, True])
def test_a_count_beyond_64_bits_is_exact(pips: Game[Any, Any], turned: bool) -> None:
    sides = (30, 2) if turned else (2, 30)
    payload = unconstrained(rectangle(*sides), [(0, 1), (2, 3), (4, 5)] * 10)
    expected = unconstrained_count(payload)
    assert 2**64 < expected < MAX_COUNT
    expect_count(pips, payload, expected)
    payload, expected = cornered(*sides, 3)
    assert 2**64 < expected < MAX_COUNT
    expect_count(pips, payload, expected)


def expect_count_or_refusal(pips: Game[Any, Any], payload: Payload, expected: int) -> None:
    if expected <= MAX_COUNT:
        expect_count(pips, payload, expected)
        return
    outcome = pips.solve(puzzle_of(payload), COUNT)
    assert outcome.status is Status.OVER_BUDGET
    assert outcome.count is None
    assert "10^38" in outcome.reason


@pytest.mark.parametrize("size", range(34, 50))
def test_a_count_is_exact_up_to_the_most_it_can_be_and_refused_beyond(
    pips: Game[Any, Any], size: int
) -> None:
    dominoes = [[(0, 1), (2, 3), (4, 5)][i % 3] for i in range(size)]
    payload = unconstrained(rectangle(2, size), dominoes)
    expect_count_or_refusal(pips, payload, unconstrained_count(payload))
    expect_count_or_refusal(pips, *cornered(2, size, 3))


def test_the_sizes_above_straddle_the_largest_count_and_128_bits() -> None:
    assert cornered(2, 34, 3)[1] < MAX_COUNT < 2**128 < cornered(2, 49, 3)[1]
    counts = [cornered(2, size, 3)[1] for size in range(34, 50)]
    assert any(2**127 > count > MAX_COUNT / 1000 for count in counts)


@pytest.mark.parametrize("end", ["impossible", "single"])
def test_a_huge_loose_part_next_to_a_tight_one_never_wraps(pips: Game[Any, Any], end: str) -> None:
    size = 60
    dominoes = [[(0, 1), (2, 3), (4, 5)][i % 3] for i in range(size)] + [(9, 9)]
    loose, tile = rectangle(2, size), [(5, 0), (5, 1)]
    target = 18 if end == "single" else 17
    payload = payload_of(dominoes, [("empty", None, loose), ("sum", target, tile)])
    outcome = pips.solve(puzzle_of(payload), COUNT)
    if end == "impossible":
        assert (outcome.status, outcome.count) in (
            (Status.UNSOLVABLE, 0),
            (Status.OVER_BUDGET, None),
        )
    else:
        assert outcome.status is Status.OVER_BUDGET
        assert outcome.count is None
        assert outcome.reason


def test_sixteen_separate_dominoes_are_counted(pips: Game[Any, Any]) -> None:
    dominoes = [(a, b) for a in range(7) for b in range(a, 7)][:16]
    tiles = [[(3 * i, 0), (3 * i, 1)] for i in range(16)]
    loose = payload_of(dominoes, [("empty", None, tile) for tile in tiles])
    flips = sum(a != b for a, b in dominoes)
    expect_count(pips, loose, math.factorial(16) << flips)
    tight = payload_of(
        dominoes, [("sum", sum(d), tile) for d, tile in zip(dominoes, tiles, strict=True)]
    )
    by_sum: dict[int, int] = {}
    for d in dominoes:
        by_sum[sum(d)] = by_sum.get(sum(d), 0) + 1
    expect_count(pips, tight, math.prod(map(math.factorial, by_sum.values())) << flips)


def test_sixty_copies_of_one_domino_are_one_domino_type(pips: Game[Any, Any]) -> None:
    payload = unconstrained(rectangle(2, 65), [(1, 2)] * 65)
    expect_count(pips, payload, unconstrained_count(payload))
    doubles = unconstrained(rectangle(4, 33), [(3, 3)] * 66)
    expect_count(pips, doubles, unconstrained_count(doubles))


def test_a_board_that_no_tiling_covers_is_unsolvable(pips: Game[Any, Any]) -> None:
    chessboard = sorted(set(rectangle(4, 4)) - {(0, 0), (3, 3)})
    expect_count(pips, unconstrained(chessboard, [(0, i) for i in range(7)]), 0)
    strewn = [(0, 0), (5, 5)]
    expect_count(pips, unconstrained(strewn, [(0, 1)]), 0)


def test_an_unequal_region_larger_than_the_number_of_pips_is_unsolvable(
    pips: Game[Any, Any],
) -> None:
    cells = rectangle(2, 2)
    expect_count(pips, payload_of([(0, 1), (1, 2)], [("unequal", None, cells)]), 0)


@pytest.mark.parametrize(
    ("kind", "target", "expected"),
    [
        ("empty", None, 2),
        ("equals", None, 2),
        ("unequal", None, 2),
        ("sum", 7, 1),
        ("sum", 8, 0),
        ("less", 8, 1),
        ("less", 7, 0),
        ("less", 0, 0),
        ("greater", 7, 1),
        ("greater", 1000, 0),
        ("greater", 0, 2),
    ],
)
def test_a_region_of_one_cell_follows_its_type(
    pips: Game[Any, Any], kind: str, target: int | None, expected: int
) -> None:
    payload = payload_of([(7, 1000)], [(kind, target, [(0, 0)]), ("empty", None, [(0, 1)])])
    expect_count(pips, payload, expected)


def test_regions_that_hold_their_cells_far_apart_are_counted(pips: Game[Any, Any]) -> None:
    cells = rectangle(3, 4)
    payload = payload_of(
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)],
        [
            ("sum", 6, [(0, 0), (2, 3)]),
            ("unequal", None, [(0, 3), (1, 1), (2, 0)]),
            ("less", 12, [(0, 1), (1, 3), (2, 2)]),
            ("greater", 5, [(0, 2), (1, 0)]),
            ("empty", None, [(1, 2), (2, 1)]),
        ],
    )
    assert {(r, c) for region in payload["regions"] for r, c in region["indices"]} == set(cells)
    oracle = tiling_trees.count_solutions(payload)
    assert oracle.count > 1000
    expect_count(pips, payload, oracle.count)


def test_a_huge_budget_changes_nothing(pips: Game[Any, Any]) -> None:
    puzzle = puzzle_of(unconstrained(rectangle(2, 4), [(0, 1), (2, 3), (4, 5), (6, 6)]))
    wide = Budget(nodes=2**62, table_bytes=2**40, seconds=1e6)
    assert pips.solve(puzzle, COUNT, None, wide).count == pips.solve(puzzle, COUNT).count

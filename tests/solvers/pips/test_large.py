"""Boards beyond 64 cells and 64 dominoes are solved where their frontier is narrow enough."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.pips.check import check_solution
from tests.oracles.brute_force import Cell
from tests.solvers.pips.boards import (
    Payload,
    payload_of,
    puzzle_of,
    rectangle,
    unconstrained,
    unconstrained_count,
)

COUNT, FIRST = Ask(kind="count"), Ask(kind="first")
BUDGET = Budget(nodes=10**8, table_bytes=1024**3, seconds=60)


def bricks(rows: int, columns: int) -> list[tuple[Cell, Cell]]:
    """Tile a rectangle with an even number of columns by rows of lying tiles."""
    return [((r, c), (r, c + 1)) for r in range(rows) for c in range(0, columns, 2)]


def pinned(rows: int, columns: int, seed: int) -> Payload:
    """Make a board that is solvable and tight: each brick's two cells have their sums given."""
    rng = random.Random(seed)
    regions, dominoes = [], []
    for a, b in bricks(rows, columns):
        pip_a, pip_b = rng.randint(0, 6), rng.randint(0, 6)
        dominoes.append((pip_a, pip_b))
        regions += [("sum", pip_a, [a]), ("sum", pip_b, [b])]
    return payload_of(dominoes, regions)


@pytest.mark.parametrize(
    ("rows", "columns", "kinds"),
    [(2, 50, 1), (50, 2, 1), (1, 100, 2), (3, 40, 1), (4, 32, 1), (2, 64, 1), (1, 130, 2)],
)
def test_long_boards_follow_the_closed_form(
    pips: Game[Any, Any], rows: int, columns: int, kinds: int
) -> None:
    size = rows * columns // 2
    dominoes = [[(1, 1), (2, 2)][i % kinds] for i in range(size)]
    payload = unconstrained(rectangle(rows, columns), dominoes)
    outcome = pips.solve(puzzle_of(payload), COUNT, None, BUDGET)
    assert outcome.count == unconstrained_count(payload)


@pytest.mark.parametrize(("rows", "columns"), [(10, 10), (8, 8), (6, 22), (2, 66)])
def test_tight_boards_of_a_hundred_cells_are_solved(
    pips: Game[Any, Any], rows: int, columns: int
) -> None:
    puzzle = puzzle_of(pinned(rows, columns, seed=rows * columns))
    outcome = pips.solve(puzzle, COUNT, None, BUDGET)
    assert outcome.status is Status.SOLVED
    assert outcome.count is not None
    assert outcome.count >= 1
    first = pips.solve(puzzle, FIRST, None, BUDGET)
    check_solution(puzzle, first.solutions[0])


def test_a_large_board_counts_as_many_solutions_as_it_lists(pips: Game[Any, Any]) -> None:
    size = 40
    tiles = bricks(2, size)
    regions: list[tuple[str, int | None, list[Cell]]] = [
        ("sum", 3, [a, b]) if i % 2 else ("unequal", None, [a, b]) for i, (a, b) in enumerate(tiles)
    ]
    dominoes = [(0, 3) if i % 2 else (1, 2) for i in range(size)]
    puzzle = puzzle_of(payload_of(dominoes, regions))
    count = pips.solve(puzzle, COUNT, None, BUDGET).count
    assert count is not None
    assert count > 1
    limit = min(count, 300)
    outcome = pips.solve(puzzle, Ask(kind="all", limit=limit), None, BUDGET)
    assert len(set(outcome.solutions)) == limit
    for solution in outcome.solutions:
        check_solution(puzzle, solution)


def test_a_hundred_different_dominoes_are_distinguished(pips: Game[Any, Any]) -> None:
    tiles = bricks(10, 20)
    dominoes = [(i, i + 100) for i in range(len(tiles))]
    regions: list[tuple[str, int | None, list[Cell]]] = []
    for (a, b), (pip_a, pip_b) in zip(tiles, dominoes, strict=True):
        regions += [("sum", pip_a, [a]), ("sum", pip_b, [b])]
    outcome = pips.solve(puzzle_of(payload_of(dominoes, regions)), COUNT, None, BUDGET)
    assert outcome.status is Status.SOLVED
    assert outcome.count == 1


def test_many_separate_boards_are_one_board(pips: Game[Any, Any]) -> None:
    squares = [
        [(row + 3 * (i // 4), column + 3 * (i % 4)) for row, column in rectangle(2, 2)]
        for i in range(12)
    ]
    dominoes = [(i, i) for i in range(12) for _ in range(2)]
    payload = payload_of(dominoes, [("equals", None, cells) for cells in squares])
    outcome = pips.solve(puzzle_of(payload), COUNT, None, BUDGET)
    assert outcome.count == math.factorial(12) * 2**12


@pytest.mark.parametrize("seed", range(3))
def test_gaps_in_a_board_do_not_matter(pips: Game[Any, Any], seed: int) -> None:
    payload = pinned(2, 6, seed)
    spread = payload | {
        "regions": [
            r | {"indices": [[9 * (row + 5), 1000 + column] for row, column in r["indices"]]}
            for r in payload["regions"]
        ]
    }
    rows_apart = pips.solve(puzzle_of(spread), COUNT)
    alone = payload | {
        "regions": [
            r | {"indices": [[2 * row, column] for row, column in r["indices"]]}
            for r in payload["regions"]
        ]
    }
    assert rows_apart.count == pips.solve(puzzle_of(alone), COUNT).count


@pytest.mark.parametrize(
    ("rows", "columns", "dominoes"),
    [
        (64, 64, [(0, 0)] * 2048),
        (30, 30, [(i % 40, i // 40) for i in range(450)]),
        (12, 12, [(i, 100 + i) for i in range(72)]),
    ],
)
def test_a_board_whose_frontier_is_too_wide_ends_with_its_budget(
    pips: Game[Any, Any], rows: int, columns: int, dominoes: list[tuple[int, int]]
) -> None:
    payload = unconstrained(rectangle(rows, columns), dominoes)
    budget = Budget(nodes=10**6, table_bytes=256 * 1024**2, seconds=1)
    outcome = pips.solve(puzzle_of(payload), COUNT, None, budget)
    assert outcome.status is Status.OVER_BUDGET
    assert outcome.count is None
    assert len(outcome.reason.split()) >= 3

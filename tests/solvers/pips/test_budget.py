"""A solve that runs out says so: never a wrong count, never a hang."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import LOOSE
from nightgrid.solvers.pips.puzzle import Puzzle
from tests.drawn import drawn
from tests.solvers.pips.boards import Payload, payloads, puzzle_of

COUNT, FIRST, ALL = Ask(kind="count"), Ask(kind="first"), Ask(kind="all")
LEAST_BYTES = 4096
"""Bytes of the smallest tables, whatever the budget."""
NODE_SLACK = 1000
"""Most nodes between two checks of the budget: all tiles and dominoes on one cell."""


@pytest.fixture(scope="module")
def loose() -> Puzzle:
    """A board of 24 different dominoes and few wide constraints: far too many states."""
    return generate(replace(LOOSE, dominoes=((24, 1.0),), rows=4), 1)[0]


@pytest.fixture(scope="module")
def medium() -> Puzzle:
    """A board of some ten thousand states."""
    return generate(replace(LOOSE, dominoes=((10, 1.0),), rows=4), 1)[0]


@pytest.mark.parametrize(
    "budget",
    [
        Budget(nodes=100_000),
        Budget(table_bytes=1024**2),
        Budget(seconds=0.2),
        Budget(nodes=1),
        Budget(table_bytes=1),
        Budget(seconds=1e-9),
    ],
    ids=str,
)
def test_counting_a_loose_board_runs_out(
    pips: Game[Any, Any], loose: Puzzle, budget: Budget
) -> None:
    outcome = pips.solve(loose, COUNT, None, budget)
    assert outcome.status is Status.OVER_BUDGET
    assert outcome.count is None
    assert outcome.solutions == ()
    assert len(outcome.reason.split()) >= 3
    assert "\n" not in outcome.reason
    assert outcome.statistics.nodes <= budget.nodes + NODE_SLACK
    assert outcome.statistics.table_bytes <= max(budget.table_bytes, LEAST_BYTES)


@pytest.mark.parametrize(
    "budget",
    [Budget(nodes=20_000), Budget(table_bytes=1024**2, seconds=30), Budget(seconds=0.5)],
    ids=str,
)
def test_listing_the_solutions_of_a_loose_board_runs_out(
    pips: Game[Any, Any], loose: Puzzle, budget: Budget
) -> None:
    outcome = pips.solve(loose, ALL, None, budget)
    assert outcome.status is Status.OVER_BUDGET
    assert outcome.count is None
    assert len(outcome.reason.split()) >= 3


def test_the_reason_says_which_budget_ran_out(pips: Game[Any, Any], loose: Puzzle) -> None:
    reasons = [
        pips.solve(loose, COUNT, None, budget).reason
        for budget in (
            Budget(nodes=10_000),
            Budget(table_bytes=1024**2),
            Budget(seconds=0.05),
        )
    ]
    assert "nodes" in reasons[0]
    assert "bytes" in reasons[1] or "table" in reasons[1]
    assert "second" in reasons[2]


@pytest.mark.parametrize("ask", [COUNT, FIRST, ALL, Ask(kind="all", limit=3)], ids=str)
@settings(max_examples=drawn(25), deadline=None)
@given(payload=payloads(min_dominoes=2, max_dominoes=6), power=st.integers(0, 16))
def test_a_node_budget_gives_the_right_answer_or_none(
    pips: Game[Any, Any], ask: Ask, payload: Payload, power: int
) -> None:
    puzzle = puzzle_of(payload)
    free = pips.solve(puzzle, ask)
    tight = pips.solve(puzzle, ask, None, Budget(nodes=2**power))
    if tight.status is Status.OVER_BUDGET:
        assert tight.count is None
        assert tight.reason
    else:
        assert (tight.status, tight.count, tight.solutions) == (
            free.status,
            free.count,
            free.solutions,
        )


@pytest.mark.parametrize("power", range(6, 27))
def test_a_table_budget_gives_the_right_answer_or_none(
    pips: Game[Any, Any], medium: Puzzle, power: int
) -> None:
    expected = pips.solve(medium, COUNT).count
    outcome = pips.solve(medium, COUNT, None, Budget(table_bytes=2**power))
    assert outcome.statistics.table_bytes <= max(2**power, LEAST_BYTES)
    if outcome.status is Status.OVER_BUDGET:
        assert outcome.count is None
        assert power < 26
    else:
        assert outcome.count == expected


def test_a_budget_that_ran_out_leaves_nothing_behind(
    pips: Game[Any, Any], loose: Puzzle, medium: Puzzle
) -> None:
    before = pips.solve(medium, COUNT)
    for budget in (Budget(nodes=5_000), Budget(table_bytes=2**16), Budget(seconds=0.01)):
        pips.solve(loose, COUNT, None, budget)
        after = pips.solve(medium, COUNT)
        assert (after.count, after.statistics.states) == (before.count, before.statistics.states)


def test_the_nodes_a_solve_took_are_enough_for_it(pips: Game[Any, Any], medium: Puzzle) -> None:
    free = pips.solve(medium, COUNT)
    again = pips.solve(medium, COUNT, None, Budget(nodes=free.statistics.nodes))
    assert again.count == free.count
    short = pips.solve(medium, COUNT, None, Budget(nodes=free.statistics.nodes // 2))
    assert short.status is Status.OVER_BUDGET


def test_the_first_of_a_loose_board_is_found_although_counting_runs_out(
    pips: Game[Any, Any], loose: Puzzle
) -> None:
    budget = Budget(nodes=2_000_000, table_bytes=256 * 1024**2, seconds=20)
    outcome = pips.solve(loose, FIRST, None, budget)
    assert outcome.status is Status.SOLVED
    assert len(outcome.solutions) == 1


def test_what_a_solve_cost_is_reported(pips: Game[Any, Any], medium: Puzzle) -> None:
    cost = pips.solve(medium, COUNT).statistics
    assert cost.states > 1000
    assert cost.nodes > cost.states
    assert cost.kernel_ns > 0
    assert cost.table_bytes > cost.states

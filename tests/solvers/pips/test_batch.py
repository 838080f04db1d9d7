"""A batch of boards has the same results as single boards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.algebra import STATUS_CODES, Ask, Budget, Status, count_of
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.pips.generate.generator import generate
from nightgrid.solvers.pips.generate.mix import LOOSE
from nightgrid.solvers.pips.puzzle import Puzzle
from tests.drawn import drawn
from tests.solvers.pips.boards import Payload, payloads, puzzle_of, rectangle, unconstrained

COUNT = Ask(kind="count")
BUDGET = Budget()
LIST_COLUMNS = (
    "cell_row",
    "cell_col",
    "cell_region",
    "region_type",
    "region_target",
    "domino_a",
    "domino_b",
)
SMALL_BUDGET = Budget(nodes=10**6, table_bytes=64 * 1024**2, seconds=20)

LARGE = generate(replace(LOOSE, dominoes=((24, 1.0),), rows=4), 1)[0].to_json()
WIDE = unconstrained(rectangle(2, 60), [(0, 1), (2, 3), (4, 5)] * 20)
TINY = unconstrained(rectangle(1, 2), [(0, 1)])


def expect_rows(
    pips: Game[Any, Any],
    puzzles: Sequence[Puzzle],
    arrays: dict[str, npt.NDArray[Any]],
    ask: Ask,
    budget: Budget,
) -> None:
    """Compare each row of a batch with the same board solved alone."""
    columns = pips.solve_batch(arrays, ask, budget)
    for name in ("status", "count_hi", "count_lo", "states", "nodes", "kernel_ns", "table_bytes"):
        assert len(columns[name]) == len(puzzles)
    for row, puzzle in enumerate(puzzles):
        alone = pips.solve(puzzle, ask, None, budget)
        assert STATUS_CODES[columns["status"][row]] is alone.status
        if alone.count is not None:
            assert count_of(columns["count_hi"][row], columns["count_lo"][row]) == alone.count
            assert columns["reason"][row] == 0
        else:
            assert columns["reason"][row] != 0
        assert columns["states"][row] == alone.statistics.states
        assert columns["nodes"][row] == alone.statistics.nodes


@pytest.mark.slow
@settings(max_examples=drawn(30), deadline=None)
@given(drawn=st.lists(payloads(), min_size=1, max_size=12))
def test_a_row_equals_the_board_solved_alone(pips: Game[Any, Any], drawn: list[Payload]) -> None:
    puzzles = [puzzle_of(payload) for payload in drawn]
    expect_rows(pips, puzzles, pips.to_arrays(puzzles), COUNT, BUDGET)


@settings(max_examples=drawn(30), deadline=None)
@given(drawn=st.lists(payloads(), min_size=1, max_size=6))
def test_columns_give_the_boards_back(pips: Game[Any, Any], drawn: list[Payload]) -> None:
    puzzles = [puzzle_of(payload) for payload in drawn]
    arrays = pips.to_arrays(puzzles)
    assert [pips.from_arrays(arrays, row) for row in range(len(puzzles))] == puzzles


def test_a_board_beyond_the_budget_does_not_affect_its_neighbours(pips: Game[Any, Any]) -> None:
    puzzles = [puzzle_of(payload) for payload in (TINY, LARGE, TINY, WIDE, TINY)]
    arrays = pips.to_arrays(puzzles)
    expect_rows(pips, puzzles, arrays, COUNT, SMALL_BUDGET)
    columns = pips.solve_batch(arrays, COUNT, Budget(nodes=1000))
    assert STATUS_CODES[columns["status"][1]] is Status.OVER_BUDGET
    assert [int(columns["count_lo"][row]) for row in (0, 2, 4)] == [2, 2, 2]


def test_only_counts_are_asked_of_many_boards_at_once(pips: Game[Any, Any]) -> None:
    with pytest.raises(PermanentError, match="first"):
        pips.solve_batch(pips.to_arrays([puzzle_of(TINY)]), Ask(kind="first"), BUDGET)


@settings(max_examples=drawn(15), deadline=None)
@given(drawn=st.lists(payloads(max_dominoes=4), min_size=3, max_size=8), data=st.data())
def test_rows_may_be_a_slice_of_longer_columns(
    pips: Game[Any, Any], drawn: list[Payload], data: st.DataObject
) -> None:
    puzzles = [puzzle_of(payload) for payload in drawn]
    begin = data.draw(st.integers(0, len(puzzles) - 1))
    end = data.draw(st.integers(begin, len(puzzles)))
    arrays = dict(pips.to_arrays(puzzles))
    for name in LIST_COLUMNS:
        arrays[f"{name}.offsets"] = arrays[f"{name}.offsets"][begin : end + 1]
    arrays["size"] = arrays["size"][begin:end]
    expect_rows(pips, puzzles[begin:end], arrays, COUNT, BUDGET)


def test_no_rows_give_no_rows(pips: Game[Any, Any]) -> None:
    columns = pips.solve_batch(pips.to_arrays([]), COUNT, BUDGET)
    assert len(columns["status"]) == 0


def test_rows_follow_one_another_without_a_trace(pips: Game[Any, Any]) -> None:
    puzzles = [puzzle_of(payload) for payload in (TINY, WIDE, TINY, LARGE, TINY)]
    forwards = pips.solve_batch(pips.to_arrays(puzzles), COUNT, SMALL_BUDGET)
    backwards = pips.solve_batch(pips.to_arrays(puzzles[::-1]), COUNT, SMALL_BUDGET)
    for name in ("status", "count_hi", "count_lo", "states", "nodes"):
        assert forwards[name].tolist() == backwards[name].tolist()[::-1]

"""A count carried on layer by layer, in buckets of states, is the count in one piece."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.instruments.boards import loose_board
from nightgrid.solvers.algebra import Ask, Budget, Status
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.layered_count import LayeredCount
from nightgrid.solvers.pips.general.search import is_first_choice
from nightgrid.solvers.pips.puzzle import Puzzle
from tests.drawn import drawn
from tests.oracles.brute_force import enumerate_solutions
from tests.solvers.pips.boards import (
    Payload,
    payload_of,
    payloads,
    puzzle_of,
    rectangle,
    unconstrained,
)

COUNT = Ask(kind="count")
SMALL = Budget(table_bytes=2**22)
DISTINCT = [(a, b) for a in range(12) for b in range(a, 12)]
Rows = npt.NDArray[np.uint64]


def layered(pips: Game[Any, Any], puzzle: Puzzle, budget: Budget = SMALL) -> LayeredCount:
    count = pips.layered(puzzle, budget)
    assert count is not None
    return count


def by_stages(count: LayeredCount, cuts: Callable[[], list[int]], length: Callable[[], int]) -> int:
    """Count in stages of some layers, each in parts between cuts of the buckets."""
    count.begin()
    layer, total = 0, 0
    states = {0: [count.rows.copy()]}
    while layer < count.layers:
        until = min(layer + length(), count.layers)
        left: dict[int, list[Rows]] = {}
        edges = sorted({0, *cuts(), count.buckets})
        for first, last in pairwise(edges):
            count.clear()
            for bucket in range(first, last):
                for rows in states.get(bucket, ()):
                    assert count.gather(rows)
            assert count.advance(layer, until) == (until, None)
            if until == count.layers:
                total += count.total()
                continue
            rows, begins = count.by_bucket()
            assert begins[0] == 0
            assert begins[-1] == len(rows)
            for bucket in np.flatnonzero(np.diff(begins)).tolist():
                found = rows[begins[bucket] : begins[bucket + 1]].copy()
                left.setdefault(bucket, []).append(found)
        layer, states = until, left
    return total


@settings(max_examples=drawn(80), deadline=None)
@given(payload=payloads(max_dominoes=5), seed=st.integers(0, 2**32))
def test_stages_of_any_length_in_any_parts_count_like_brute_force(
    pips: Game[Any, Any], payload: Payload, seed: int
) -> None:
    rng = random.Random(seed)
    count = layered(pips, puzzle_of(payload))
    found = by_stages(
        count,
        lambda: [rng.randrange(count.buckets) for _ in range(rng.randrange(5))],
        lambda: rng.randint(1, 3),
    )
    assert found == len(enumerate_solutions(payload))


@settings(max_examples=drawn(60), deadline=None)
@given(payload=payloads(min_dominoes=2, max_dominoes=5), data=st.data())
def test_parts_by_buckets_of_any_layer_sum_to_the_whole(
    pips: Game[Any, Any], payload: Payload, data: st.DataObject
) -> None:
    puzzle = puzzle_of(payload)
    layer = data.draw(st.integers(0, len(puzzle.dominoes)))
    buckets = layered(pips, puzzle).buckets
    part = {"layer": layer, "buckets": [0, buckets], "until": None}
    parts = pips.split(puzzle, COUNT, part, data.draw(st.integers(1, 6)))
    parts = [p for one in parts for p in pips.split(puzzle, COUNT, one, 2)]
    assert all(p["until"] is None for p in parts)
    outcomes = [pips.solve(puzzle, COUNT, json.loads(json.dumps(p))) for p in parts]
    merged = pips.merge(puzzle, COUNT, outcomes)
    whole = pips.solve(puzzle, COUNT)
    assert whole.count == len(enumerate_solutions(payload))
    assert (merged.status, merged.count) == (whole.status, whole.count)


@pytest.mark.parametrize("length", [1, 2])
def test_what_a_loose_board_costs_by_stages(pips: Game[Any, Any], length: int) -> None:
    puzzle = loose_board(10, 3)
    whole = pips.solve(puzzle, COUNT)
    count = layered(pips, puzzle)
    assert by_stages(count, lambda: [200, 500, 800], lambda: length) == whole.count
    cost = count.statistics
    if length == 1:
        # The full board is one state, which each part of the last stage reaches by itself.
        assert cost.states - 3 <= whole.statistics.states <= cost.states
        assert cost.nodes == whole.statistics.nodes
    else:
        assert cost.states <= 1.25 * whole.statistics.states
    assert cost.table_bytes < whole.statistics.table_bytes


def test_a_single_part_costs_as_much_as_the_whole(pips: Game[Any, Any]) -> None:
    puzzle = loose_board(10, 3)
    whole = pips.solve(puzzle, COUNT)
    count = layered(pips, puzzle)
    assert by_stages(count, list, lambda: 1) == whole.count
    assert count.statistics.states == whole.statistics.states
    assert count.statistics.nodes == whole.statistics.nodes


def test_a_part_continues_while_its_states_are_few(pips: Game[Any, Any]) -> None:
    count = layered(pips, loose_board(10, 3))
    count.begin()
    sizes = [1]
    for layer in range(count.layers):
        count.advance(layer, layer + 1)
        sizes.append(len(count.rows))
    most = max(sizes) // 3
    count.begin()
    reached, reason = count.advance(0, count.layers, most)
    assert (reason, len(count.rows)) == (None, sizes[reached])
    assert max(sizes[:reached]) <= most < sizes[reached]
    assert count.advance(reached, count.layers) == (count.layers, None)
    assert count.total() == pips.solve(loose_board(10, 3), COUNT).count


@pytest.mark.parametrize(
    ("payload", "row_words"),
    [
        # Open regions that need a key of four words.
        (
            payload_of(
                [(2**29 + i, 2**29 + 20 * i) for i in range(7)],
                [("less", 2**30 + 12 * c + 50, [(0, c), (1, 6 - c)]) for c in range(7)],
            ),
            6,
        ),
        # Nothing but copies, which leave every domino type until the last.
        (
            payload_of(
                [(0, 1)] * 12,
                [
                    ("sum", 3, rectangle(2, 4)),
                    ("empty", None, [(r + 2, c) for r, c in rectangle(2, 8)]),
                ],
            ),
            4,
        ),
        # In two pieces.
        (
            payload_of(
                DISTINCT[:6],
                [
                    ("less", 9, rectangle(2, 3)),
                    ("unequal", None, [(r + 5, c) for r, c in rectangle(2, 2)]),
                    ("empty", None, [(5, 2), (6, 2)]),
                ],
            ),
            4,
        ),
    ],
    ids=["four words", "copies", "two pieces"],
)
def test_stages_count_boards_out_of_the_ordinary(
    pips: Game[Any, Any], payload: Payload, row_words: int
) -> None:
    puzzle = puzzle_of(payload)
    count = layered(pips, puzzle)
    assert count.row_words == row_words
    whole = pips.solve(puzzle, COUNT)
    found = by_stages(count, lambda: [100, 600], lambda: 1)
    assert found == whole.count != 0
    assert count.statistics.nodes == whole.statistics.nodes


def test_a_share_that_no_result_holds_is_over_budget(pips: Game[Any, Any]) -> None:
    cells = rectangle(2, 70)
    puzzle = puzzle_of(
        payload_of(DISTINCT[:70], [("less", 1, cells[:1]), ("empty", None, cells[1:])])
    )
    outcome = pips.solve(puzzle, COUNT, {"layer": 35, "buckets": [0, 1024]})
    assert (outcome.status, outcome.count) == (Status.OVER_BUDGET, None)
    assert "10^38" in outcome.reason


def test_a_board_without_a_tiling_has_no_layers(pips: Game[Any, Any]) -> None:
    puzzle = puzzle_of(unconstrained([(0, 0), (0, 2), (1, 1), (2, 2)], [(0, 1), (1, 1)]))
    count = layered(pips, puzzle)
    count.begin()
    assert (count.layers, len(count.rows), count.total()) == (0, 0, 0)
    outcome = pips.solve(puzzle, COUNT, {"layer": 1, "buckets": [0, 9]})
    assert (outcome.status, outcome.count) == (Status.UNSOLVABLE, 0)


def test_a_board_that_only_the_general_search_takes_has_none(pips: Game[Any, Any]) -> None:
    puzzle = puzzle_of(unconstrained(rectangle(1, 2 * 70), DISTINCT[:70]))
    assert is_first_choice(puzzle)
    assert pips.layered(puzzle, SMALL) is None
    with pytest.raises(PermanentError, match="no layers"):
        pips.solve(puzzle, COUNT, {"layer": 1, "buckets": [0, 9]})


@pytest.mark.parametrize("ask", ["first", "all"])
def test_parts_by_layers_are_counted_only(pips: Game[Any, Any], ask: Any) -> None:
    puzzle = puzzle_of(unconstrained(rectangle(2, 3), [(0, 1), (1, 2), (2, 3)]))
    for use in (pips.solve, pips.stream):
        with pytest.raises(PermanentError, match="only count"):
            use(puzzle, Ask(kind=ask), {"layer": 1, "buckets": [0, 9]})


@pytest.mark.parametrize(
    ("budget", "what"),
    [
        (Budget(table_bytes=2**18), "bytes"),
        (Budget(nodes=5000), "nodes"),
        (Budget(seconds=1e-6), "seconds"),
    ],
    ids=["bytes", "nodes", "seconds"],
)
def test_a_part_that_spends_its_budget_says_so(
    pips: Game[Any, Any], budget: Budget, what: str
) -> None:
    outcome = pips.solve(loose_board(12, 0), COUNT, {"layer": 4, "buckets": [0, 600]}, budget)
    assert (outcome.status, outcome.count) == (Status.OVER_BUDGET, None)
    assert what in outcome.reason


@pytest.mark.parametrize("table_bytes", [2**22, 2**17])
def test_states_that_are_held_equal_those_gathered_one_after_the_other(
    pips: Game[Any, Any], table_bytes: int
) -> None:
    puzzle = loose_board(10, 3)
    large = layered(pips, puzzle)
    large.begin()
    assert large.advance(0, 4) == (4, None)
    rows, begins = large.by_bucket()
    wanted = begins[100:901]
    plain, held = (layered(pips, puzzle, Budget(table_bytes=table_bytes)) for _ in range(2))
    # Each state in one or two of three pieces, as three parts would leave them.
    at = np.arange(wanted[0], wanted[-1])
    for mine in (at[at % 3 == 0], at[at % 5 != 0], at[at % 3 != 0]):
        assert plain.gather(rows[mine])
        assert held.hold(rows[mine], np.searchsorted(mine, wanted))
    assert held.gather_held()
    assert len(held.rows) == len(at)
    assert sorted(held.rows.tolist()) == sorted(plain.rows.tolist())
    # Tables with room for all that is held have it in the order of the buckets.
    place = {tuple(row[:-2].tolist()): number for number, row in enumerate(rows)}
    order = [place[tuple(row[:-2].tolist())] for row in held.rows]
    buckets = np.searchsorted(begins, order, side="right")
    assert (np.diff(buckets) >= 0).all() == (table_bytes == 2**22)
    held.renew(Budget())
    assert held.statistics.table_bytes == len(held.rows) == 0


def test_states_without_room_are_refused_not_dropped(pips: Game[Any, Any]) -> None:
    puzzle = loose_board(10, 3)
    large, small = layered(pips, puzzle), layered(pips, puzzle, Budget(table_bytes=2**16))
    assert large.layout == small.layout
    large.begin()
    large.advance(0, 5)
    rows = large.rows.copy()
    assert not small.gather(rows)
    small.clear()
    assert small.gather(rows[:200])
    small.clear()
    whole = np.array([0, len(rows)])
    assert not (small.hold(rows, whole) and small.gather_held())
    assert small.statistics.table_bytes <= 2**16

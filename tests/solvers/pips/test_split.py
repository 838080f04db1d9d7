"""Parts of a job, merged, have exactly the outcome of the whole."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.algebra import Ask, Budget, Outcome, Status
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.pips.puzzle import Puzzle
from tests.drawn import drawn
from tests.solvers.pips.boards import Payload, payloads, puzzle_of, rectangle, unconstrained

COUNT, FIRST, ALL = Ask(kind="count"), Ask(kind="first"), Ask(kind="all")
ASKS = (COUNT, FIRST, ALL, Ask(kind="all", limit=1), Ask(kind="all", limit=7))
Answer = tuple[Status, int | None, tuple[Any, ...], bool, str]


def answer(outcome: Outcome[Any]) -> Answer:
    return (
        outcome.status,
        outcome.count,
        outcome.solutions,
        outcome.truncated,
        outcome.reason,
    )


def parts_of(pips: Game[Any, Any], puzzle: Puzzle, ask: Ask, part: Any, into: int) -> list[Any]:
    """Split and send every part through JSON, as a run's manifest would."""
    parts = pips.split(puzzle, ask, part, into)
    assert parts
    return [json.loads(json.dumps(p)) for p in parts]


def by_splitting_again(
    pips: Game[Any, Any], puzzle: Puzzle, ask: Ask, part: Any, rng: random.Random, depth: int
) -> Outcome[Any]:
    """Split a part at random, its parts again, and merge level by level."""
    if depth == 0 or (part is not None and rng.random() < 0.4):
        return pips.solve(puzzle, ask, part)
    parts = parts_of(pips, puzzle, ask, part, rng.randint(1, 6))
    return pips.merge(
        puzzle, ask, [by_splitting_again(pips, puzzle, ask, p, rng, depth - 1) for p in parts]
    )


def leaves_of(
    pips: Game[Any, Any], puzzle: Puzzle, ask: Ask, part: Any, rng: random.Random, depth: int
) -> list[Any]:
    if depth == 0 or (part is not None and rng.random() < 0.4):
        return [part]
    parts = parts_of(pips, puzzle, ask, part, rng.randint(1, 6))
    return [leaf for p in parts for leaf in leaves_of(pips, puzzle, ask, p, rng, depth - 1)]


@pytest.mark.slow
@pytest.mark.parametrize("ask", ASKS, ids=str)
@settings(max_examples=drawn(20), deadline=None)
@given(payload=payloads(min_dominoes=2, max_dominoes=5), data=st.data())
def test_every_split_merges_to_the_whole(
    pips: Game[Any, Any], ask: Ask, payload: Payload, data: st.DataObject
) -> None:
    puzzle = puzzle_of(payload)
    whole = answer(pips.solve(puzzle, ask))
    for into in range(1, 21) if data.draw(st.booleans()) else (2, 3, 20):
        parts = parts_of(pips, puzzle, ask, None, into)
        outcomes = [pips.solve(puzzle, ask, part) for part in parts]
        assert answer(pips.merge(puzzle, ask, outcomes)) == whole


@pytest.mark.parametrize("ask", ASKS, ids=str)
@settings(max_examples=drawn(25), deadline=None)
@given(payload=payloads(min_dominoes=3, max_dominoes=5), seed=st.integers(0, 2**32))
def test_parts_split_again_merge_to_the_whole(
    pips: Game[Any, Any], ask: Ask, payload: Payload, seed: int
) -> None:
    puzzle = puzzle_of(payload)
    whole = answer(pips.solve(puzzle, ask))
    nested = by_splitting_again(pips, puzzle, ask, None, random.Random(seed), 4)
    assert answer(nested) == whole
    leaves = leaves_of(pips, puzzle, ask, None, random.Random(seed), 4)
    outcomes = [pips.solve(puzzle, ask, leaf) for leaf in leaves]
    assert answer(pips.merge(puzzle, ask, outcomes)) == whole


@settings(max_examples=drawn(25), deadline=None)
@given(payload=payloads(min_dominoes=2, max_dominoes=5), seed=st.integers(0, 2**32))
def test_parts_of_all_joined_are_the_stream_of_the_whole(
    pips: Game[Any, Any], payload: Payload, seed: int
) -> None:
    puzzle = puzzle_of(payload)
    whole = list(pips.stream(puzzle, ALL))
    leaves = leaves_of(pips, puzzle, ALL, None, random.Random(seed), 4)
    assert [solution for leaf in leaves for solution in pips.stream(puzzle, ALL, leaf)] == whole
    skip = seed % (len(whole) + 2)
    for limit in (None, 1, 3):
        stream = pips.stream(puzzle, Ask(kind="all", limit=limit))
        stream.skip = skip
        assert list(stream) == whole[skip:][:limit]
    texts = [json.dumps(pips.solution_to_json(s), separators=(",", ":")) for s in whole]
    assert [pips.solution_text(solution) for solution in whole] == texts


@pytest.mark.parametrize("into", [1, 2, 3, 7, 16, 20, 100, 1000])
def test_a_board_with_many_tilings_splits_into_about_as_many_parts_as_requested(
    pips: Game[Any, Any], into: int
) -> None:
    puzzle = puzzle_of(unconstrained(rectangle(4, 6), [(0, 1), (1, 2), (2, 3)] * 4))
    whole = pips.solve(puzzle, COUNT)
    parts = parts_of(pips, puzzle, COUNT, None, into)
    if into <= 20:
        assert into / 3 <= len(parts) <= 4 * into
    outcomes = [pips.solve(puzzle, COUNT, part) for part in parts]
    assert answer(pips.merge(puzzle, COUNT, outcomes)) == answer(whole)


@pytest.mark.long(short="tests/solvers/pips/test_split.py::test_every_split_merges_to_the_whole")
@pytest.mark.slow
def test_splitting_on_and_on_ends_with_single_tilings(pips: Game[Any, Any]) -> None:
    puzzle = puzzle_of(unconstrained(rectangle(2, 5), [(0, 1), (1, 2), (2, 3), (0, 0), (1, 1)]))
    pending, done = [None], []
    while pending:
        part = pending.pop()
        parts = parts_of(pips, puzzle, COUNT, part, 2)
        if len(parts) == 1:
            done.append(parts[0])
        else:
            pending += parts
        assert len(done) + len(pending) < 10_000
    outcomes = [pips.solve(puzzle, COUNT, part) for part in done]
    assert answer(pips.merge(puzzle, COUNT, outcomes)) == answer(pips.solve(puzzle, COUNT))


def test_an_unsolvable_board_splits_and_merges_to_unsolvable(pips: Game[Any, Any]) -> None:
    puzzle = puzzle_of(unconstrained([(0, 0), (0, 2), (1, 1), (2, 2)], [(0, 1), (1, 1)]))
    for ask in ASKS:
        parts = parts_of(pips, puzzle, ask, None, 5)
        outcomes = [pips.solve(puzzle, ask, part) for part in parts]
        assert answer(pips.merge(puzzle, ask, outcomes)) == answer(pips.solve(puzzle, ask))


def test_a_part_over_budget_makes_the_count_over_budget(pips: Game[Any, Any]) -> None:
    puzzle = puzzle_of(unconstrained(rectangle(4, 6), [(0, 1), (1, 2), (2, 3), (3, 4)] * 3))
    parts = parts_of(pips, puzzle, COUNT, None, 4)
    outcomes = [pips.solve(puzzle, COUNT, part) for part in parts[:-1]]
    outcomes.append(pips.solve(puzzle, COUNT, parts[-1], Budget(nodes=1)))
    assert outcomes[-1].status is Status.OVER_BUDGET
    merged = pips.merge(puzzle, COUNT, outcomes)
    assert merged.status is Status.OVER_BUDGET
    assert merged.count is None
    assert merged.reason


def test_costs_of_parts_add_up(pips: Game[Any, Any]) -> None:
    puzzle = puzzle_of(unconstrained(rectangle(4, 5), [(0, 1), (1, 2)] * 5))
    outcomes = [pips.solve(puzzle, COUNT, part) for part in parts_of(pips, puzzle, COUNT, None, 4)]
    merged = pips.merge(puzzle, COUNT, outcomes).statistics
    assert merged.nodes == sum(o.statistics.nodes for o in outcomes)
    assert merged.states == sum(o.statistics.states for o in outcomes)
    assert merged.table_bytes == max(o.statistics.table_bytes for o in outcomes)

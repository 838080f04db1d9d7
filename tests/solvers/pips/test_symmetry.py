"""Symmetries of a board do not change its count."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.game_contract import Game
from nightgrid.solvers.pips.regions import MAX_PIP
from tests.drawn import drawn
from tests.oracles.brute_force import Cell
from tests.solvers.pips.boards import Payload, payloads, puzzle_of

COUNT = Ask(kind="count")
TARGETED = ("sum", "less", "greater")
BOARDS = payloads(max_dominoes=9, min_regions_per_domino=0.8)


def count_of(pips: Game[Any, Any], payload: Payload) -> int:
    count = pips.solve(puzzle_of(payload), COUNT).count
    assert count is not None
    return count


def with_cells(payload: Payload, move: Callable[[int, int], Cell]) -> Payload:
    regions = [
        r | {"indices": [list(move(*cell)) for cell in r["indices"]]} for r in payload["regions"]
    ]
    return payload | {"regions": regions}


MOVES: dict[str, Callable[[int, int], Cell]] = {
    "transposed": lambda r, c: (c, r),
    "turned": lambda r, c: (c, 20 - r),
    "upside down": lambda r, c: (20 - r, c),
    "mirrored": lambda r, c: (r, 20 - c),
    "turned half": lambda r, c: (20 - r, 20 - c),
    "moved": lambda r, c: (r + 9000, c + 17),
}


@pytest.mark.parametrize("name", MOVES)
@settings(max_examples=drawn(25), deadline=None)
@given(payload=BOARDS)
def test_a_moved_board_has_the_same_count(
    pips: Game[Any, Any], name: str, payload: Payload
) -> None:
    assert count_of(pips, with_cells(payload, MOVES[name])) == count_of(pips, payload)


@settings(max_examples=drawn(40), deadline=None)
@given(payload=BOARDS, seed=st.integers(0, 2**32))
def test_the_order_in_which_a_board_is_written_changes_nothing(
    pips: Game[Any, Any], payload: Payload, seed: int
) -> None:
    rng = random.Random(seed)
    dominoes = [d if rng.random() < 0.5 else d[::-1] for d in payload["dominoes"]]
    rng.shuffle(dominoes)
    regions = [
        r | {"indices": rng.sample(r["indices"], len(r["indices"]))} for r in payload["regions"]
    ]
    rng.shuffle(regions)
    shuffled = {"regions": regions, "dominoes": dominoes, "constructors": "somebody"}
    one, other = puzzle_of(payload), puzzle_of(shuffled)
    assert one == other
    assert one.puzzle_id == other.puzzle_id == pips.puzzle_id(one)
    assert pips.solve(one, Ask(kind="all", limit=5)).solutions == (
        pips.solve(other, Ask(kind="all", limit=5)).solutions
    )


@settings(max_examples=drawn(60), deadline=None)
@given(payload=BOARDS, factor=st.integers(1, 3), shift=st.integers(0, 50))
def test_pips_stretched_and_shifted_with_their_targets_have_the_same_count(
    pips: Game[Any, Any], payload: Payload, factor: int, shift: int
) -> None:
    assume(max(map(max, payload["dominoes"])) * factor + shift <= MAX_PIP)
    regions = [
        r | {"target": factor * r["target"] + shift * len(r["indices"])}
        if r["type"] in TARGETED
        else r
        for r in payload["regions"]
    ]
    dominoes = [[factor * pip + shift for pip in d] for d in payload["dominoes"]]
    changed = {"regions": regions, "dominoes": dominoes}
    assert count_of(pips, changed) == count_of(pips, payload)


@settings(max_examples=drawn(60), deadline=None)
@given(payload=BOARDS)
def test_pips_counted_from_the_top_swap_less_and_greater(
    pips: Game[Any, Any], payload: Payload
) -> None:
    top = max(map(max, payload["dominoes"]))
    swapped = {"sum": "sum", "less": "greater", "greater": "less"}
    regions = [
        r | {"type": swapped[r["type"]], "target": top * len(r["indices"]) - r["target"]}
        if r["type"] in TARGETED
        else r
        for r in payload["regions"]
    ]
    assume(all(r.get("target", 0) >= 0 for r in regions))
    dominoes = [[top - pip for pip in d] for d in payload["dominoes"]]
    changed = {"regions": regions, "dominoes": dominoes}
    assert count_of(pips, changed) == count_of(pips, payload)


@pytest.mark.slow
@settings(max_examples=drawn(60), deadline=None)
@given(payload=BOARDS, seed=st.integers(0, 2**32))
def test_pips_renamed_without_sums_have_the_same_count(
    pips: Game[Any, Any], payload: Payload, seed: int
) -> None:
    regions = [
        {"type": "unequal" if r["type"] == "sum" else "empty", "indices": r["indices"]}
        if r["type"] in TARGETED
        else r
        for r in payload["regions"]
    ]
    pip_set = sorted({pip for d in payload["dominoes"] for pip in d})
    names = random.Random(seed).sample(range(100), len(pip_set))
    renamed = dict(zip(pip_set, names, strict=True))
    dominoes = [[renamed[pip] for pip in d] for d in payload["dominoes"]]
    changed = {"regions": regions, "dominoes": dominoes}
    assert count_of(pips, changed) == count_of(pips, payload | {"regions": regions})


@settings(max_examples=drawn(40), deadline=None)
@given(payload=BOARDS)
def test_another_board_has_another_id(payload: Payload) -> None:
    puzzle = puzzle_of(payload)
    more = payload | {"dominoes": [*payload["dominoes"][1:], [77, 78]]}
    assert puzzle_of(more).puzzle_id != puzzle.puzzle_id
    moved = with_cells(payload, lambda r, c: (r + 1, c))
    assert puzzle_of(moved).puzzle_id != puzzle.puzzle_id
    assert puzzle_of(puzzle.to_json()).puzzle_id == puzzle.puzzle_id

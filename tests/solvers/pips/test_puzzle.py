"""A board that breaks a rule is refused with the rule and the place, without other errors."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.errors import InvalidPuzzleError
from nightgrid.solvers.pips.puzzle import Puzzle
from nightgrid.solvers.pips.regions import (
    MAX_CELLS,
    MAX_COORDINATE,
    MAX_PIP,
    MAX_TARGET,
    Region,
    RegionType,
)
from tests.drawn import drawn
from tests.solvers.pips.boards import Payload, payloads


def valid() -> Payload:
    return {
        "dominoes": [[0, 1], [2, 3]],
        "regions": [
            {"type": "sum", "target": 3, "indices": [[0, 0], [0, 1]]},
            {"type": "empty", "indices": [[1, 0], [1, 1]]},
        ],
    }


Change = Callable[[Payload], Any]


def put(value: Any, *path: str | int) -> Change:
    def change(payload: Payload) -> Payload:
        spot: Any = payload
        for key in path[:-1]:
            spot = spot[key]
        spot[path[-1]] = value
        return payload

    return change


def drop(*path: str | int) -> Change:
    def change(payload: Payload) -> Payload:
        spot: Any = payload
        for key in path[:-1]:
            spot = spot[key]
        del spot[path[-1]]
        return payload

    return change


BROKEN: list[tuple[str, str, Change]] = [
    ("not-an-object", "", lambda _: []),
    ("not-an-object", "", lambda _: None),
    ("not-an-object", "regions[1]", put(7, "regions", 1)),
    ("missing-key", "dominoes", drop("dominoes")),
    ("missing-key", "regions", drop("regions")),
    ("missing-key", "regions[0].indices", drop("regions", 0, "indices")),
    ("not-a-list", "dominoes", put(None, "dominoes")),
    ("not-a-list", "regions", put({}, "regions")),
    ("not-a-list", "regions[1].indices", put("x", "regions", 1, "indices")),
    ("empty-list", "dominoes", put([], "dominoes")),
    ("empty-list", "regions", put([], "regions")),
    ("empty-list", "regions[1].indices", put([], "regions", 1, "indices")),
    ("too-many-items", "dominoes", put([[0, 0]] * (MAX_CELLS // 2 + 1), "dominoes")),
    ("too-many-items", "regions", put([{}] * (MAX_CELLS + 1), "regions")),
    (
        "too-many-items",
        "regions[1].indices",
        put([[9, 9]] * (MAX_CELLS + 1), "regions", 1, "indices"),
    ),
    ("bad-domino", "dominoes[1]", put([1, 2, 3], "dominoes", 1)),
    ("bad-domino", "dominoes[0]", put("12", "dominoes", 0)),
    ("bad-cell", "regions[0].indices[1]", put([1], "regions", 0, "indices", 1)),
    ("not-an-integer", "dominoes[1][0]", put(1.5, "dominoes", 1, 0)),
    ("not-an-integer", "dominoes[1][0]", put(True, "dominoes", 1, 0)),
    ("not-an-integer", "dominoes[1][0]", put(float("nan"), "dominoes", 1, 0)),
    ("not-an-integer", "regions[0].indices[0][1]", put("1", "regions", 0, "indices", 0, 1)),
    ("not-an-integer", "regions[0].target", put("3", "regions", 0, "target")),
    ("negative-pip", "dominoes[1][1]", put(-1, "dominoes", 1, 1)),
    ("negative-coordinate", "regions[0].indices[0][0]", put(-1, "regions", 0, "indices", 0, 0)),
    ("negative-target", "regions[0].target", put(-3, "regions", 0, "target")),
    ("pip-too-large", "dominoes[0][1]", put(MAX_PIP + 1, "dominoes", 0, 1)),
    ("pip-too-large", "dominoes[0][1]", put(10**5000, "dominoes", 0, 1)),
    (
        "coordinate-too-large",
        "regions[0].indices[0][0]",
        put(MAX_COORDINATE + 1, "regions", 0, "indices", 0, 0),
    ),
    ("target-too-large", "regions[0].target", put(MAX_TARGET + 1, "regions", 0, "target")),
    ("unknown-region-type", "regions[0].type", put("product", "regions", 0, "type")),
    ("unknown-region-type", "regions[0].type", put(["sum"], "regions", 0, "type")),
    ("unknown-region-type", "regions[0].type", drop("regions", 0, "type")),
    ("missing-target", "regions[0].target", drop("regions", 0, "target")),
    ("missing-target", "regions[0].target", put(None, "regions", 0, "target")),
    ("unexpected-target", "regions[1].target", put(3, "regions", 1, "target")),
    ("duplicate-cell", "regions[0].indices[1]", put([0, 0], "regions", 0, "indices", 1)),
    ("region-overlap", "regions[1].indices[0]", put([0, 1], "regions", 1, "indices", 0)),
    ("odd-cells", "regions", drop("regions", 1, "indices", 1)),
    ("domino-count", "dominoes", drop("dominoes", 1)),
    ("domino-count", "dominoes", put([[0, 1]] * 3, "dominoes")),
    ("duplicate-cell", "cells[1]", put([[0, 0], [0, 0]], "cells")),
    ("uncovered-cell", "cells[1]", put([[0, 0], [7, 7]], "cells")),
    ("cell-off-board", "regions[1].indices[1]", put([[0, 0], [0, 1], [1, 0]], "cells")),
    ("not-a-list", "cells", put(5, "cells")),
    ("bad-cell", "cells[0]", put([5], "cells")),
]


@pytest.mark.parametrize(
    ("rule", "place", "change"),
    BROKEN,
    ids=[f"{i}-{rule}" for i, (rule, _, _) in enumerate(BROKEN)],
)
def test_every_broken_rule_is_named_with_its_place(rule: str, place: str, change: Change) -> None:
    for prefix in ("", "easy"):
        with pytest.raises(InvalidPuzzleError) as caught:
            Puzzle.from_json(change(valid()), prefix)
        error = caught.value
        expected = ".".join(filter(None, (prefix, place)))
        assert (error.rule, error.place) == (rule, expected)
        assert str(error).startswith(f"{expected}: " if expected else "")
        assert len(str(error)) < 300
        assert "\n" not in str(error)


def test_the_board_that_the_changes_start_from_is_valid() -> None:
    assert len(Puzzle.from_json(valid()).cells) == 4
    covered = valid() | {"cells": [[1, 1], [0, 0], [1, 0], [0, 1]]}
    assert Puzzle.from_json(covered) == Puzzle.from_json(valid())


EMPTY = RegionType.EMPTY


@pytest.mark.parametrize(
    ("rule", "regions", "dominoes"),
    [
        ("empty-list", (), ((0, 1),)),
        ("empty-list", (Region(cells=(), type=EMPTY),), ()),
        ("coordinate-out-of-range", (Region(cells=((-1, 0), (0, 0)), type=EMPTY),), ((0, 1),)),
        (
            "coordinate-out-of-range",
            (Region(cells=((0, MAX_COORDINATE + 1), (0, 0)), type=EMPTY),),
            ((0, 1),),
        ),
        (
            "target-out-of-range",
            (Region(cells=((0, 1), (0, 0)), type=RegionType.SUM, target=-1),),
            ((0, 1),),
        ),
        ("missing-target", (Region(cells=((0, 1), (0, 0)), type=RegionType.LESS),), ((0, 1),)),
        ("negative-pip", (Region(cells=((0, 1), (0, 0)), type=EMPTY),), ((0, -1),)),
        ("pip-too-large", (Region(cells=((0, 1), (0, 0)), type=EMPTY),), ((0, MAX_PIP + 1),)),
        ("odd-cells", (Region(cells=((0, 1),), type=EMPTY),), ((0, 1),)),
        ("domino-count", (Region(cells=((0, 1), (0, 0)), type=EMPTY),), ()),
        ("too-many-items",
         tuple(Region(cells=((i // 100, i % 100),), type=EMPTY) for i in range(MAX_CELLS + 2)),
         ((0, 1),) * (MAX_CELLS // 2 + 1)),
    ],
)  # fmt: skip
def test_a_puzzle_built_directly_is_checked_as_well(
    rule: str, regions: tuple[Region, ...], dominoes: tuple[tuple[int, int], ...]
) -> None:
    with pytest.raises(InvalidPuzzleError) as caught:
        Puzzle(regions=regions, dominoes=dominoes)
    assert caught.value.rule == rule


@settings(max_examples=drawn(60), deadline=None)
@given(payload=payloads())
def test_a_puzzle_written_and_read_again_is_the_same(payload: Payload) -> None:
    puzzle = Puzzle.from_json(payload)
    again = Puzzle.from_json(json.loads(json.dumps(puzzle.to_json())))
    assert again == puzzle
    assert again.puzzle_id == puzzle.puzzle_id
    assert puzzle.to_json() == again.to_json()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**400), 10**400)
    | st.floats()
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["dominoes", "regions", "indices", "type", "target", "cells", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def read(value: Any) -> Puzzle | None:
    """Read a value; anything but InvalidPuzzleError escapes and fails the test."""
    try:
        return Puzzle.from_json(value)
    except InvalidPuzzleError as error:
        broken = error
    assert broken.rule
    assert len(str(broken)) < 1000
    return None


@settings(max_examples=drawn(200), deadline=None)
@given(value=JSON)
def test_no_json_value_raises_anything_else(value: Any) -> None:
    read(value)


@pytest.mark.slow
@settings(max_examples=drawn(300), deadline=None)
@given(payload=payloads(max_dominoes=3), data=st.data())
def test_no_damaged_board_raises_anything_else(payload: Payload, data: st.DataObject) -> None:
    value: Any = copy.deepcopy(payload)
    for _ in range(data.draw(st.integers(1, 3))):
        spot, path = value, []
        while isinstance(spot, list | dict) and spot and data.draw(st.integers(0, 4)) > 0:
            keys = list(spot) if isinstance(spot, dict) else list(range(len(spot)))
            path.append((spot, data.draw(st.sampled_from(keys))))
            spot = spot[path[-1][1]]
        if not path:
            continue
        holder, key = path[-1]
        match data.draw(st.sampled_from(["replace", "delete", "double"])):
            case "replace":
                holder[key] = data.draw(JSON)
            case "delete":
                del holder[key]
            case "double" if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
    puzzle = read(value)
    if puzzle is not None:
        assert 2 * len(puzzle.dominoes) == len(puzzle.cells) == len(set(puzzle.cells))


def test_a_deeply_nested_value_is_refused() -> None:
    deep: Any = []
    for _ in range(50_000):
        deep = [deep]
    for path in (("dominoes",), ("dominoes", 0), ("regions", 0, "indices", 0, 0)):
        assert read(put(deep, *path)(valid())) is None

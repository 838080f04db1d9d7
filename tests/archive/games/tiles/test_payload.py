from __future__ import annotations

import datetime as dt
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightgrid.archive.games import reader
from nightgrid.archive.games.tiles.payload import read_payload, read_puzzles
from nightgrid.archive.payloads.published import Fault, Published
from nightgrid.solvers.tiles.puzzle import Puzzle

PAGE = {
    "board": [
        {"layers": [{"id": "A1", "hidden": False}, {"id": "B1", "hidden": True}]},
        {"layers": [{"id": "A1", "hidden": False}, {"id": "B2", "hidden": True}]},
        {"layers": [{"id": "A2", "hidden": True}, {"id": "B2", "hidden": True}]},
    ]
}
BOARD = Puzzle(tiles=(("A1",), ("A1",), ()))


def read(value: object) -> Published | Fault:
    (item,) = read_puzzles(json.dumps(value).encode(), "board.json")
    return item


def test_a_hidden_layer_is_a_feature_that_is_gone() -> None:
    for value in (PAGE, PAGE["board"], {**PAGE, "moves": 7}):
        item = read(value)
        assert isinstance(item, Published)
        assert (item.puzzle, item.date, item.level) == (BOARD, None, None)


def test_our_own_form_is_read_back() -> None:
    for value in (BOARD.to_json(), BOARD.to_json()["tiles"]):
        item = read(value)
        assert isinstance(item, Published)
        assert item.puzzle == BOARD


def test_nothing_may_follow_a_list_by_itself() -> None:
    (item,) = read_puzzles(b'[["A"], ["A"]], "game": "tiles"', "board.json")
    assert isinstance(item, Fault)
    assert item.rule == "trailing-data"


@pytest.mark.parametrize(
    ("value", "rule", "place"),
    [
        ({}, "no-puzzle", ""),
        ({"board": 3}, "board-type", "board"),
        ({"board": []}, "tile-count", "board"),
        ({"board": [{"layers": 1}]}, "tile-type", "board[0]"),
        ({"board": [{"layers": [1]}]}, "layer-type", "board[0].layers[0]"),
        ({"board": [{"layers": [{"id": ""}]}]}, "layer-id", "board[0].layers[0].id"),
        ({"board": [{"layers": [{"id": 4}]}]}, "not-text", "board[0].layers[0].id"),
        ({"board": [{"layers": [{"id": "x" * 999}]}]}, "text-too-long", "board[0].layers[0].id"),
        (
            {"board": [{"layers": [{"id": "A", "hidden": 1}]}]},
            "layer-hidden",
            "board[0].layers[0].hidden",
        ),
        ({"board": [{"layers": [{"id": "A"}, {"id": "A"}]}]}, "feature-twice", "board[0]"),
        ({"board": [], "tiles": []}, "two-boards", "tiles"),
        ({"game": "pips", "tiles": []}, "wrong-game", "game"),
        ({"tiles": [["A", 1]]}, "not-text", "tiles[0][1]"),
        ({"tiles": [["\ud800"]]}, "not-utf-8", "tiles[0][0]"),
    ],
)
def test_a_fault_names_its_rule_and_place(value: object, rule: str, place: str) -> None:
    item = read(value)
    assert isinstance(item, Fault)
    assert (item.rule, item.place) == (rule, place)
    assert item.message.endswith("(in board.json)")


@given(
    st.binary(max_size=40) | st.text(alphabet='[]{}":,bordtiles01 ', max_size=40).map(str.encode)
)
def test_no_bytes_make_it_raise(data: bytes) -> None:
    assert read_puzzles(data, "x")
    assert read_puzzles(b"[" + data, "x")


def test_no_date_has_a_board() -> None:
    (fault,) = read_payload(json.dumps(PAGE).encode(), dt.date(2026, 1, 1))
    assert isinstance(fault, Fault)
    assert fault.rule == "no-dated-payload"
    assert reader("tiles").GAME == "tiles"

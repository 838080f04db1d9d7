"""Drawings of Tiles: exact ones for a small board, and boards of any size and any features."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.service.games.tiles import view
from nightgrid.service.games.tiles.view import TELEPORT, TILES_MAX, layout, played
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.tiles.puzzle import Puzzle
from nightgrid.solvers.tiles.solution import Walk
from tests.drawn import drawn

SVG = "{http://www.w3.org/2000/svg}"
SMALL = Puzzle(tiles=(("A1", "B1"), ("A1", "B2"), ("A2", "B1"), ("A2", "B2")))
WALK = Walk(tiles=(0, 1, 3, 2, 0))
LEAP = Puzzle(tiles=(("A1",), ("A1",), ("A2",), ("A2",)))
LEAP_WALK = Walk(tiles=(0, 1, 2, 3), teleports=(2,))


def test_each_feature_is_in_the_line_of_its_layer() -> None:
    assert view.board(SMALL).plain == (
        "┌1───┬2───┐\n"
        "│ A1 │ A1 │\n"
        "│ B1 │ B2 │\n"
        "├3───┼4───┤\n"
        "│ A2 │ A2 │\n"
        "│ B1 │ B2 │\n"
        "└────┴────┘"
    )  # fmt: skip


def test_solution_numbers_the_moves_that_clear() -> None:
    assert view.solution(SMALL, WALK).plain == (
        "┌1──────┬2──────┐\n"
        "│ A1  1 │ A1  1 │\n"
        "│ B1  4 │ B2  2 │\n"
        "├3──────┼4──────┤\n"
        "│ A2  3 │ A2  3 │\n"
        "│ B1  4 │ B2  2 │\n"
        "└───────┴───────┘\n"
        "\n"
        "Start on tile 1. Then go to\n"
        "1. 2 A1 · 2. 4 B2 · 3. 3 A2 · 4. 1 B1"
    )


def test_teleports_are_marked() -> None:
    text = view.solution(LEAP, LEAP_WALK).plain
    assert f"1. 2 A1 · 2. {TELEPORT} 3 · 3. 4 A2" in text
    assert text.endswith("is a teleport: the two tiles share nothing.")
    svg = ET.fromstring(view.svg(LEAP, LEAP_WALK, None))
    texts = ["".join(element.itertext()) for element in svg.findall(f".//{SVG}text")]
    assert {"0", "1", f"{TELEPORT}2", "3"} <= set(texts)
    assert any("is a teleport" in text for text in texts)


def test_view_describes_boards_and_walks() -> None:
    assert view.describe(SMALL) == "4 tiles, 4 features"
    assert view.line(WALK) == "4 moves: 1 2 4 3 1"
    assert view.value(23, "teleports=yes") == "23 moves"
    assert played(LEAP, LEAP_WALK) == ((), ("A1",), (), ("A2",))


def test_published_boards_have_five_rows_of_six() -> None:
    def columns(tiles: int) -> int:
        return layout(Puzzle(tiles=(("A1",),) * tiles)).columns

    assert [columns(n) for n in (1, 2, 4, 12, 30)] == [1, 2, 2, 4, 6]


def test_boards_too_large_are_reported() -> None:
    large = Puzzle(tiles=(("A1",),) * (TILES_MAX + 2))
    assert view.board(large).plain == "(402 tiles are too large to draw)"
    crowded = Puzzle(tiles=(tuple(f"A{i}" for i in range(50)),) * 2)
    assert view.board(crowded).plain == "(tiles of 50 features are too large to draw)"
    for board in (large, crowded):
        with pytest.raises(PermanentError, match="too large for a picture"):
            view.svg(board, None, None)


@given(
    tiles=st.lists(
        st.lists(st.text(max_size=12), max_size=6, unique=True), min_size=1, max_size=20
    ),
    layered=st.booleans(),
)
@settings(max_examples=drawn(40), deadline=None)
def test_any_board_is_drawn_with_straight_edges(tiles: list[list[str]], layered: bool) -> None:
    if layered:
        tiles = [[f"{chr(65 + i)}{len(f) + 1}" for i, f in enumerate(tile)] for tile in tiles]
    board = Puzzle(tiles=tuple(map(tuple, tiles)))
    how = layout(board)
    most = max(map(len, tiles))
    assert how.has_figures or not (layered and 0 < most <= 3)
    assert how.rows * how.columns >= len(tiles) > (how.rows - 1) * how.columns
    lines = view.board(board).plain.split("\n")
    assert len({len(line) for line in lines}) == 1
    svg = ET.fromstring(view.svg(board, None, "t\x00"))
    assert len(svg.findall(f".//{SVG}rect")) >= 1 + len(tiles)

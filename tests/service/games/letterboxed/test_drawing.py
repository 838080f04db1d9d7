"""Drawings of Letter Boxed: a square, and properties for any polygon."""

from __future__ import annotations

import itertools
import math
import unicodedata
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.service.drawing.colours import STROKES
from nightgrid.service.drawing.text import STYLES
from nightgrid.service.games.letterboxed import view
from nightgrid.service.games.letterboxed.view import (
    STEP_PX,
    draw_board,
    draw_svg,
    list_words,
    polygon,
)
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.letterboxed import check
from nightgrid.solvers.letterboxed.puzzle import Puzzle
from nightgrid.solvers.letterboxed.solution import Chain
from tests.drawn import drawn

SVG = "{http://www.w3.org/2000/svg}"
SQUARE = Puzzle(sides=("TAP", "ERD", "NIL", "YCO"))
CHAIN = Chain(words=("PLACITORY", "YEALDON"))


def elements(svg: str, tag: str) -> list[ET.Element]:
    return ET.fromstring(svg).findall(f".//{SVG}{tag}")


def test_square_is_drawn_with_its_letters_outside() -> None:
    lines = view.board(SQUARE).plain.split("\n")
    assert lines[0].split() == ["T", "A", "P"]
    assert lines[-1].split() == ["N", "I", "L"]
    upright = [line for line in lines[1:-1] if line[0] != " "]
    assert [(line[0], line[-1]) for line in upright] == [("Y", "E"), ("C", "R"), ("O", "D")]
    assert view.board(SQUARE).plain.count("○") == 12


def test_words_begin_at_their_numbers_and_every_letter_is_collected() -> None:
    text = view.solution(SQUARE, CHAIN).plain
    board, words = text.split("\n\n")
    assert words == "① PLACITORY ⠒⠒⠒   ② YEALDON ⠒ ⠒"
    assert (board.count("①"), board.count("②"), board.count("●"), board.count("○")) == (1, 1, 10, 0)
    assert board.split("\n")[1].index("①") == text.split("\n")[0].index("P")


def test_words_have_styles_of_their_own() -> None:
    assert {*STYLES[:2]} <= {span.style for span in view.solution(SQUARE, CHAIN).spans}
    many = [f"WORD{i}" for i in range(40)]
    lines = list_words(many).plain.split("\n")
    assert len(lines) > 1
    assert all(len(line) <= 76 for line in lines)
    assert "⑳ WORD19" in list_words(many).plain
    assert "● WORD20" in list_words(many).plain


def test_boards_too_large_to_draw_are_reported() -> None:
    large = Puzzle(sides=("ABC",) * 63 + ("D" * 500,))
    assert view.board(large).plain == "(a board of 64 sides is too large to draw)"
    with pytest.raises(PermanentError, match="too large for a picture"):
        view.svg(large, None, None)


def test_view_describes_boards_and_chains() -> None:
    own = Puzzle(sides=SQUARE.sides, dictionary=CHAIN.words)
    assert view.describe(SQUARE) == "4 sides, 12 letters"
    assert view.describe(own) == "4 sides, 12 letters, 2 words"
    assert view.line(CHAIN) == "PLACITORY - YEALDON  (15 letters)"
    doubted = Chain(words=CHAIN.words, doubt=5)
    assert view.line(doubted) == "PLACITORY - YEALDON  (15 letters, 95% likely accepted)"
    assert view.value(2, "chains=fewest-words min_letters=3") == "2 words"
    assert view.value(1, "chains=3 min_letters=3") == "1 word"
    assert view.value(12, "chains=fewest-letters min_letters=3") == "12 letters"


def test_picture_numbers_every_stroke_in_the_colour_of_its_word() -> None:
    svg = view.svg(SQUARE, CHAIN, "A & B")
    paths = elements(svg, "path")
    assert [path.get("stroke") for path in paths] == [STROKES[0]] * 8 + [STROKES[1]] * 6
    texts = [element.text for element in elements(svg, "text")]
    assert set(texts) >= {*"TAPERDNILYCO", *map(str, range(1, 15))}
    spans = [(e.text or "").replace("\u00a0", " ") for e in ET.fromstring(svg).iter(f"{SVG}tspan")]
    assert spans == ["A & B", "PLACITORY", " 1-8 · ", "YEALDON", " 9-14"]
    title = ET.fromstring(svg).findtext(f"{SVG}title")
    assert title == "A & B: TAP - ERD - NIL - YCO: PLACITORY, YEALDON"
    assert svg == view.svg(SQUARE, CHAIN, "A & B")


def test_strokes_between_the_same_letters_are_bent_apart() -> None:
    board = Puzzle(sides=("A", "B"))
    chain = Chain(words=("ABA", "ABAB"))
    places = [[(0, 0), (1, 0), (0, 0)], [(0, 0), (1, 0), (0, 0), (1, 0)]]
    svg = draw_svg(board, chain.words, places)
    bends = [element.get("d", "").split("Q")[1].split()[:2] for element in elements(svg, "path")]
    assert len(set(map(tuple, bends))) == 5


@pytest.mark.parametrize("sides", range(1, 9))
def test_polygon_is_regular_and_its_first_side_lies_on_top(sides: int) -> None:
    shape = polygon([3] * sides)
    for i in range(sides):
        first, middle, last = (shape.at[i, j] for j in range(3))
        assert math.isclose(abs(last - first), 0.5)
        x, y = (last - first).real, (last - first).imag
        assert x > 1e-9 or (abs(x) < 1e-9 and y > 0), "read from the left"
        assert math.isclose(abs(shape.outward[i]), 1)
        if sides > 2:
            out = (middle - shape.size / 2) * shape.outward[i].conjugate()
            assert out.real > 0, "out of the middle"
    if sides % 2 == 0 or sides < 3:
        assert all(math.isclose(shape.at[0, j].imag, 0, abs_tol=1e-9) for j in range(3))


@given(
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=9),
    route=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 4)), min_size=1, max_size=12),
)
@settings(max_examples=drawn(40), deadline=None)
def test_every_letter_of_any_polygon_is_drawn_once(
    sizes: list[int], route: list[tuple[int, int]]
) -> None:
    letters = iter("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    board = Puzzle.__new__(Puzzle)  # Letters of both cases, so that all differ.
    object.__setattr__(
        board, "sides", tuple("".join(itertools.islice(letters, size)) for size in sizes)
    )
    word = [(side % len(sizes), place % sizes[side % len(sizes)]) for side, place in route]
    text = draw_board(board, [word]).plain
    drawn = [c for c in text if c.isascii() and c.isalpha()]
    assert sorted(drawn) == sorted("".join(board.sides))
    marks = [c for c in text if c in "○●" or unicodedata.category(c) == "No"]
    assert len(marks) == sum(sizes)
    assert len(marks) - marks.count("○") == len(set(word))
    svg = draw_svg(board, ["W"], [word])
    nodes = [e for e in elements(svg, "circle") if e.get("stroke")]
    assert len(nodes) == sum(sizes)
    spots = [(float(e.get("cx", 0)), float(e.get("cy", 0))) for e in nodes]
    nearest = min((math.dist(a, b) for a, b in itertools.combinations(spots, 2)), default=STEP_PX)
    assert nearest > STEP_PX / 3


def test_a_chain_with_too_many_ways_of_playing_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "WAYS_MAX", 5)
    board = Puzzle(sides=("ABCD", "ABCD", "ABCD"), dictionary=("ABCD" * 3,))
    chain = Chain(words=("ABCD" * 3,))
    assert "ABCDABCDABCD" in view.solution(board, chain).plain
    assert "ABCDABCDABCD" in view.svg(board, chain, None)

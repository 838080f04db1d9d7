"""Drawings of Strands: exact ones for small boards, and properties for any board."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.service.drawing import LINE_CHARS
from nightgrid.service.drawing.colours import GOLD
from nightgrid.service.games.strands import view
from nightgrid.service.games.strands.view import (
    STEP,
    draw,
    inked,
    list_words,
)
from nightgrid.service.games.strands.view import (
    svg as draw_svg,
)
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.strands.generate import generate
from nightgrid.solvers.strands.puzzle import Cell, Puzzle
from nightgrid.solvers.strands.solution import Cover, Entry
from tests.drawn import drawn

SVG = "{http://www.w3.org/2000/svg}"
STROKES = "─│━┃╲╱╳"  # noqa: RUF001 - strokes, not letters


def entry(word: str, *path: Cell, parts: tuple[str, ...] = ()) -> Entry:
    return Entry(word=word, path=path, components=parts or (word,))


SMALL = Puzzle(board=("ABCD", "HGFE", "IJLK"))
SMALL_COVER = Cover(
    spangram=entry("HGFE", (1, 0), (1, 1), (1, 2), (1, 3), parts=("HG", "FE")),
    theme_words=(
        entry("ABCD", (0, 0), (0, 1), (0, 2), (0, 3)),
        entry("IJ", (2, 0), (2, 1)),
        entry("LK", (2, 2), (2, 3)),
    ),
    score=-1234,
)
KNOT = Puzzle(board=("AB", "CD", "EF"))
KNOT_COVER = Cover(
    spangram=entry("EF", (2, 0), (2, 1)),
    theme_words=(entry("ADCB", (0, 0), (1, 1), (1, 0), (0, 1)),),
    score=0,
)


def test_paths_are_drawn_and_the_spangram_is_heavy() -> None:
    assert draw(SMALL, SMALL_COVER).plain == (
        "A───B───C───D\n"
        "\n"
        "H━━━G━━━F━━━E\n"
        "\n"
        "I───J   L───K"
    )  # fmt: skip


def test_word_that_crosses_itself_is_drawn_as_a_cross() -> None:
    assert draw(KNOT, KNOT_COVER).plain == (
        "A   B\n"
        "  ╳\n"  # noqa: RUF001
        "C───D\n"
        "\n"
        "E━━━F"
    )  # fmt: skip


def test_words_are_listed_with_the_spangram_first_by_its_parts() -> None:
    assert list_words(SMALL_COVER).plain == "Spangram: HG FE\n3 theme words: ABCD, IJ, LK"
    loose = Cover(spangram=None, theme_words=SMALL_COVER.theme_words, score=0)
    assert list_words(loose).plain == "Words: ABCD, IJ, LK"
    one = Cover(spangram=SMALL_COVER.spangram, theme_words=SMALL_COVER.theme_words[:1], score=0)
    assert list_words(one).plain == "Spangram: HG FE\n1 theme word: ABCD"
    many = Cover(
        spangram=None, theme_words=tuple(entry("W" * (14 + i), (0, i)) for i in range(7)), score=0
    )
    lines = list_words(many).plain.split("\n")
    assert len(lines) > 1
    assert all(len(line) <= LINE_CHARS + 1 for line in lines)
    assert not any(line.endswith(" ") for line in lines)


def test_view_shows_board_solution_and_line() -> None:
    assert view.describe(SMALL) == "3 x 4 letters"
    assert view.describe(Puzzle(board=SMALL.board, theme_words=3)) == "3 x 4 letters, 3 theme words"
    assert view.board(SMALL).plain == "A   B   C   D\nH   G   F   E\nI   J   L   K"
    shown = view.solution(SMALL, SMALL_COVER).plain
    assert shown.endswith("LK\nScore: -12.34")
    assert "Score" not in view.solution(KNOT, KNOT_COVER).plain
    assert view.line(SMALL_COVER) == "-12.34  HG FE: ABCD, IJ, LK"


def test_words_without_a_path_are_listed_and_not_drawn() -> None:
    cover = Cover(spangram=entry("HGFE"), theme_words=(entry("ABCD"),), score=0)
    lines = draw(SMALL, cover).plain.split("\n")
    assert "\n".join(lines[::2]) == draw(SMALL).plain
    assert set(lines[1::2]) == {""}
    assert "HGFE" in list_words(cover).plain
    assert len(ET.fromstring(draw_svg(SMALL, cover)).findall(f".//{SVG}polyline")) == 0


def test_wide_letters_keep_the_columns() -> None:
    board = Puzzle(board=("あいう", "えおか"))
    cover = Cover(
        spangram=entry("あいう", (0, 0), (0, 1), (0, 2)),
        theme_words=(entry("えおか", (1, 0), (1, 1), (1, 2)),),
        score=0,
    )
    assert draw(board, cover).plain == "あ━━い━━う\n\nえ──お──か"
    assert draw(board).plain == "あ  い  う\nえ  お  か"


WORDS = ("CLOUD", "STORM", "BREEZE", "DRIZZLE", "THUNDER", "SLEET")


@given(seed=st.integers(0, 10_000))
@settings(max_examples=drawn(12), deadline=None)
def test_every_cell_is_drawn_once_and_every_stroke_joins_neighbours(seed: int) -> None:
    puzzle, cover = generate("WEATHERREPORT", WORDS, seed)
    lines = draw(puzzle, cover).plain.split("\n")
    grid = {(i, j): c for i, line in enumerate(lines) for j, c in enumerate(line) if c != " "}
    letters = {(i, j): c for (i, j), c in grid.items() if c not in STROKES}
    assert letters == {(2 * r, STEP * c): puzzle.board[r][c] for r in range(8) for c in range(6)}
    steps = {
        frozenset(step) for e in cover.entries for step in itertools.pairwise(e.path)
    }  # fmt: skip
    drawn = set()
    for (i, j), c in grid.items():
        r, column = i // 2, j // STEP
        if c in "─━":
            drawn.add(frozenset([(r, column), (r, column + 1)]))
        elif c in "│┃":
            drawn.add(frozenset([(r, column), (r + 1, column)]))
        if c in "╲╳":  # noqa: RUF001
            drawn.add(frozenset([(r, column), (r + 1, column + 1)]))
        if c in "╱╳":  # noqa: RUF001
            drawn.add(frozenset([(r, column + 1), (r + 1, column)]))
    assert drawn == steps


@given(seed=st.integers(0, 10_000))
@settings(max_examples=drawn(12), deadline=None)
def test_words_side_by_side_have_different_styles(seed: int) -> None:
    _, cover = generate("WEATHERREPORT", WORDS, seed)
    styles = [style for _, style, _ in inked(cover)]
    pairs = itertools.combinations(zip(cover.entries, styles, strict=True), 2)
    for (one, style), (other, other_style) in pairs:
        gaps = [
            max(abs(r - s), abs(c - d))
            for (r, c), (s, d) in itertools.product(one.path, other.path)
        ]
        assert style != other_style or min(gaps) > 1


@given(seed=st.integers(0, 10_000))
@settings(max_examples=drawn(12), deadline=None)
def test_picture_has_a_circle_a_cell_and_a_line_a_word(seed: int) -> None:
    puzzle, cover = generate("WEATHERREPORT", WORDS, seed)
    text = draw_svg(puzzle, cover, "Take an umbrella")
    assert text == draw_svg(puzzle, cover, "Take an umbrella")
    svg = ET.fromstring(text)
    width, height = int(svg.attrib["width"]), int(svg.attrib["height"])
    centres = [(int(c.attrib["cx"]), int(c.attrib["cy"])) for c in svg.findall(f".//{SVG}circle")]
    assert len(set(centres)) == len(centres) == puzzle.cell_count
    assert all(0 < x < width and 0 < y < height for x, y in centres)
    lines = {}
    for line in svg.findall(f".//{SVG}polyline"):
        points = [tuple(map(int, p.split(","))) for p in line.attrib["points"].split()]
        lines[tuple(points)] = line.attrib["stroke"]
        for (x, y), (to_x, to_y) in itertools.pairwise(points):
            assert max(abs(x - to_x), abs(y - to_y)) == centres[1][0] - centres[0][0]
    assert len(lines) == len(cover.entries)
    assert sum(map(len, lines)) == puzzle.cell_count
    assert list(lines.values()).count(GOLD) == 1


def test_picture_has_a_note_below_the_words() -> None:
    puzzle, cover = generate("WEATHERREPORT", WORDS, 3)
    svg = ET.fromstring(draw_svg(puzzle, cover, "Take an umbrella", "Best of 3 covers."))
    *_, words, noted = svg.findall(f".//{SVG}text[@class='caption']")
    assert "".join(noted.itertext()) == "Best of 3 covers."
    assert int(noted.attrib["y"]) > int(words.attrib["y"])
    assert int(noted.attrib["y"]) < int(svg.attrib["height"])


def test_picture_escapes_its_texts() -> None:
    board = Puzzle(board=("<&", '">'))
    text = draw_svg(board, None, 'a <b> & "c" \x00')
    svg = ET.fromstring(text)
    letters = [t.text for t in svg.findall(f".//{SVG}text") if "text-anchor" in t.attrib]
    assert letters == ["<", "&", '"', ">"]
    assert svg.find(f"{SVG}title").text.startswith('a <b> & "c"')
    assert "<b>" not in text


def test_boards_too_large_have_no_picture() -> None:
    with pytest.raises(PermanentError, match="too large for a picture"):
        draw_svg(Puzzle(board=("A" * 500,)))

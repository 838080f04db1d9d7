"""Placing words on a board, and making boards from words."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.strands.generate import generate
from nightgrid.solvers.strands.placing import (
    TooManySteps,
    crosses,
    place_words,
    strokes_of,
    touches_opposite_sides,
)
from nightgrid.solvers.strands.puzzle import Puzzle
from tests.drawn import drawn

SPANGRAM = "WEATHERREPORT"
WORDS = ("CLOUD", "STORM", "BREEZE", "DRIZZLE", "THUNDER", "SLEET")


@pytest.mark.slow
@given(seed=st.integers(0, 2**32))
@settings(max_examples=drawn(15), deadline=None)
def test_generated_board_is_covered_by_its_words_and_none_cross(seed: int) -> None:
    puzzle, cover = generate(SPANGRAM, WORDS, seed)
    assert (puzzle.row_count, puzzle.column_count, puzzle.theme_words) == (8, 6, 6)
    assert cover.spangram is not None
    assert {entry.word for entry in cover.theme_words} == set(WORDS)
    assert touches_opposite_sides(cover.spangram.path, puzzle)
    cells = [cell for entry in cover.entries for cell in entry.path]
    assert sorted(cells) == sorted(itertools.product(range(8), range(6)))
    for entry in cover.entries:
        assert "".join(puzzle.board[r][c] for r, c in entry.path) == entry.word
        for (r, c), (below, right) in itertools.pairwise(entry.path):
            assert max(abs(r - below), abs(c - right)) == 1
    for one, other in itertools.combinations(cover.entries, 2):
        assert not crosses(strokes_of(one.path), strokes_of(other.path))
    firsts = [min(entry.path) for entry in cover.theme_words]
    assert firsts == sorted(firsts)


def test_same_seed_makes_the_same_board_and_another_one_another() -> None:
    assert generate(SPANGRAM, WORDS, 7) == generate(SPANGRAM, WORDS, 7)
    assert generate(SPANGRAM, WORDS, 7) != generate(SPANGRAM, WORDS, 8)


def test_boards_of_other_sizes_are_made() -> None:
    puzzle, cover = generate("ABC", ["DEF", "GHI"], 1, rows=3, columns=3)
    assert puzzle.cell_count == 9
    assert len(cover.entries) == 3


@pytest.mark.parametrize(
    ("spangram", "words"), [("ABC", ["DE"]), ("ABC", ["ABC", "DEF"]), ("AB", ["", "CDEFGHI"])]
)
def test_words_that_make_no_board_are_refused(spangram: str, words: list[str]) -> None:
    with pytest.raises(PermanentError):
        generate(spangram, words, 1, rows=3, columns=3)


def test_spangram_that_reaches_no_other_side_is_refused() -> None:
    with pytest.raises(PermanentError, match="no way was found"):
        generate("AB", ["CDEFGHI"], 1, rows=3, columns=3)


@pytest.mark.slow
@given(seed=st.integers(0, 1000))
@settings(max_examples=drawn(20), deadline=None)
def test_cells_are_restored_from_bare_words(seed: int) -> None:
    puzzle, cover = generate(SPANGRAM, WORDS, seed)
    found = [other.identity for other in place_words(puzzle, SPANGRAM, WORDS)]
    assert len(set(found)) == len(found)
    assert found == [cover.identity] or len(found) == 2


def test_two_ways_to_lay_the_words_are_both_found() -> None:
    found = place_words(Puzzle(board=("ABA", "CCC")), "CCC", ["AB", "A"])
    assert len({cover.identity for cover in found}) == 2


def test_known_path_leaves_only_the_covers_that_have_it() -> None:
    board = Puzzle(board=("ABA", "CCC"))
    (cover,) = place_words(board, "CCC", ["AB", "A"], {"A": ((0, 2),)})
    assert {e.word: sorted(e.path) for e in cover.theme_words} == {
        "AB": [(0, 0), (0, 1)],
        "A": [(0, 2)],
    }


def test_words_may_not_cross_each_other_but_one_may_cross_itself() -> None:
    # AD and BC would be the two diagonals of the upper square.
    assert place_words(Puzzle(board=("AB", "CD", "EE")), "EE", ["AD", "BC"]) == []
    (cover,) = place_words(Puzzle(board=("AB", "CD", "EE")), "EE", ["ADCB"])
    assert cover.theme_words[0].path == ((0, 0), (1, 1), (1, 0), (0, 1))


def test_search_without_an_end_is_given_up() -> None:
    board = Puzzle(board=("AAAAAA",) * 8)
    with pytest.raises(TooManySteps):
        place_words(board, "A" * 24, ["A" * 24 + "B"], max_steps=10_000)
    with pytest.raises(TooManySteps):
        place_words(board, "A", [str(i) for i in range(1000)])

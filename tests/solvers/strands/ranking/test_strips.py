"""Strips are the most valuable paths between two sides, and covers with them are the best."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.kernel.compiling import I64
from nightgrid.solvers.reasons import BudgetSpentError, ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.solvers.strands.check import check_cover
from nightgrid.solvers.strands.paths import spell
from nightgrid.solvers.strands.pieces.pieces import Found, grid_of
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.ranking import strips
from nightgrid.solvers.strands.ranking.board import (
    RULES,
    WITH_STRIPS,
    RankedBoard,
    ranked_board,
    with_strips,
)
from nightgrid.solvers.strands.ranking.covers import components_of, cover_of
from nightgrid.solvers.strands.ranking.letter_model import BEFORE, ORDER, letter_prices
from nightgrid.solvers.strands.ranking.search import best_covers, scored_pieces
from nightgrid.solvers.strands.ranking.strips import find_strips
from nightgrid.solvers.strands.ranking.terms import STRIP
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary, vocabulary_of
from nightgrid.solvers.strands.ranking.weighed_terms import WeighedTerms
from tests.drawn import drawn
from tests.solvers.strands.boards import board
from tests.solvers.strands.ranking.boards import Small, every_cover, open_board, small_boards
from tests.solvers.strands.ranking.test_search import weights_of

EVERY = 10_000_000
LETTERS_MAX = 8
"""Strips of small boards are tried one by one: longer ones are too many."""
twelve_cells = small_boards().filter(lambda small: small.puzzle.cell_count == 12)


def every_strip(puzzle: Puzzle, letters_max: int) -> Iterator[tuple[str, frozenset[int]]]:
    """Walk along every path of 6 cells and more between two opposite sides."""
    rows, columns = puzzle.row_count, puzzle.column_count
    text = "".join(puzzle.board)
    near = grid_of_cells(rows, columns)

    def walk(path: list[int]) -> Iterator[list[int]]:
        yield path
        if len(path) < letters_max:
            for to in near[path[-1]]:
                if to not in path:
                    yield from walk([*path, to])

    for start in range(rows * columns):
        for path in walk([start]):
            down = {cell // columns for cell in path}
            right = {cell % columns for cell in path}
            if len(path) >= 6 and ({0, rows - 1} <= down or {0, columns - 1} <= right):
                yield "".join(text[cell] for cell in path), frozenset(path)


def grid_of_cells(rows: int, columns: int) -> list[list[int]]:
    """List the neighbours of each cell."""
    return [
        [
            other
            for other in range(rows * columns)
            if other != cell
            and abs(other // columns - cell // columns) <= 1
            and abs(other % columns - cell % columns) <= 1
        ]
        for cell in range(rows * columns)
    ]


def codes_of(vocabulary: Vocabulary, text: str) -> I64:
    return np.searchsorted(vocabulary.lexicon.alphabet, [ord(letter) for letter in text])


def known_texts(ranked: RankedBoard, vocabulary: Vocabulary) -> set[str]:
    found, lexicon = ranked.found, vocabulary.lexicon
    words = {lexicon.word(int(word)) for word in found.words.word[found.words.spans]}
    rows = range(len(found.compounds))
    return words | {spell(("compound", row), found, lexicon) for row in rows}


def text_price(vocabulary: Vocabulary, codes: np.ndarray) -> int:
    prices = letter_prices(vocabulary)
    edge = len(prices) - 1
    whole = [edge] * BEFORE + codes.tolist() + [edge]
    return sum(int(prices[tuple(whole[i : i + ORDER])]) for i in range(len(codes) + 1))


def worth(vocabulary: Vocabulary, text: str) -> int:
    return text_price(vocabulary, codes_of(vocabulary, text)) + strips.LETTER * len(text)


@pytest.mark.slow
@given(small=twelve_cells, kept=st.sampled_from([1, 20, 300, EVERY]))
@settings(max_examples=drawn(10), deadline=None)
def test_strips_are_the_best_of_all_paths(small: Small, kept: int):
    """Given any board, Then its strips are the most valuable paths except known texts."""
    ranked, vocabulary = open_board(small)
    grid = grid_of(small.puzzle, RULES, vocabulary.lexicon)
    with mock.patch.object(strips, "STRIP_LETTERS_MAX", LETTERS_MAX):
        pieces, codes = find_strips(vocabulary, grid, RULES, ranked.found, kept)
    alone = Found(words=ranked.found.words, compounds=pieces, codes=codes)
    found = {
        (spell(("compound", row), alone, vocabulary.lexicon), pieces.cells_on(row)): int(value)
        for row, value in enumerate(pieces.score)
    }
    known = known_texts(ranked, vocabulary)
    alphabet = {chr(point) for point in vocabulary.lexicon.alphabet}
    paths = set(every_strip(small.puzzle, LETTERS_MAX))
    texts = {text for text, _ in paths if set(text) <= alphabet} - known
    worths = {text: worth(vocabulary, text) for text in texts}
    expected = {strip: worths[strip[0]] for strip in paths if strip[0] in texts}
    assert len(found) == len(pieces)
    assert found == {strip: expected[strip] for strip in found}
    assert sorted(found.values(), reverse=True) == sorted(expected.values(), reverse=True)[:kept]
    places = list(zip(pieces.low, pieces.cells, *codes.T, strict=True))
    assert places == sorted(places)


@pytest.mark.slow
@given(small=small_boards(), seed=st.integers(0, 1000), k=st.sampled_from([3, 50]))
@settings(max_examples=drawn(10), deadline=None)
def test_the_best_covers_with_strips_are_the_best_of_all(small: Small, seed: int, k: int):
    ranked, vocabulary = open_board(small)
    wide = with_strips(ranked, vocabulary, kept=200)
    score = weights_of(seed)
    found, spangram = scored_pieces(wide, score)
    expected: dict[frozenset[tuple[str, int]], int] = {}
    for (kind, row), theme in every_cover(wide):
        own = found.compounds.score[row] if kind == "compound" else spangram[row]
        value = int(own + sum(found.words.score[other] for other in theme))
        pieces = frozenset([(kind, row), *(("word", other) for other in theme)])
        expected[pieces] = max(value, expected.get(pieces, value))
    listed = best_covers(wide, score, k)
    assert [one.score for one in listed] == sorted(expected.values(), reverse=True)[:k]
    for one in listed[:3]:
        check_cover(wide.puzzle, RULES, cover_of(wide, one, vocabulary))


@given(small=small_boards())
@settings(max_examples=drawn(10), deadline=None)
def test_compounds_stay_beside_strips_as_they_were(small: Small):
    ranked, vocabulary = open_board(small)
    wide = with_strips(ranked, vocabulary, kept=50)
    rows = np.flatnonzero(wide.compound[:, STRIP] == 0)
    assert np.array_equal(wide.compound[rows], ranked.compound)
    assert np.array_equal(wide.found.codes[rows], ranked.found.codes)
    for name in ("low", "cells", "score", "spans"):
        now, before = (getattr(one.found.compounds, name) for one in (wide, ranked))
        assert np.array_equal(now[rows], before)
    blocks = block_sets(wide)
    assert [blocks[row] for row in rows] == block_sets(ranked)
    assert wide.tier == ranked.tier + WITH_STRIPS


def block_sets(ranked: RankedBoard) -> list[list[int]]:
    pieces = ranked.found.compounds
    return [pieces.blocks[a:b].tolist() for a, b in pairwise(pieces.block_offsets)]


NAME = board("ZOFO RBDL LMIN INGT", 2)
"""ZORBLING goes down the left side and leaves FOLD and MINT."""
NAME_WORDS = {"FOLD": 450, "MINT": 430, "STARLING": 350, "ORBIT": 380, "GLORY": 400, "ZONE": 300}
SCORE = WeighedTerms("by hand", {"zipf": 1.5, "compound": 7.4, "compound_text": 1.0})


def test_a_spangram_that_no_list_has_comes_first():
    """Given theme words that leave cells without a word, Then a strip covers them."""
    vocabulary = vocabulary_of(NAME_WORDS, set(NAME_WORDS), [])
    ranked = ranked_board(NAME, vocabulary)
    assert best_covers(ranked, SCORE, 10) == []
    wide = with_strips(ranked, vocabulary)
    first = best_covers(wide, SCORE, 100)[0]
    spelled = [spell(piece, wide.found, vocabulary.lexicon) for piece in first.pieces]
    assert (spelled[0], set(spelled[1:])) == ("ZORBLING", {"FOLD", "MINT"})
    assert components_of(wide, first.spangram, vocabulary) == ("ZORBLING",)


def test_too_many_steps_leave_the_strips_of_a_higher_floor():
    vocabulary = vocabulary_of(NAME_WORDS, set(NAME_WORDS), [])
    ranked = ranked_board(NAME, vocabulary)
    grid = grid_of(NAME, RULES, vocabulary.lexicon)
    whole, codes = find_strips(vocabulary, grid, RULES, ranked.found, 2000)
    assert len(whole) == 2000
    for name, most in (("STRIP_STEPS_MAX", 20_000), ("STRIP_ROWS_MAX", 500)):
        with mock.patch.object(strips, name, most):
            fewer, fewer_codes = find_strips(vocabulary, grid, RULES, ranked.found, 2000)
        assert 0 < len(fewer) < 2000
        least = int(fewer.score.min())
        rows = np.flatnonzero(whole.score >= least)
        assert np.array_equal(whole.score[rows], fewer.score)
        assert np.array_equal(codes[rows], fewer_codes)


def test_a_board_is_stopped_while_strips_are_looked_for(monkeypatch: pytest.MonkeyPatch):
    """Given a walk in progress, When it is told to stop, Then its kernel stops, too."""
    vocabulary = vocabulary_of(NAME_WORDS, set(NAME_WORDS), [])
    ranked = ranked_board(NAME, vocabulary)
    stop, walk, told = Stop(), strips.walk_strips, []

    def stopped(*given):
        stop.set(ReasonCode.CANCELLED)
        told.append(given[2].stop)
        return walk(*given)

    monkeypatch.setattr(strips, "walk_strips", stopped)
    with pytest.raises(BudgetSpentError):
        with_strips(ranked, vocabulary, stop)
    assert set(told) == {stop.address}


def test_a_board_whose_letters_join_no_two_sides_has_no_strips():
    vocabulary = vocabulary_of(NAME_WORDS, set(NAME_WORDS), [])
    ranked = ranked_board(board("ZXXX XXFO XXLD", 1), vocabulary)
    assert with_strips(ranked, vocabulary).found.compounds.low.tolist() == []


def test_letters_of_words_cost_less_than_others():
    vocabulary = vocabulary_of(NAME_WORDS, set(NAME_WORDS), [])
    known, odd = (text_price(vocabulary, codes_of(vocabulary, text)) for text in ("FOLD", "DLOF"))
    assert odd < known < 0
    together = text_price(vocabulary, codes_of(vocabulary, "FOLDMINT"))
    assert together > text_price(vocabulary, codes_of(vocabulary, "FOMINTLD"))


def test_prices_are_those_of_chances():
    """Given any previous letters, Then the probabilities of the next ones add up to one."""
    vocabulary = vocabulary_of(NAME_WORDS, set(NAME_WORDS), [])
    chances = np.exp(letter_prices(vocabulary) / 1000).sum(axis=-1)
    assert chances.shape == (len(vocabulary.lexicon.alphabet) + 1,) * BEFORE
    assert np.abs(chances - 1).max() < 0.02


def test_a_vocabulary_without_common_words_prices_all_letters_alike():
    vocabulary = vocabulary_of({"ABC": 50}, set(), [])
    assert set(letter_prices(vocabulary).ravel().tolist()) == {round(1000 * np.log(1 / 4))}

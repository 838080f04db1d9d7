"""The shapes of pieces are those of their best paths, by trying every order of their cells."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from nightgrid.solvers.strands.paths import spell
from nightgrid.solvers.strands.pieces.pieces import grid_of
from nightgrid.solvers.strands.ranking.board import RULES
from nightgrid.solvers.strands.ranking.geometry import CROSSINGS, DIAGONALS, TURNS, Texts, shapes_of
from nightgrid.solvers.strands.ranking.vocabulary import vocabulary_of
from tests.drawn import drawn
from tests.solvers.strands.boards import board
from tests.solvers.strands.ranking.boards import (
    Small,
    every_path,
    open_board,
    shape_of,
    small_boards,
)

PERMUTED_LETTERS_MAX = 6


@given(small=small_boards())
@settings(max_examples=drawn(12), deadline=None)
def test_a_shape_is_that_of_the_least_crossed_then_straightest_path(small: Small):
    """Given any piece, When all orders of its cells are tried, Then none is better."""
    ranked, vocabulary = open_board(small)
    words = ranked.found.words
    spelled = [spell(("word", row), ranked.found, vocabulary.lexicon) for row in range(len(words))]
    codes = [np.searchsorted(vocabulary.lexicon.alphabet, [*map(ord, one)]) for one in spelled]
    offsets = np.cumsum([0, *map(len, codes)]).astype(np.int64)
    letters = np.concatenate([np.empty(0, np.uint8), *codes]).astype(np.uint8)
    grid = grid_of(small.puzzle, RULES, vocabulary.lexicon)
    shapes = shapes_of(words.low, words.cells, Texts(letters, offsets), grid)
    for row, word in enumerate(spelled):
        if len(word) > PERMUTED_LETTERS_MAX:
            continue
        paths = every_path(small.puzzle, word, words.cells_on(row))
        possible = {shape_of(small.puzzle, path) for path in paths}
        least = min((crossings, diagonals + turns) for crossings, diagonals, turns, _ in possible)
        found = shapes[row]
        assert (found[CROSSINGS], found[DIAGONALS] + found[TURNS]) == least
        assert tuple(found.tolist()) in possible


def test_a_word_of_equal_letters_on_a_block_is_measured_within_its_steps():
    """Given too many paths to try, Then one of them is taken quickly."""
    puzzle = board("AAAAAA AAAAAA AAAAAA", 1)
    vocabulary = vocabulary_of({"A" * 9: 300, "AAAA": 300}, set(), [])
    grid = grid_of(puzzle, RULES, vocabulary.lexicon)
    low = np.zeros(1, np.int32)
    cells = np.array([0b111_000_111_000_111], np.uint64)
    texts = Texts(np.zeros(9, np.uint8), np.array([0, 9], np.int64))
    assert shapes_of(low, cells, texts, grid)[0, :3].tolist() == [0, 0, 4]

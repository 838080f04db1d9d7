"""Compounds have the score of their best cut, and only the best-scored ones are kept."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.reasons import BudgetSpentError, ReasonCode
from nightgrid.solvers.stop import Stop
from nightgrid.solvers.strands.paths import spell
from nightgrid.solvers.strands.pieces.pieces import find_pieces, grid_of
from nightgrid.solvers.strands.ranking import compounds
from nightgrid.solvers.strands.ranking.board import RULES, ranked_board
from nightgrid.solvers.strands.ranking.compounds import find_compounds, pair_scores, reading
from nightgrid.solvers.strands.ranking.vocabulary import Kind, vocabulary_of
from tests.drawn import drawn
from tests.solvers.strands.boards import board
from tests.solvers.strands.ranking.boards import Small, open_board, small_boards


def test_a_board_is_stopped_while_compounds_are_joined(monkeypatch):
    """Given a join in progress, When it is told to stop, Then its kernel stops, too."""
    vocabulary = vocabulary_of({"AB": 500, "CD": 400, "BA": 200}, set(), [])
    stop, join, told = Stop(), compounds.join_components, []

    def stopped(*given):
        grid = given[2]
        stop.set(ReasonCode.CANCELLED)
        told.append(grid.stop)
        return join(*given)

    monkeypatch.setattr(compounds, "join_components", stopped)
    with pytest.raises(BudgetSpentError):
        ranked_board(board("ABAB CDCD BABA", 1), vocabulary, stop)
    assert set(told) == {stop.address}


@given(small=small_boards())
@settings(max_examples=drawn(10), deadline=None)
def test_a_compound_scores_as_its_best_cut(small: Small):
    ranked, vocabulary = open_board(small)
    values = ranked.found.compounds.score
    for row in range(0, len(values), 7):
        text = spell(("compound", row), ranked.found, vocabulary.lexicon)
        value, parts = reading(vocabulary, text)
        assert value == values[row]
        assert "".join(parts) == text
        assert 2 <= len(parts) <= 4


def test_of_many_compounds_the_best_scored_are_kept():
    """Given room for three, Then they have the highest scores, in canonical order."""
    vocabulary = vocabulary_of({"AB": 500, "CD": 400, "ABCD": 300, "BA": 200}, set(), [])
    puzzle = board("ABAB CDCD BABA", 1)
    grid = grid_of(puzzle, RULES, vocabulary.lexicon)
    words = find_pieces(puzzle, RULES, vocabulary.lexicon).words
    all_pieces, _, _ = find_compounds(vocabulary, grid, RULES, words)
    kept, codes, _ = find_compounds(vocabulary, grid, RULES, words, 3)
    assert len(all_pieces) > 3
    assert sorted(kept.score.tolist()) == sorted(all_pieces.score.tolist())[-3:]
    assert kept.low.tolist() == sorted(kept.low.tolist())
    assert len(codes) == len(kept) == len(kept.block_offsets) - 1


@given(small=small_boards(), rows=st.sampled_from([8, 16, 64]), kept=st.integers(1, 6))
@settings(max_examples=drawn(15), deadline=None)
def test_the_best_are_kept_whole_when_memory_for_the_others_runs_out(
    small: Small, rows: int, kept: int
):
    ranked, vocabulary = open_board(small)
    words = ranked.found.words
    grid = grid_of(ranked.puzzle, RULES, vocabulary.lexicon)
    pieces, codes, tier = find_compounds(vocabulary, grid, RULES, words, kept)
    with mock.patch.object(compounds, "ROWS_MAX", rows):
        again, same_codes, same_tier = find_compounds(vocabulary, grid, RULES, words, kept)
    if same_tier == tier:
        assert np.array_equal(same_codes, codes)
        for name in ("low", "cells", "score", "block_offsets", "blocks"):
            assert np.array_equal(getattr(again, name), getattr(pieces, name))
    else:
        # Too many compounds of one score: no floor leaves room.
        assert same_tier > tier


@given(small=small_boards(), floor=st.integers(-30_000, -5_000), kept=st.integers(1, 60))
@settings(max_examples=drawn(15), deadline=None)
def test_a_floor_leaves_out_none_of_the_best(small: Small, floor: int, kept: int):
    ranked, vocabulary = open_board(small)
    words = ranked.found.words
    grid = grid_of(ranked.puzzle, RULES, vocabulary.lexicon)
    with mock.patch.object(compounds, "FLOORS", ()):
        pieces, codes, _ = find_compounds(vocabulary, grid, RULES, words, kept)
    with mock.patch.object(compounds, "FLOORS", (floor, floor - 2000)):
        again, same_codes, _ = find_compounds(vocabulary, grid, RULES, words, kept)
    assert np.array_equal(same_codes, codes)
    for name in ("low", "cells", "score", "block_offsets", "blocks"):
        assert np.array_equal(getattr(again, name), getattr(pieces, name))


def test_a_board_with_too_many_ways_to_join_falls_back_to_fewer_components():
    vocabulary = vocabulary_of({"AB": 500, "CD": 400}, set(), [])
    puzzle = board("ABAB CDCD BABA", 1)
    grid = grid_of(puzzle, RULES, vocabulary.lexicon)
    words = find_pieces(puzzle, RULES, vocabulary.lexicon).words
    _, _, tier = find_compounds(vocabulary, grid, RULES, words)
    assert tier == 0
    with mock.patch.object(compounds, "ROWS_MAX", 4):
        none, codes, tier = find_compounds(vocabulary, grid, RULES, words)
    assert (len(none), len(codes), tier) == (0, 0, len(compounds.LIMITS))


def test_two_words_in_one_score_as_the_compound_that_they_are():
    vocabulary = vocabulary_of({"SIT": 500, "UP": 600}, set(), [("SIT", "UP", 450)])
    joined = vocabulary.lexicon.find("SITUP")
    assert vocabulary.kind[joined] == Kind.PAIR
    assert pair_scores(vocabulary)[joined] == reading(vocabulary, "SITUP")[0]


def test_a_text_that_cannot_be_cut_is_one_component():
    vocabulary = vocabulary_of({"SIT": 500, "UP": 600}, set(), [])
    assert reading(vocabulary, "SITUPS") == (0, ("SITUPS",))

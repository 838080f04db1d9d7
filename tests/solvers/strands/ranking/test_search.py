"""The best covers under any weights are those of brute force over sets of pieces."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightgrid.solvers.algebra import Ask
from nightgrid.solvers.errors import PermanentError
from nightgrid.solvers.strands.game import StrandsGame
from nightgrid.solvers.strands.puzzle import Puzzle
from nightgrid.solvers.strands.ranking.board import RULES
from nightgrid.solvers.strands.ranking.search import (
    best_covers,
    can_rank,
    scored_pieces,
)
from nightgrid.solvers.strands.ranking.terms import SPANGRAM_TERMS, THEME_TERMS
from nightgrid.solvers.strands.ranking.weighed_terms import PRIORS, WeighedTerms
from nightgrid.solvers.strands.rules import Rules
from tests.drawn import drawn
from tests.solvers.strands.ranking.boards import Small, every_cover, open_board, small_boards

COVERS_MAX = 100_000


def weights_of(seed: int) -> WeighedTerms:
    source = random.Random(seed)
    names = (*THEME_TERMS, *SPANGRAM_TERMS)
    return WeighedTerms("random", {name: source.uniform(-3, 3) for name in names})


@pytest.mark.slow
@given(small=small_boards(), seed=st.integers(0, 1000), k=st.sampled_from([1, 3, 50]))
@settings(max_examples=drawn(15), deadline=None)
def test_the_best_covers_are_the_best_of_all(small: Small, seed: int, k: int):
    """Given any weights, Then the k covers have the k highest scores of all covers."""
    ranked, _ = open_board(small)
    score = weights_of(seed)
    found, spangram = scored_pieces(ranked, score)
    expected: dict[frozenset[tuple[str, int]], int] = {}
    for (kind, row), theme in every_cover(ranked):
        own = found.compounds.score[row] if kind == "compound" else spangram[row]
        value = int(own + sum(found.words.score[other] for other in theme))
        pieces = frozenset([(kind, row), *(("word", other) for other in theme)])
        expected[pieces] = max(value, expected.get(pieces, value))
    listed = best_covers(ranked, score, k)
    values = {frozenset(one.pieces): one.score for one in listed}
    assert len(values) == len(listed)
    assert values == {pieces: expected[pieces] for pieces in values}
    assert [one.score for one in listed] == sorted(expected.values(), reverse=True)[:k]


@given(small=small_boards(), seed=st.integers(0, 1000))
@settings(max_examples=drawn(15), deadline=None)
def test_a_score_changes_no_count(small: Small, seed: int):
    """Given words without compounds, Then there are as many covers as the default score counts."""
    vocabulary = small.vocabulary()
    ranked, _ = open_board(small)
    rules = Rules(compound_parts=1)
    counted = StrandsGame(rules, vocabulary.lexicon).solve(small.puzzle, Ask(kind="count"))
    listed = best_covers(ranked, weights_of(seed), COVERS_MAX)
    of_words = [one for one in listed if one.spangram[0] == "word"]
    assert len(of_words) == counted.count


def test_a_board_whose_number_of_theme_words_is_not_known_cannot_be_ranked():
    assert not can_rank(Puzzle(board=("ABCD",)))
    assert not can_rank(Puzzle(board=("ABCD" * 20,), theme_words=3))
    assert can_rank(Puzzle(board=("ABCD", "ABCD"), theme_words=1))
    assert str(RULES) == str(Rules())


def test_a_score_names_the_term_that_it_does_not_know():
    with pytest.raises(PermanentError, match="score odd weighs 'loudness'; expected names"):
        WeighedTerms("odd", {"zipf": 1.0, "loudness": 2.0})


def test_terms_that_no_fit_has_seen_have_their_priors():
    """Given weights without terms of strips, Then strips have their prior weights."""
    old, told = WeighedTerms("old", {"zipf": 1.5}), WeighedTerms("new", {"strip": -2.0})
    assert {name: old.weights()[name] for name in PRIORS} == PRIORS
    assert told.weights()["strip"] == -2.0

"""004's formula is the mean over words of its three terms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from nightgrid.archive.games.strands.masked.formula import formula_scores
from nightgrid.archive.games.strands.ranking.weights import fitted_weights
from nightgrid.solvers.strands.ranking.board import ranked_board
from nightgrid.solvers.strands.ranking.search import best_covers
from nightgrid.solvers.strands.ranking.vocabulary import vocabulary_of
from tests.solvers.strands.boards import board

WORDS = {"HOTDOGOG": 350, "CATS": 450, "SCAT": 250, "ACTS": 400, "CAST": 500}
VOCABULARY = vocabulary_of(WORDS, set(WORDS), [])
BOARD = ranked_board(board("HOTD GOGO CATS SCAT", 2), VOCABULARY)
COVERS = best_covers(BOARD, fitted_weights().search_alone, 100)


class Meanings:
    """Likeness to the clue is the share of letters c in a word."""

    vocabulary = VOCABULARY

    def text_of(self, word: int) -> str:
        return VOCABULARY.lexicon.word(word).lower()

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        shares = [[text.count("c") / max(1, len(text)), 0.0] for text in texts]
        return np.array([[1.0, 0.0]]) if list(texts) == ["pets"] else np.array(shares)


class Model:
    def log_likelihoods(self, clue: str, words: Sequence[str]) -> np.ndarray:
        assert clue == "pets"
        return np.array([-float(len(word)) for word in words])


def expected(words: Sequence[str], with_model: bool) -> float:
    terms = []
    for word in words:
        likeness = word.count("C") / len(word)
        probability = np.exp(4.0 - len(word)) if with_model else 0.0
        terms.append(0.5 * likeness + 0.3 * probability + 0.2 * WORDS[word] / 100 / 8)
    return float(np.mean(terms))


@pytest.mark.parametrize("with_model", [False, True])
def test_a_cover_scores_the_mean_of_its_words(with_model: bool):
    model = Model() if with_model else None
    found = formula_scores(BOARD, COVERS, "Pets", Meanings(), model)  # type: ignore[arg-type]
    assert len(COVERS) > 2
    for cover, score in zip(COVERS, found, strict=True):
        lexicon = VOCABULARY.lexicon
        words = [lexicon.word(int(BOARD.found.words.word[row])) for _, row in cover.pieces]
        assert score == pytest.approx(expected(words, with_model), abs=1e-6)


def test_no_covers_have_no_scores():
    assert len(formula_scores(BOARD, [], None, Meanings(), None)) == 0  # type: ignore[arg-type]

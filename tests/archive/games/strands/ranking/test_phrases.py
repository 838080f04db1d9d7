"""Phrases are scored word by word, in their order, and each pair once."""

from __future__ import annotations

import numpy as np
import pytest

from nightgrid.archive.games.strands.ranking.phrases import PHRASE, Phrases, phrase_features
from nightgrid.archive.games.strands.ranking.weights import fitted_weights

VECTORS = {
    word: vector.astype(np.float32)
    for word, vector in zip("abc", np.random.default_rng(0).normal(size=(3, 4)), strict=True)
}


@pytest.fixture
def phrases() -> Phrases:
    rng = np.random.default_rng(1)

    def drawn(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    # Not 5 hidden units: of a matrix of five float32 columns, OpenBLAS 0.3.31's AVX-512 kernel also
    # multiplies neighbouring bytes of the stack. It drops these products, but the flag that a
    # signalling NaN among them raises stays, and numpy warns of it.
    return Phrases(
        main=drawn(4, 3), first=drawn(3, 6), second=drawn(3, 6), bias=drawn(6), out=drawn(6),
        product=drawn(3, 3), shift=drawn(1),
    )  # fmt: skip


def score(phrases: Phrases, one: str, other: str) -> float:
    a, b = VECTORS[one] @ phrases.main, VECTORS[other] @ phrases.main
    total = float(phrases.shift[0])
    for i, out in enumerate(phrases.out):
        before = a @ phrases.first[:, i] + b @ phrases.second[:, i] + phrases.bias[i]
        total += float(out) * max(0.0, float(before))
    return total + float(a @ phrases.product @ b)


def test_features_are_those_of_neighbours_and_of_swapped_ones(phrases: Phrases):
    one, none, three = phrase_features(phrases, [["a", "b"], ["c"], ["a", "b", "c"]], VECTORS)
    ab, bc = score(phrases, "a", "b"), score(phrases, "b", "c")
    better = [ab - score(phrases, "b", "a"), bc - score(phrases, "c", "b")]
    assert np.allclose(one, [ab, ab, ab, better[0], better[0]], atol=1e-4)
    assert none == (0.0,) * len(PHRASE)
    expected = [(ab + bc) / 2, min(ab, bc), ab + bc, np.mean(better), min(better)]
    assert np.allclose(three, expected, atol=1e-4)


def test_lists_without_a_phrase_have_nothing_to_score(phrases: Phrases):
    assert phrase_features(phrases, [["a"], ["b"]], VECTORS) == [(0.0,) * len(PHRASE)] * 2


def test_stored_weights_are_restored(phrases: Phrases):
    again = Phrases.of(phrases.arrays())
    first, second = np.array([VECTORS["a"]]), np.array([VECTORS["c"]])
    assert np.array_equal(again.scores(first, second), phrases.scores(first, second))


def test_fitted_phrases_fit_the_sentence_model():
    fitted = fitted_weights().learned.phrases
    assert fitted.main.shape[0] == 384
    assert fitted.main.shape[1] == len(fitted.first) == len(fitted.product)

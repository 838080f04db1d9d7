"""The contribution of a word to its cover is measured against the others."""

from __future__ import annotations

import numpy as np

from nightgrid.archive.games.strands.ranking.features import BREAKS, FIT, fit_features


def unit(*values: float) -> np.ndarray:
    vector = np.array(values, np.float32)
    return vector / np.linalg.norm(vector)


def named(words: np.ndarray, spangram: np.ndarray, joins: list[float]) -> dict[str, float]:
    values = fit_features(words, words @ words.T, spangram, np.array(joins))
    return dict(zip(FIT, values, strict=True))


def test_each_word_is_compared_with_the_rest():
    words = np.array([unit(1, 0, 0), unit(1, 1, 0), unit(0, 0, 1)])
    spangram = unit(0, 1, 0)
    found = named(words, spangram, [7.0, -8.0, 1.0])
    rest = [words[1] + words[2] + spangram, words[0] + words[2] + spangram,
            words[0] + words[1] + spangram]  # fmt: skip
    own = [float(w @ (r / np.linalg.norm(r))) for w, r in zip(words, rest, strict=True)]
    half = float(words[0] @ words[1])
    assert np.isclose(found["fits"], sum(own), atol=1e-6)
    assert np.isclose(found["fits_to_0.2"], sum(min(value, 0.2) for value in own), atol=1e-6)
    assert np.isclose(found["nearest"], 2 * half, atol=1e-6)
    assert np.isclose(found["nearest_to_0.3"], 0.6, atol=1e-6)
    assert np.isclose(found["near_spangram"], half, atol=1e-6)
    assert np.isclose(found["near_spangram_to_0"], 0, atol=1e-6)
    assert found["joins"] == 0.0
    assert found["joins_to_-5"] == -5 - 8 - 5


def test_a_single_word_has_no_neighbour():
    found = named(np.array([unit(1, 0)]), unit(1, 0), [0.0])
    assert found["nearest"] == 0
    assert np.isclose(found["fits"], 1)
    assert len(found) == sum(1 + len(breaks) for breaks in BREAKS.values())

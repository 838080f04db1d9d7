"""The likelihood of sets is that of the Gaussian model, and it is learned from sets."""

from __future__ import annotations

import numpy as np

from benchmarks.strands_fit.learn import learn_plda
from nightgrid.archive.games.strands.ranking.plda import Plda

SPREAD = np.array([4.0, 0.5, 2.0])
PLDA = Plda(basis=np.eye(3), spread=SPREAD)


def log_density(x: np.ndarray, covariance: np.ndarray) -> float:
    sign, log_det = np.linalg.slogdet(2 * np.pi * covariance)
    assert sign > 0
    return float(-0.5 * (log_det + x @ np.linalg.solve(covariance, x)))


def test_together_is_the_log_ratio_of_one_centre_to_many():
    x = np.random.default_rng(0).normal(size=(4, 3))
    expected = 0.0
    for d, spread in enumerate(SPREAD):
        joint = np.eye(4) + spread * np.ones((4, 4))
        expected += log_density(x[:, d], joint)
        expected -= sum(log_density(x[i : i + 1, d], np.array([[1 + spread]])) for i in range(4))
    assert np.isclose(PLDA.together(x), expected)


def test_a_word_joins_a_set_by_its_likelihood_ratio():
    x = np.random.default_rng(1).normal(size=(3, 3))
    expected = [PLDA.together(x) - PLDA.together(np.delete(x, i, axis=0)) for i in range(3)]
    assert np.allclose(PLDA.joins(x), expected)


def test_sets_that_were_drawn_around_centres_are_distinguished_from_strangers():
    rng = np.random.default_rng(2)
    scale = np.array([3.0, 0.1, 2.0, 0.1, 0.1])

    def draw(words: int) -> np.ndarray:
        return (rng.normal(size=5) * scale + rng.normal(size=(words, 5))).astype(np.float32)

    background = np.concatenate([draw(1) for _ in range(2000)])
    plda = learn_plda([draw(6) for _ in range(200)], background, 5)
    own = [plda.together(plda.project(draw(6))) for _ in range(100)]
    strangers = [
        plda.together(plda.project(np.concatenate([draw(1) for _ in range(6)]))) for _ in range(100)
    ]
    assert np.median(own) > 5
    assert np.median(strangers) < 0

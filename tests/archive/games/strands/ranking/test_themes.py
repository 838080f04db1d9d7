"""The likeliest covers alone are read, and each is compared with the others that are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from nightgrid.archive.games.strands.ranking.themes import READ, THEME, theme_features

WORDS = ("cat", "dog", "fox", "hen", "owl", "pig", "rat", "yak")


class Told:
    """A model that knows a vector for every text it is asked for, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def text_of(self, word: int) -> str:
        return WORDS[word]

    def vector(self, text: str) -> np.ndarray:
        vector = np.random.default_rng(list(text.encode())).normal(size=4)
        return vector / np.linalg.norm(vector)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return np.array([self.vector(text) for text in texts])


def features(told: Any, scores: np.ndarray, clue: str | None) -> np.ndarray:
    covers = [[i % 8, (i + 1) % 8] for i in range(len(scores))]
    return theme_features(scores, covers, [("BIG", "PETS")] * len(scores), clue, told)


def test_the_likeliest_covers_are_read_and_compared_with_one_another():
    told = Told()
    scores = np.array([0.0, 5.0, 1.0, 4.0, 3.0, 2.0, -1.0, 6.0])
    rows = features(told, scores, "Farm")
    read = [7, 1, 3, 4, 5]
    assert len(read) == READ
    assert not rows[[0, 2, 6]].any()
    assert np.allclose(rows.sum(axis=0), 0)
    themes = [f"{WORDS[i]}, {WORDS[(i + 1) % 8]}" for i in read]
    pets, farm = told.vector("big pets"), told.vector("farm")
    expected = np.array([
        [a @ pets, a @ farm, b @ a, b @ pets]
        for a, b in ((told.vector(t), told.vector(f"big pets: {t}")) for t in themes)
    ])  # fmt: skip
    assert np.allclose(rows[read], expected - expected.mean(axis=0))
    assert set(told.asked) == {*themes, *(f"big pets: {t}" for t in themes), "big pets", "farm"}


@pytest.mark.parametrize("covers", [0, 1, 3])
def test_fewer_covers_than_are_read(covers: int):
    rows = features(Told(), np.arange(covers, dtype=np.float64), None)
    assert rows.shape == (covers, len(THEME))
    assert not rows[:, 1].any()
    assert np.allclose(rows.sum(axis=0), 0)

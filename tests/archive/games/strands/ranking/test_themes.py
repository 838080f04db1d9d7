"""Only the likeliest covers are read, and each is compared with the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from nightgrid.archive.games.strands.ranking.themes import (
    EXAMPLES,
    NATS_BEHIND,
    NO_CLUE,
    READ,
    THEME,
    in_order,
    theme_features,
)

WORDS = ("cat", "dog", "fox", "hen", "owl", "pig", "rat", "yak")


class Told:
    """Models that return a number for every text, and record the texts."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.language = self

    def text_of(self, word: int) -> str:
        return WORDS[word]

    def log_chances(self, before: str, texts: Sequence[Sequence[str]]) -> np.ndarray:
        assert before == EXAMPLES
        self.asked += [tuple(parts) for parts in texts]
        return np.array([[self.chance(part) for part in parts] for parts in texts])

    def chance(self, text: str) -> float:
        return -float(np.random.default_rng(list(text.encode())).uniform(1, 50))


def features(told: Any, scores: np.ndarray, clue: str | None) -> np.ndarray:
    covers = [[i % 8, (i + 1) % 8] for i in range(len(scores))]
    return theme_features(scores, covers, [("BIG", "PETS")] * len(scores), clue, told)


def test_the_likeliest_covers_are_read_and_compared_with_one_another():
    told = Told()
    scores = np.array([4.0, 5.0, 1.0, 4.1, 3.0, 2.0, 0.2, 6.0, 0.5, 0.1, 5.1, 5.2, 5.3, 5.4])
    rows = features(told, scores, "Farm")
    read = np.argsort(-scores)[:READ].tolist()
    assert len(scores) == READ + 2
    assert not rows[[6, 9]].any()
    assert np.allclose(rows.sum(axis=0), 0)
    assert {parts[:2] for parts in told.asked} == {(" Farm\nAnswer:", " big pets\n")}
    lists = [parts[2] for parts in told.asked]
    assert [set(text.removeprefix("Words: ").strip().split(", ")) for text in lists] == [
        {WORDS[i % 8], WORDS[(i + 1) % 8]} for i in read
    ]
    expected = np.array([[told.chance(part) for part in parts[1:]] for parts in told.asked])
    assert np.allclose(rows[read], expected - expected.mean(axis=0))


@pytest.mark.parametrize("covers", [0, 1, 3])
def test_fewer_covers_than_are_read_and_no_clue(covers: int):
    told = Told()
    rows = features(told, np.arange(covers, dtype=np.float64), None)
    assert rows.shape == (covers, len(THEME))
    assert np.allclose(rows.sum(axis=0), 0)
    assert {parts[0] for parts in told.asked} == ({f" {NO_CLUE}\nAnswer:"} if covers > 1 else set())


def test_covers_far_behind_the_likeliest_are_not_read():
    told = Told()
    rows = features(told, np.array([9.0, 9.0 - NATS_BEHIND, 0.9 - NATS_BEHIND, 8.0]), "Farm")
    assert len(told.asked) == 3
    assert rows[[0, 1, 3]].all()
    assert not rows[2].any()


def test_a_cover_without_a_rival_is_not_read():
    told = Told()
    assert not features(told, np.array([9.0, -20.0]), "Farm").any()
    assert not told.asked


def test_covers_of_one_spangram_begin_with_the_words_that_they_share():
    themes = [["owl", "cat", "dog"], ["dog", "owl", "hen"], ["ant", "dog", "owl"], ["owl", "ant"]]
    phrases = ["pets", "pets", "pets", "farm"]
    assert in_order(phrases, themes) == [
        ["dog", "owl", "cat"], ["dog", "owl", "hen"], ["dog", "owl", "ant"], ["ant", "owl"],
    ]  # fmt: skip

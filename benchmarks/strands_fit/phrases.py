"""Teach a network which words stand before which, from a list of phrases.

Each phrase of two words is told from the same words swapped and from phrases of which one word is
exchanged for that of another phrase. Method: logistic loss, Adam (Kingma and Ba, 2015).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.strands_fit.data import generator
from nightgrid.archive.games.strands.ranking.meaning import Meanings
from nightgrid.archive.games.strands.ranking.phrases import Phrases
from nightgrid.solvers.lexicon.english import english_phrases

F32 = npt.NDArray[np.float32]

DIRECTIONS = 96
HIDDEN = 128
EPOCHS = 5
BATCH = 512
RATE = 2e-3
DECAY = 1e-5
LETTERS_MIN, ZIPF_MAX = 3, 6.4
"""Shorter and commoner words stand beside everything."""


def learn_phrases(meanings: Meanings) -> Phrases:
    """Learn from symspellpy's phrases of words that have a vector on disk."""
    first, second, words = _pairs(meanings)
    main, seen = _whitened(words)
    taken = set(zip(first.tolist(), second.tolist(), strict=True))
    rng = generator(1)

    def drawn(*shape: int, size: float) -> F32:
        return (rng.standard_normal(shape) * size).astype(np.float32)

    net = {
        "first": drawn(DIRECTIONS, HIDDEN, size=0.07),
        "second": drawn(DIRECTIONS, HIDDEN, size=0.07),
        "bias": np.zeros(HIDDEN, np.float32),
        "out": drawn(HIDDEN, size=0.05),
        "product": drawn(DIRECTIONS, DIRECTIONS, size=0.005),
        "shift": np.zeros(1, np.float32),
    }
    adam = _Adam(net)
    for epoch in range(EPOCHS):
        rows = rng.permutation(len(first))
        for start in range(0, len(rows), BATCH):
            i, j = (side[rows[start : start + BATCH]] for side in (first, second))
            other_i, other_j = (
                side[rng.integers(0, len(first), len(i))] for side in (first, second)
            )
            a = np.concatenate([i, j, i, other_i])
            b = np.concatenate([j, i, other_j, j])
            is_phrase = [pair in taken for pair in zip(a.tolist(), b.tolist(), strict=True)]
            slopes = _slopes(net, seen[a], seen[b], np.array(is_phrase, np.float32), len(i))
            adam.step(slopes, RATE * (1 - epoch / EPOCHS))
    return Phrases(main=main, **net)


def _pairs(
    meanings: Meanings,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], F32]:
    """Number the words of phrases: first words, second words, centred vectors by number."""
    kept = []
    for one, other, _ in english_phrases():
        if one != other and _is_taught(one, meanings) and _is_taught(other, meanings):
            kept.append((one, other))
    kept = list(dict.fromkeys(kept))
    names = sorted({word for pair in kept for word in pair})
    number = {word: i for i, word in enumerate(names)}
    find = meanings.vocabulary.lexicon.find
    centred = meanings.word_vectors(np.array([find(word) for word in names], np.int64))
    pairs = np.array([(number[a], number[b]) for a, b in kept], np.int64)
    return pairs[:, 0], pairs[:, 1], centred


def _is_taught(word: str, meanings: Meanings) -> bool:
    index = meanings.vocabulary.lexicon.find(word)
    if len(word) < LETTERS_MIN or index < 0 or meanings.vectors.row_of[index] < 0:
        return False
    return float(meanings.vocabulary.zipf[index]) < ZIPF_MAX


def _whitened(vectors: F32) -> tuple[F32, F32]:
    """Take main directions, in which the words spread by 1: directions, vectors in them."""
    values, basis = np.linalg.eigh(np.cov(vectors.T.astype(np.float64)))
    main = basis[:, : -DIRECTIONS - 1 : -1] / np.sqrt(values[: -DIRECTIONS - 1 : -1])
    main = np.ascontiguousarray(main, np.float32)
    return main, vectors @ main


def _slopes(net: dict[str, F32], a: F32, b: F32, is_phrase: F32, count: int) -> dict[str, Any]:
    before = a @ net["first"] + b @ net["second"] + net["bias"]
    hidden = np.maximum(before, 0)
    crossed = ((a @ net["product"]) * b).sum(axis=1)
    score = hidden @ net["out"] + crossed + net["shift"][0]
    error = ((1 / (1 + np.exp(-score)) - is_phrase) / count).astype(np.float32)
    back = error[:, None] * net["out"] * (before > 0)
    return {
        "first": a.T @ back,
        "second": b.T @ back,
        "bias": back.sum(axis=0),
        "out": hidden.T @ error,
        "product": a.T @ (error[:, None] * b),
        "shift": error.sum(keepdims=True),
    }


class _Adam:
    """Steps whose size follows how steady and how steep each slope has been."""

    def __init__(self, net: dict[str, F32]) -> None:
        self.net = net
        self.mean = {name: np.zeros_like(value) for name, value in net.items()}
        self.square = {name: np.zeros_like(value) for name, value in net.items()}
        self.steps = 0

    def step(self, slopes: dict[str, Any], rate: float) -> None:
        self.steps += 1
        for name, value in self.net.items():
            slope = slopes[name] + DECAY * value
            self.mean[name] += 0.1 * (slope - self.mean[name])
            self.square[name] += 0.001 * (slope * slope - self.square[name])
            mean = self.mean[name] / (1 - 0.9**self.steps)
            square = self.square[name] / (1 - 0.999**self.steps)
            np.subtract(value, rate * mean / (np.sqrt(square) + 1e-8), out=value)

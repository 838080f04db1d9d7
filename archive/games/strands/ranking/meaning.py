"""The meaning of words of a board: vectors, likeness to the clue, and likeness to board words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.language import language_model
from nightgrid.archive.games.strands.language.language_model import LanguageModel
from nightgrid.archive.games.strands.model_packages import has_package
from nightgrid.archive.games.strands.ranking import minilm
from nightgrid.archive.games.strands.ranking.minilm import DIMENSIONS, F32
from nightgrid.archive.games.strands.ranking.vectors import Vectors
from nightgrid.solvers.strands.ranking.terms import MEANING
from nightgrid.solvers.strands.ranking.vocabulary import Kind


def are_models_installed() -> bool:
    """Return whether the packages of both models are installed."""
    return has_package(minilm.PACKAGE) and has_package(language_model.PACKAGE)


class Meanings:
    """The models: one for likeness, with its vectors of the vocabulary, and one that reads text."""

    def __init__(self, vectors: Vectors, language: LanguageModel) -> None:
        self.language = language
        self.vectors = vectors
        self.vocabulary = vectors.vocabulary

    def text_of(self, word: int) -> str:
        """Return a word of the vocabulary in lower case; a pair gets a space."""
        lexicon, vocabulary = self.vocabulary.lexicon, self.vocabulary
        if vocabulary.kind[word] == Kind.PAIR:
            first, second = int(vocabulary.first[word]), int(vocabulary.second[word])
            return f"{lexicon.word(first)} {lexicon.word(second)}".lower()
        return lexicon.word(word).lower()

    def embed(self, texts: Sequence[str]) -> F32:
        """Embed texts: float32[texts, DIMENSIONS]."""
        return self.vectors.embed(texts)

    def word_vectors(self, words: npt.NDArray[np.int64]) -> F32:
        """Look up centred vectors of words by index; zeros for words without a vector."""
        rows = self.vectors.row_of[words]
        known = rows >= 0
        vectors = np.zeros((len(words), DIMENSIONS), np.float32)
        vectors[known] = self.vectors.centred(self.vectors.of_rows(rows[known]))
        return vectors

    def word_terms(self, words: npt.NDArray[np.int64], clue: str | None, wordness: F32) -> F32:
        """Compute meaning terms of words by index: float32[words, MEANING], 0 for unknown ones."""
        unique, back = np.unique(words, return_inverse=True)
        centred = self.word_vectors(unique)
        terms = np.zeros((len(unique), len(MEANING)), np.float32)
        if clue:
            about = self.vectors.centred(self.embed([clue.lower()]))[0]
            terms[:, 0] = centred @ about
        terms[:, 1] = centred @ wordness
        listed: F32 = terms[back]
        return listed

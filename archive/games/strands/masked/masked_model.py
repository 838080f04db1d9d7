"""A masked language model of the BERT family from a folder, as a forward pass in NumPy.

No package of the index carries such a model, so a folder is named: as model hubs lay it out, with
config.json, vocab.txt and model.safetensors (bert-base-uncased is one). Nothing is downloaded, and
NumPy runs the model: so there is no package that an optional extra could name. The signal of
reference 004 is how probable a word is in its sentence about the theme.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.ranking.minilm import gelu, read_safetensors
from nightgrid.archive.games.strands.ranking.word_pieces import WordPieces
from nightgrid.solvers.errors import PermanentError

F32 = npt.NDArray[np.float32]

VARIABLE = "NIGHTGRID_MASKED_MODEL"
"""Names the folder of the model."""
FILES = ("config.json", "vocab.txt", "model.safetensors")
MISSING = (
    f"the masked language model is not there; set {VARIABLE} to a folder with "
    f"{FILES[0]}, {FILES[1]} and {FILES[2]} of a BERT masked language model"
)
MASK = "[MASK]"
PROMPT = ("The theme is", ". A related word is", ".")
"""What 004 asks: "The theme is {theme}. A related word is [MASK]."; the clue is the theme."""
TOKENS_MAX = 128
_RENAMED = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
"""What early files of the family call weights."""


def is_named() -> bool:
    """Tell whether a folder is named for the model."""
    return bool(os.environ.get(VARIABLE))


@lru_cache(maxsize=1)
def masked_model(folder: str | None = None) -> MaskedModel:
    """Open the model of a folder, or of the folder that the environment names, once a process.

    Raises PermanentError where there is none, or none of this family.
    """
    named = folder or os.environ.get(VARIABLE)
    if not named:
        raise PermanentError(MISSING)
    return MaskedModel(Path(named))


class MaskedModel:
    """A BERT encoder with its head for masked words."""

    def __init__(self, folder: Path) -> None:
        """Map the weights. Raises PermanentError for a folder that has no such model."""
        lacking = [name for name in FILES if not (folder / name).is_file()]
        if lacking:
            raise PermanentError(f"{folder} has no {lacking[0]}; {MISSING}")
        try:
            self._config: dict[str, Any] = json.loads((folder / "config.json").read_bytes())
            tensors = read_safetensors(folder / "model.safetensors")
            self._pieces = WordPieces(folder / "vocab.txt")
            self._weights = {_plain(name): value for name, value in tensors.items()}
            self._heads = int(self._config["num_attention_heads"])
            self._layer_count = int(self._config["num_hidden_layers"])
            self._epsilon = np.float32(self._config.get("layer_norm_eps", 1e-12))
            self._mask = self._pieces.number(MASK)
            self._words = self._weights["embeddings.word_embeddings.weight"]
            self._weights["cls.predictions.transform.dense.weight"]
        except (KeyError, ValueError, TypeError) as error:
            raise PermanentError(
                f"{folder} has no BERT masked language model: {error!r:.100}"
            ) from error

    def log_likelihoods(self, clue: str, words: Sequence[str]) -> npt.NDArray[np.float64]:
        """Score words in PROMPT about a clue: float64[words], mean nats of a word's pieces.

        A word of several pieces has a mask for each. Words of equally many pieces see the same
        text, which goes through the model once. A clue that is too long loses its end.
        """
        begin, middle, end = (self._pieces.ids(text, TOKENS_MAX) for text in PROMPT)
        about = self._pieces.ids(clue, TOKENS_MAX)[1:-1]
        pieces = [self._pieces.ids(word, TOKENS_MAX)[1:-1] for word in words]
        scores = np.zeros(len(words))
        by_size: dict[int, list[int]] = {}
        for i, own in enumerate(pieces):
            by_size.setdefault(len(own), []).append(i)
        for size, rows in by_size.items():
            room = TOKENS_MAX - size - (len(begin) - 1) - (len(middle) - 2) - (len(end) - 1)
            if not size or room < 0:
                scores[rows] = -np.inf
                continue
            before = [*begin[:-1], *about[:room], *middle[1:-1]]
            ids = np.array([[*before, *[self._mask] * size, *end[1:]]])
            at = len(before)
            logits = self._logits(ids)[0, at : at + size].astype(np.float64)
            top = logits.max(axis=1, keepdims=True)
            nats = logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
            for row in rows:
                scores[row] = nats[np.arange(size), pieces[row]].mean()
        return scores

    def _logits(self, ids: npt.NDArray[np.int64]) -> F32:
        """Run token ids (int64[texts, tokens], no padding): float32[texts, tokens, vocabulary]."""
        texts, tokens = ids.shape
        weights = self._weights
        width = self._words.shape[1]
        x = self._words[ids]
        x = x + weights["embeddings.position_embeddings.weight"][:tokens]
        x = x + weights["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x.reshape(-1, width), "embeddings.LayerNorm")
        for number in range(self._layer_count):
            x = self._layer(x, number, texts, tokens)
        x = gelu(self._dense(x, "cls.predictions.transform.dense"))
        x = self._norm(x, "cls.predictions.transform.LayerNorm")
        # The decoder is the table of word vectors.
        logits: F32 = x @ self._words.T + weights["cls.predictions.bias"]
        return logits.reshape(texts, tokens, -1)

    def _layer(self, x: F32, number: int, texts: int, tokens: int) -> F32:
        at = f"encoder.layer.{number}"
        depth = x.shape[1] // self._heads

        def heads(name: str) -> F32:
            own = self._dense(x, f"{at}.attention.self.{name}")
            split: F32 = own.reshape(texts, tokens, self._heads, depth).transpose(0, 2, 1, 3)
            return split

        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / np.float32(np.sqrt(depth))
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed: Any = (scores @ heads("value")).transpose(0, 2, 1, 3).reshape(x.shape)
        out = self._dense(mixed, f"{at}.attention.output.dense")
        x = self._norm(x + out, f"{at}.attention.output.LayerNorm")
        up = gelu(self._dense(x, f"{at}.intermediate.dense"))
        return self._norm(x + self._dense(up, f"{at}.output.dense"), f"{at}.output.LayerNorm")

    def _dense(self, x: F32, name: str) -> F32:
        result: F32 = x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return result

    def _norm(self, x: F32, name: str) -> F32:
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + self._epsilon)
        result: F32 = centred / scale * self._weights[f"{name}.weight"]
        return result + self._weights[f"{name}.bias"]


def _plain(name: str) -> str:
    """Name a weight as later files of the family do."""
    name = name.removeprefix("bert.")
    for before, after in _RENAMED.items():
        name = name.replace(before, after)
    return name

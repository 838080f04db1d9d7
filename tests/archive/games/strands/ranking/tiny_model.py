"""A sentence model of the right shape with drawn weights, and a vocabulary of word pieces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from nightgrid.archive.games.strands.language.language_model import LanguageModel
from nightgrid.archive.games.strands.ranking import vectors
from nightgrid.archive.games.strands.ranking.meaning import Meanings
from nightgrid.archive.games.strands.ranking.minilm import DIMENSIONS, LAYERS, SentenceModel
from nightgrid.archive.games.strands.ranking.vectors import Vectors
from nightgrid.solvers.strands.ranking.vocabulary import Vocabulary
from tests.archive.games.strands.language.tiny_language_model import write_language_model

INNER = 48
PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "dog", "##s", "hot", ",", "a", "b", "##b")


def write_model(folder: Path, seed: int = 0) -> dict[str, np.ndarray]:
    """Write model.safetensors and tokenizer.json; return the tensors."""
    rng = np.random.default_rng(seed)

    def drawn(*shape: int) -> np.ndarray:
        return rng.normal(0, 0.2, shape).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": drawn(len(PIECES), DIMENSIONS),
        "embeddings.position_embeddings.weight": drawn(64, DIMENSIONS),
        "embeddings.token_type_embeddings.weight": drawn(2, DIMENSIONS),
        "embeddings.LayerNorm.weight": 1 + drawn(DIMENSIONS),
        "embeddings.LayerNorm.bias": drawn(DIMENSIONS),
    }
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        for part in ("attention.self.query", "attention.self.key", "attention.self.value",
                     "attention.output.dense"):  # fmt: skip
            tensors[f"{at}{part}.weight"] = drawn(DIMENSIONS, DIMENSIONS)
            tensors[f"{at}{part}.bias"] = drawn(DIMENSIONS)
        tensors[f"{at}intermediate.dense.weight"] = drawn(INNER, DIMENSIONS)
        tensors[f"{at}intermediate.dense.bias"] = drawn(INNER)
        tensors[f"{at}output.dense.weight"] = drawn(DIMENSIONS, INNER)
        tensors[f"{at}output.dense.bias"] = drawn(DIMENSIONS)
        for part in ("attention.output", "output"):
            tensors[f"{at}{part}.LayerNorm.weight"] = 1 + drawn(DIMENSIONS)
            tensors[f"{at}{part}.LayerNorm.bias"] = drawn(DIMENSIONS)
    save_file(tensors, folder / "model.safetensors")
    numbers = {piece: number for number, piece in enumerate(PIECES)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(mark, numbers[mark]) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, ends)
    tokenizer.save(str(folder / "tokenizer.json"))
    return tensors


def tiny_meanings(vocabulary: Vocabulary, folder: Path) -> Meanings:
    """Open tiny models whose vectors are cached in a folder."""
    write_model(folder)
    write_language_model(folder / "tiny.gguf")
    model = SentenceModel(folder, folder / "kept-model")
    language = LanguageModel(folder / "tiny.gguf", folder / "kept")
    return Meanings(tiny_vectors(model, vocabulary, folder), language)


def tiny_vectors(model: SentenceModel, vocabulary: Vocabulary, cache: Path) -> Vectors:
    """Open the vectors of a vocabulary, without a common part."""
    none = np.zeros((3, DIMENSIONS), np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "cache_base", lambda: cache)
        patch.setattr(vectors.importlib.metadata, "version", lambda _: "0.1.0")
        return Vectors(model, vocabulary, none[0], none[1:])

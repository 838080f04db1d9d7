"""A sentence model of the right shape with drawn weights, and a vocabulary of word pieces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from nightgrid.archive.games.strands.ranking.minilm import DIMENSIONS, LAYERS

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

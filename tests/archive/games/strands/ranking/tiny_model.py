"""A sentence model of the right shape with drawn weights, and a vocabulary of word pieces."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from nightgrid.archive.games.strands.ranking.minilm import DIMENSIONS, LAYERS

INNER = 48
PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "dog", "##s", "hot", ",", "a", "b", "##b")


def write_model(folder: Path, seed: int = 0) -> dict[str, np.ndarray]:
    """Write model.safetensors and vocab.txt; return the tensors."""
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
    header, data = {}, b""
    for name, tensor in tensors.items():
        start = len(data)
        data += tensor.tobytes()
        header[name] = {
            "dtype": "F32", "shape": list(tensor.shape), "data_offsets": [start, len(data)],
        }  # fmt: skip
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    return tensors

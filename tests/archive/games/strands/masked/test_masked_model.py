"""The masked language model agrees with a slow reference, and says what it lacks."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from nightgrid.archive.games.strands.masked.masked_model import (
    MISSING,
    TOKENS_MAX,
    VARIABLE,
    MaskedModel,
    masked_model,
)
from nightgrid.solvers.errors import PermanentError

PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "pets", ".", "cat", "dog", "##s", "hot",
          "the", "theme", "is", "a", "related", "word")  # fmt: skip
WIDTH, HEADS, LAYERS, INNER = 12, 3, 2, 16


def write_model(folder: Path, early: bool = False) -> dict[str, np.ndarray]:
    """Write a tiny masked language model as hubs lay it out; return its tensors."""
    rng = np.random.default_rng(4)
    tensors: dict[str, np.ndarray] = {}

    def add(name: str, *shape: int, about: float = 0.0) -> None:
        tensors[name] = (about + rng.normal(0, 0.5, shape)).astype(np.float32)

    def norm(name: str) -> None:
        weight, bias = ("gamma", "beta") if early else ("weight", "bias")
        add(f"{name}.LayerNorm.{weight}", WIDTH, about=1.0)
        add(f"{name}.LayerNorm.{bias}", WIDTH)

    def dense(name: str, to: int, of: int) -> None:
        add(f"{name}.weight", to, of)
        add(f"{name}.bias", to)

    for kind, rows in (("word", len(PIECES)), ("position", 128), ("token_type", 2)):
        add(f"bert.embeddings.{kind}_embeddings.weight", rows, WIDTH)
    norm("bert.embeddings")
    for layer in range(LAYERS):
        at = f"bert.encoder.layer.{layer}"
        for name in ("query", "key", "value"):
            dense(f"{at}.attention.self.{name}", WIDTH, WIDTH)
        dense(f"{at}.attention.output.dense", WIDTH, WIDTH)
        norm(f"{at}.attention.output")
        dense(f"{at}.intermediate.dense", INNER, WIDTH)
        dense(f"{at}.output.dense", WIDTH, INNER)
        norm(f"{at}.output")
    dense("cls.predictions.transform.dense", WIDTH, WIDTH)
    norm("cls.predictions.transform")
    add("cls.predictions.bias", len(PIECES))
    header, data = {}, b""
    for name, tensor in tensors.items():
        bounds = [len(data), len(data) + tensor.nbytes]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": bounds}
        data += tensor.tobytes()
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    config = {"num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "layer_norm_eps": 1e-12}
    (folder / "config.json").write_text(json.dumps(config))
    return {name.replace("gamma", "weight").replace("beta", "bias"): tensor.astype(np.float64)
            for name, tensor in tensors.items()}  # fmt: skip


def reference(tensors: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """Run one text through the model token by token and head by head."""

    def dense(x: np.ndarray, name: str) -> np.ndarray:
        return tensors[f"{name}.weight"] @ x + tensors[f"{name}.bias"]

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        scaled = (x - x.mean()) / math.sqrt(x.var() + 1e-12)
        return scaled * tensors[f"{name}.LayerNorm.weight"] + tensors[f"{name}.LayerNorm.bias"]

    def gelu(x: np.ndarray) -> np.ndarray:
        return np.array([v * (1 + math.erf(v / math.sqrt(2))) / 2 for v in x])

    at = "bert.embeddings"
    words = tensors[f"{at}.word_embeddings.weight"]
    states = [
        norm(
            words[token]
            + tensors[f"{at}.position_embeddings.weight"][place]
            + tensors[f"{at}.token_type_embeddings.weight"][0],
            at,
        )
        for place, token in enumerate(ids)
    ]
    depth = WIDTH // HEADS
    for layer in range(LAYERS):
        at = f"bert.encoder.layer.{layer}"
        query, key, value = (
            [dense(x, f"{at}.attention.self.{name}") for x in states]
            for name in ("query", "key", "value")
        )
        mixed = []
        for own in query:
            heads = []
            for head in range(HEADS):
                part = slice(head * depth, (head + 1) * depth)
                scores = np.array([own[part] @ k[part] / math.sqrt(depth) for k in key])
                shares = np.exp(scores - scores.max())
                shares /= shares.sum()
                heads.append(sum(share * v[part] for share, v in zip(shares, value, strict=True)))
            mixed.append(np.concatenate(heads))
        states = [
            norm(x + dense(m, f"{at}.attention.output.dense"), f"{at}.attention.output")
            for x, m in zip(states, mixed, strict=True)
        ]
        states = [
            norm(
                x + dense(gelu(dense(x, f"{at}.intermediate.dense")), f"{at}.output.dense"),
                f"{at}.output",
            )
            for x in states
        ]
    at = "cls.predictions.transform"
    logits = np.array([words @ norm(gelu(dense(x, f"{at}.dense")), at) for x in states])
    return logits + tensors["cls.predictions.bias"]


@pytest.mark.parametrize("early", [False, True])
def test_likelihoods_are_those_of_the_reference(tmp_path: Path, early: bool):
    tensors = write_model(tmp_path, early)
    found = MaskedModel(tmp_path).log_likelihoods("Pets", ["cat", "dogs", "hot", "cats"])
    number = {piece: i for i, piece in enumerate(PIECES)}

    def expected(*pieces: str) -> float:
        # The sentence of reference 004, section 3.2.3.
        before = ("[CLS]", "the", "theme", "is", "pets", ".", "a", "related", "word", "is")
        ids = [number[p] for p in (*before, *["[MASK]"] * len(pieces), ".", "[SEP]")]
        logits = reference(tensors, ids)[len(before) : len(before) + len(pieces)]
        nats = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return float(np.mean([nats[i, number[p]] for i, p in enumerate(pieces)]))

    words = (("cat",), ("dog", "##s"), ("hot",), ("cat", "##s"))
    assert found == pytest.approx([expected(*pieces) for pieces in words], abs=1e-4)


def test_a_clue_that_is_too_long_loses_its_end(tmp_path: Path):
    write_model(tmp_path)
    model = MaskedModel(tmp_path)
    found = model.log_likelihoods("pets " * 200, ["cat", "dogs"])
    longest = TOKENS_MAX - 11
    assert found[0] == model.log_likelihoods("pets " * (longest - 1), ["cat"])[0]
    assert found[1] == model.log_likelihoods("pets " * (longest - 2), ["dogs"])[0]
    assert found[0] != model.log_likelihoods("pets " * (longest - 2), ["cat"])[0]


def test_a_model_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    masked_model.cache_clear()
    with pytest.raises(PermanentError) as told:
        masked_model()
    assert str(told.value) == MISSING
    with pytest.raises(PermanentError, match=r"has no config\.json"):
        MaskedModel(tmp_path)
    write_model(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert len(masked_model().log_likelihoods("pets", ["cat", ""])) == 2
    masked_model.cache_clear()


@pytest.mark.parametrize("harm", ["{}", "[]", "nonsense"])
def test_a_folder_of_something_else_is_told(tmp_path: Path, harm: str):
    write_model(tmp_path)
    (tmp_path / "config.json").write_text(harm)
    with pytest.raises(PermanentError, match="has no BERT masked language model"):
        MaskedModel(tmp_path)

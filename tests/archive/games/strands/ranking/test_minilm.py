"""The forward pass computes what BERT's definition says, written out token by token."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from nightgrid.archive.games.plug import ALONE_SUFFIX
from nightgrid.archive.games.strands.ranking import minilm, ranker
from nightgrid.archive.games.strands.ranking.minilm import (
    DIMENSIONS,
    GELU_ROWS,
    HEADS,
    LAYERS,
    SentenceModel,
    gelu,
)
from nightgrid.archive.games.strands.ranking.weights import NAME
from tests.archive.games.strands.ranking.tiny_model import PIECES, write_model


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray]]:
    folder = tmp_path_factory.mktemp("model")
    return folder, write_model(folder)


def norm(x: np.ndarray, tensors: dict[str, np.ndarray], name: str) -> np.ndarray:
    scale = np.sqrt(((x - x.mean()) ** 2).mean() + 1e-12)
    return (x - x.mean()) / scale * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]


def by_definition(ids: list[int], tensors: dict[str, np.ndarray]) -> np.ndarray:
    t = {name: value.astype(np.float64) for name, value in tensors.items()}
    e = "embeddings."
    rows = [
        norm(
            t[f"{e}word_embeddings.weight"][token]
            + t[f"{e}position_embeddings.weight"][place]
            + t[f"{e}token_type_embeddings.weight"][0],
            t,
            f"{e}LayerNorm",
        )
        for place, token in enumerate(ids)
    ]
    depth = DIMENSIONS // HEADS
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."

        def dense(x: np.ndarray, name: str, at: str = at) -> np.ndarray:
            return t[f"{at}{name}.weight"] @ x + t[f"{at}{name}.bias"]

        queries, keys, values = (
            [dense(x, f"attention.self.{part}") for x in rows] for part in ("query", "key", "value")
        )
        after = []
        for q, x in zip(queries, rows, strict=True):
            mixed = []
            for head in range(HEADS):
                part = slice(head * depth, (head + 1) * depth)
                weights = np.exp([q[part] @ k[part] / math.sqrt(depth) for k in keys])
                weights /= weights.sum()
                mixed.append(sum(w * v[part] for w, v in zip(weights, values, strict=True)))
            y = norm(x + dense(np.concatenate(mixed), "attention.output.dense"), t,
                     f"{at}attention.output.LayerNorm")  # fmt: skip
            up = dense(y, "intermediate.dense")
            up = np.array([u * (1 + math.erf(u / math.sqrt(2))) / 2 for u in up])
            after.append(norm(y + dense(up, "output.dense"), t, f"{at}output.LayerNorm"))
        rows = after
    mean = np.mean(rows, axis=0)
    return mean / np.linalg.norm(mean)


def test_a_text_is_embedded_as_the_definition_says(made: tuple[Path, dict[str, np.ndarray]]):
    folder, tensors = made
    ids = [PIECES.index(piece) for piece in ("[CLS]", "hot", "dog", "##s", "[SEP]")]
    expected = by_definition(ids, tensors)
    (found,) = SentenceModel(folder, folder / "kept").embed(["Hot dogs"])
    assert np.abs(found - expected).max() < 1e-5


@pytest.mark.parametrize("rows", [1, GELU_ROWS, 2 * GELU_ROWS + 5])
def test_the_activation_is_that_of_the_definition_in_every_row(rows: int):
    values = np.linspace(-9, 9, rows * 7, dtype=np.float32).reshape(rows, 7)
    expected = [[x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in row] for row in values.tolist()]
    assert np.abs(gelu(values.copy()) - expected).max() < 2e-6


def test_a_text_has_the_same_vector_in_any_batch(
    made: tuple[Path, dict[str, np.ndarray]],
):
    model = SentenceModel(made[0], made[0] / "kept")
    texts = ["cat", "dogs", "hot dog, hot cat", "cats", "", "unknown"]
    together = model.embed(texts)
    alone = np.concatenate([model.embed([text]) for text in texts])
    assert together.shape == (len(texts), DIMENSIONS)
    assert np.abs(together - alone).max() < 1e-6
    assert np.allclose(np.linalg.norm(together, axis=1), 1)
    assert model.embed([]).shape == (0, DIMENSIONS)


@pytest.mark.long(
    short="tests/archive/games/strands/ranking/test_ranker.py::test_covers_are_ranked_by_confidence_and_keep_the_rules"
)
def test_without_the_package_the_ranker_uses_no_models(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package_of_a_model")
    ranker.default_ranker.cache_clear()
    opened = ranker.default_ranker()
    ranker.default_ranker.cache_clear()
    assert opened.meanings is None
    assert opened.name == f"{NAME}{ALONE_SUFFIX}"

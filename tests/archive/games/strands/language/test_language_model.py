"""The language model equals a plain forward pass, for any common prefixes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nightgrid.archive.games.strands.language.language_model import LanguageModel
from tests.archive.games.strands.language.tiny_language_model import (
    EPSILON,
    HEADS,
    KEY_HEADS,
    LAYERS,
    TOKENS,
    TURN_BASE,
    WIDTH,
    write_language_model,
)

BEFORE = "a dog:"
TEXTS = [[" cat", " and dog", "\n"], [" cat", " and cat", "\n"], [" cat", "", "s"], ["x", "y", "z"]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray]]:
    path = tmp_path_factory.mktemp("language") / "tiny.gguf"
    return path, write_language_model(path)


@pytest.fixture
def model(made: tuple[Path, dict[str, np.ndarray]], tmp_path: Path) -> LanguageModel:
    return LanguageModel(made[0], tmp_path / "kept")


def plain(tensors: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """Return the log probability of every next token after each of a text's tokens, token by token.

    Method: the forward pass of Llama as its paper has it, in 64 bits, on rows of whole numbers.
    """
    w = {}
    for name, values in tensors.items():
        w[name.removesuffix(".weight")] = values.astype(np.float64)
        if values.ndim == 2:
            scale = (np.abs(values).max(axis=1) / 127).astype(np.float64)[:, None]
            w[name.removesuffix(".weight")] = np.rint(values / scale) * scale
    depth = WIDTH // HEADS

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        return x / np.sqrt((x**2).mean() + EPSILON) * w[name]

    def turned(x: np.ndarray, place: int) -> np.ndarray:
        pairs = x.reshape(-1, depth // 2, 2)
        angles = place * TURN_BASE ** (-np.arange(0, depth, 2) / depth)
        whole = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(1j * angles)
        return np.stack([whole.real, whole.imag], axis=-1).reshape(-1, depth)

    rows = [w["token_embd"][i] for i in ids]
    for layer in range(LAYERS):
        at = f"blk.{layer}."
        normed = [norm(x, at + "attn_norm") for x in rows]
        keys = [turned(w[at + "attn_k"] @ y, n) for n, y in enumerate(normed)]
        values = [(w[at + "attn_v"] @ y).reshape(KEY_HEADS, depth) for y in normed]
        after = []
        for n, (x, start) in enumerate(zip(rows, normed, strict=True)):
            mixed = []
            for head, query in enumerate(turned(w[at + "attn_q"] @ start, n)):
                own = head // (HEADS // KEY_HEADS)
                scores = np.array([query @ keys[m][own] for m in range(n + 1)]) / np.sqrt(depth)
                shares = np.exp(scores - scores.max())
                shares /= shares.sum()
                mixed.append(sum(shares[m] * values[m][own] for m in range(n + 1)))
            heard = x + w[at + "attn_output"] @ np.concatenate(mixed)
            y = norm(heard, at + "ffn_norm")
            gate = w[at + "ffn_gate"] @ y
            inner = gate / (1 + np.exp(-gate)) * (w[at + "ffn_up"] @ y)
            after.append(heard + w[at + "ffn_down"] @ inner)
        rows = after
    logits = np.array([w["token_embd"] @ norm(x, "output_norm") for x in rows])
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


def expected(
    model: LanguageModel, tensors: dict[str, np.ndarray], before: str, parts: list[str]
) -> list[float]:
    ids, sums = model.ids(before), []
    for part in parts:
        start, ids = len(ids), ids + model.ids(part)
        chances = plain(tensors, ids)
        sums.append(float(sum(chances[n - 1, ids[n]] for n in range(start, len(ids)))))
    return sums


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a cat", ["a", "Ġcat"]),
        # The pair that is listed first is joined first: "do", which leaves no "og".
        ("dog", ["dog"]),
        ("cats, 42", ["cat", "s", ",", "Ġ", "4", "2"]),
        ("\n\ncat", ["Ċ", "Ċ", "cat"]),
        ("é", ["Ã", "©"]),
        ("", []),
    ],
)
def test_a_text_is_cut_into_byte_pairs(model: LanguageModel, text: str, expected: list[str]):
    assert [TOKENS[number] for number in model.ids(text)] == expected


@pytest.mark.parametrize("before", [BEFORE, "a"])
def test_it_equals_a_plain_forward_pass(
    made: tuple[Path, dict[str, np.ndarray]], model: LanguageModel, before: str
):
    found = model.log_chances(before, TEXTS)
    assert found.shape == (4, 3)
    assert np.allclose(found, [expected(model, made[1], before, text) for text in TEXTS], atol=1e-3)


def test_a_text_has_the_same_probability_alone_and_in_a_batch(model: LanguageModel):
    together = model.log_chances(BEFORE, TEXTS)
    alone = np.concatenate([model.log_chances(BEFORE, [text]) for text in TEXTS])
    assert np.allclose(together, alone, atol=1e-4)


def test_the_batch_does_not_change_a_result(model: LanguageModel):
    first = model.log_chances(BEFORE, TEXTS)
    model.log_chances("cats", TEXTS)
    assert np.array_equal(model.log_chances(BEFORE, TEXTS), first)


def test_cached_weights_equal_fresh_ones(made: tuple[Path, dict[str, np.ndarray]], tmp_path: Path):
    (tmp_path / "file").touch()
    # A folder below a file cannot be created: the weights stay in memory.
    in_memory = LanguageModel(made[0], tmp_path / "file" / "kept")
    made_now = LanguageModel(made[0], tmp_path / "kept")
    mapped = LanguageModel(made[0], tmp_path / "kept")
    values = [one.log_chances(BEFORE, TEXTS) for one in (in_memory, made_now, mapped)]
    assert np.array_equal(values[0], values[1])
    assert np.array_equal(values[1], values[2])
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["kept"]

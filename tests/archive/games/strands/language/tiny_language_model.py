"""A language model of the family Llama with drawn weights, as a GGUF file."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

from nightgrid.archive.games.strands.language.language_model import letters_of_bytes

LAYERS, WIDTH, INNER, HEADS, KEY_HEADS = 2, 64, 96, 4, 2
MERGES = ["c a", "ca t", "Ġ cat", "d o", "do g", "o g"]
TOKENS = [*letters_of_bytes().values(), *(merge.replace(" ", "") for merge in MERGES)]
_TEXT, _LIST, _WHOLE, _FLOAT = 8, 9, 4, 6
FLOATS, FOUR_BITS, EIGHT_BITS = 0, 3, 8


def write_language_model(path: Path, seed: int = 0) -> dict[str, np.ndarray]:
    """Write the file; return the tensors as they are read back."""
    rng = np.random.default_rng(seed)
    keys = WIDTH // HEADS * KEY_HEADS
    shapes = {"token_embd": (len(TOKENS), WIDTH)}
    for layer in range(LAYERS):
        shapes |= {
            f"blk.{layer}.{name}": shape
            for name, shape in {
                "attn_q": (WIDTH, WIDTH), "attn_k": (keys, WIDTH), "attn_v": (keys, WIDTH),
                "attn_output": (WIDTH, WIDTH), "ffn_gate": (INNER, WIDTH),
                "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER),
            }.items()
        }  # fmt: skip
    tensors, stored = {}, {}
    for name, shape in shapes.items():
        kind = EIGHT_BITS if name == "token_embd" else FOUR_BITS
        drawn = rng.normal(0, 0.2, shape).astype(np.float32)
        stored[f"{name}.weight"] = shape, kind, *encoded(drawn, kind)
    for name in [*(f"blk.{i}.{n}_norm" for i in range(LAYERS) for n in ("attn", "ffn")),
                 "output_norm"]:  # fmt: skip
        values = 1 + rng.normal(0, 0.1, WIDTH).astype(np.float32)
        stored[f"{name}.weight"] = (WIDTH,), FLOATS, values.tobytes(), values
    tensors = {name: values for name, (_, _, _, values) in stored.items()}
    write_gguf(path, SAYS, {name: (s, k, data) for name, (s, k, data, _) in stored.items()})
    return tensors


SAYS: dict[str, Any] = {
    "general.architecture": "llama",
    "llama.block_count": LAYERS,
    "llama.embedding_length": WIDTH,
    "llama.feed_forward_length": INNER,
    "llama.attention.head_count": HEADS,
    "llama.attention.head_count_kv": KEY_HEADS,
    "llama.rope.freq_base": 100.0,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "tokenizer.ggml.tokens": TOKENS,
    "tokenizer.ggml.merges": MERGES,
}


def encoded(values: np.ndarray, kind: int) -> tuple[bytes, np.ndarray]:
    """Store values in blocks of 32: the bytes, and what they say."""
    blocks = values.reshape(-1, 32)
    if kind == EIGHT_BITS:
        scale = (np.abs(blocks).max(axis=1, keepdims=True) / 127).astype(np.float16)
        whole = np.rint(blocks / scale.astype(np.float32)).astype(np.int8)
        data = np.hstack([scale.view(np.uint8), whole.view(np.uint8)])
        said = whole * scale.astype(np.float32)
    else:
        least = blocks.min(axis=1, keepdims=True).astype(np.float16)
        scale = ((blocks.max(axis=1, keepdims=True) - least) / 15).astype(np.float16)
        whole = np.rint((blocks - least) / scale).clip(0, 15).astype(np.uint8)
        halves = whole[:, :16] | whole[:, 16:] << 4
        data = np.hstack([scale.view(np.uint8), least.view(np.uint8), halves])
        said = whole * scale.astype(np.float32) + least.astype(np.float32)
    return data.tobytes(), said.reshape(values.shape).astype(np.float32)


def write_gguf(
    path: Path, says: dict[str, Any], tensors: dict[str, tuple[Any, int, bytes]]
) -> None:
    """Write a GGUF file of version 3."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(says))
    for name, value in says.items():
        head += _text(name) + _value(value)
    data = b""
    for name, (shape, kind, raw) in tensors.items():
        data += b"\0" * (-len(data) % 32)
        sides = tuple(reversed(shape))
        head += _text(name) + struct.pack(f"<I{len(sides)}QIQ", len(sides), *sides, kind, len(data))
        data += raw
    path.write_bytes(head + b"\0" * (-len(head) % 32) + data)


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", _TEXT) + _text(value)
    if isinstance(value, list):
        return struct.pack("<IIQ", _LIST, _TEXT, len(value)) + b"".join(map(_text, value))
    if isinstance(value, int):
        return struct.pack("<II", _WHOLE, value)
    return struct.pack("<If", _FLOAT, value)

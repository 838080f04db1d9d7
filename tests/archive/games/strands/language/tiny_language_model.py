"""A language model of the family Llama with drawn weights, as a GGUF file."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Kind
from gguf.quants import dequantize, quantize
from tokenizers import pre_tokenizers

LAYERS, WIDTH, INNER, HEADS, KEY_HEADS = 2, 64, 96, 4, 2
TURN_BASE, EPSILON = 100.0, 1e-5
MERGES = ["c a", "ca t", "Ġ cat", "d o", "do g", "o g"]
LETTERS = sorted(pre_tokenizers.ByteLevel.alphabet())
TOKENS = [*LETTERS, *(merge.replace(" ", "") for merge in MERGES)]


def write_language_model(path: Path, seed: int = 0) -> dict[str, np.ndarray]:
    """Write the file; return the tensors as they are read back."""
    rng = np.random.default_rng(seed)
    keys = WIDTH // HEADS * KEY_HEADS
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_freq_base(TURN_BASE)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_token_list(TOKENS)
    writer.add_token_merges(MERGES)
    tensors = {}

    def add(name: str, kind: Kind, *shape: int) -> None:
        drawn = quantize(rng.normal(0, 0.2, shape).astype(np.float32), kind)
        tensors[f"{name}.weight"] = dequantize(drawn, kind)
        writer.add_tensor(f"{name}.weight", drawn, raw_dtype=kind)

    add("token_embd", Kind.Q8_0, len(TOKENS), WIDTH)
    for layer in range(LAYERS):
        for name, shape in {
            "attn_q": (WIDTH, WIDTH), "attn_k": (keys, WIDTH), "attn_v": (keys, WIDTH),
            "attn_output": (WIDTH, WIDTH), "ffn_gate": (INNER, WIDTH),
            "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER),
        }.items():  # fmt: skip
            add(f"blk.{layer}.{name}", Kind.Q4_1, *shape)
        for name in ("attn_norm", "ffn_norm"):
            add(f"blk.{layer}.{name}", Kind.F32, WIDTH)
    add("output_norm", Kind.F32, WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tensors

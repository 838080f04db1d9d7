"""The weights of a language model as bytes: turned once a machine, kept on disk, and mapped.

A row of a matrix is whole numbers from -127 to 127 times the scale of the row. They become floats
for one product at a time, so that no model of floats stays in memory.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nightgrid.archive.games.strands.language.gguf import GgufFile
from nightgrid.solvers.kernel.cache_folder import fill_folder

F32 = npt.NDArray[np.float32]
I8 = npt.NDArray[np.int8]

LEVELS = 127
ROWS_AT_ONCE = 4096
"""Rows that are turned into bytes at once."""
EMBEDDING = "token_embd"
_NORMS, _LAST_NORM = ("attn_norm", "ffn_norm"), "output_norm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How large the parts of a model are, as its file says."""

    tokens: int
    layers: int
    width: int
    inner: int
    heads: int
    key_heads: int
    turn_base: float
    """What speeds of turns are powers of."""
    epsilon: float
    """What keeps norms from dividing by 0."""

    @classmethod
    def of(cls, file: GgufFile) -> Sizes:
        """Read the sizes of a model of the family Llama. Raises KeyError for another."""
        says = file.says
        return cls(
            tokens=len(says["tokenizer.ggml.tokens"]),
            layers=int(says["llama.block_count"]),
            width=int(says["llama.embedding_length"]),
            inner=int(says["llama.feed_forward_length"]),
            heads=int(says["llama.attention.head_count"]),
            key_heads=int(says["llama.attention.head_count_kv"]),
            turn_base=float(says["llama.rope.freq_base"]),
            epsilon=float(says["llama.attention.layer_norm_rms_epsilon"]),
        )

    @property
    def depth(self) -> int:
        """Values of a head."""
        return self.width // self.heads

    def matrices(self) -> list[tuple[str, int, int]]:
        """Name matrices with rows and columns, in their order on disk: the embeddings last."""
        keys = self.key_heads * self.depth
        layer = [
            ("attn_q", self.width, self.width), ("attn_k", keys, self.width),
            ("attn_v", keys, self.width), ("attn_output", self.width, self.width),
            ("ffn_gate", self.inner, self.width), ("ffn_up", self.inner, self.width),
            ("ffn_down", self.width, self.inner),
        ]  # fmt: skip
        named = [(f"blk.{i}.{n}", *shape) for i in range(self.layers) for n, *shape in layer]
        return [*named, (EMBEDDING, self.tokens, self.width)]  # type: ignore[list-item]


class ByteWeights:
    """The matrices of a model, and the weights of its norms."""

    def __init__(
        self, sizes: Sizes, values: I8, scales: F32, norms: F32, mapped: mmap.mmap | None = None
    ) -> None:
        """Take the arrays; `mapped` is the file that the values lie in."""
        self.sizes = sizes
        self._file = mapped
        self._values, self._scales, self._norms = values, scales, norms
        self._place: dict[str, tuple[int, int, int, int]] = {}
        at = row = 0
        for name, rows, columns in sizes.matrices():
            self._place[name] = at, row, rows, columns
            at, row = at + rows * columns, row + rows

    def times(self, x: F32, name: str, first: int = 0, stop: int | None = None) -> F32:
        """Multiply rows of `x` with rows `first` to `stop` of a matrix, by default all of them."""
        at, row, rows, columns = self._place[name]
        stop = rows if stop is None else stop
        chosen = self._values[at + first * columns : at + stop * columns].reshape(-1, columns)
        product: F32 = x @ chosen.astype(np.float32).T
        product *= self._scales[row + first : row + stop]
        return product

    def embedding(self, ids: npt.NDArray[np.int64]) -> F32:
        """Look tokens up: float32[tokens, width]."""
        at, row, rows, columns = self._place[EMBEDDING]
        table = self._values[at : at + rows * columns].reshape(rows, columns)
        found: F32 = table[ids] * self._scales[row + ids][:, None]
        return found

    def norm(self, number: int) -> F32:
        """Return the weights of a norm: two a layer, then the last one."""
        own: F32 = self._norms[number]
        return own

    def rest(self) -> None:
        """Release the memory of mapped weights; the next text maps them again."""
        if self._file is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._file.madvise(mmap.MADV_DONTNEED)


_VALUES, _SCALES, _NORM_WEIGHTS = "values.bin", "scales.npy", "norms.npy"


def byte_weights(file: GgufFile, folder: Path) -> ByteWeights:
    """Map the weights that a folder keeps; turn those of the file into bytes where it has none.

    Where the folder cannot be written, they stay in memory.
    """
    sizes = Sizes.of(file)
    return _mapped(sizes, folder) or _kept(sizes, file, folder)


def _kept(sizes: Sizes, file: GgufFile, folder: Path) -> ByteWeights:
    arrays = _as_bytes(sizes, file)

    def write(staged: Path) -> None:
        arrays[0].tofile(staged / _VALUES)
        np.save(staged / _SCALES, arrays[1], allow_pickle=False)
        np.save(staged / _NORM_WEIGHTS, arrays[2], allow_pickle=False)

    fill_folder(folder, write)
    return _mapped(sizes, folder) or ByteWeights(sizes, *arrays)


def _as_bytes(sizes: Sizes, file: GgufFile) -> tuple[I8, F32, F32]:
    matrices = sizes.matrices()
    values = np.empty(sum(rows * columns for _, rows, columns in matrices), np.int8)
    scales = np.empty(sum(rows for _, rows, _ in matrices), np.float32)
    at = row = 0
    for name, rows, columns in matrices:
        matrix = file.tensor(f"{name}.weight")
        for first in range(0, rows, ROWS_AT_ONCE):
            part = matrix[first : first + ROWS_AT_ONCE]
            scale = np.maximum(np.abs(part).max(axis=1) / LEVELS, np.finfo(np.float32).tiny)
            scales[row : row + len(part)] = scale
            values[at : at + len(part) * columns] = np.rint(part / scale[:, None]).ravel()
            at, row = at + len(part) * columns, row + len(part)
    norms = [file.tensor(f"blk.{i}.{name}.weight") for i in range(sizes.layers) for name in _NORMS]
    return values, scales, np.array([*norms, file.tensor(f"{_LAST_NORM}.weight")])


def _mapped(sizes: Sizes, folder: Path) -> ByteWeights | None:
    try:
        with (folder / _VALUES).open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        scales, norms = (
            np.load(folder / name, allow_pickle=False) for name in (_SCALES, _NORM_WEIGHTS)
        )
    except (OSError, ValueError):
        return None
    return ByteWeights(sizes, np.frombuffer(data, np.int8), scales, norms, data)

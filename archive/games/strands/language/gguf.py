"""Read a GGUF file: what a model's file says of itself, and its tensors as 32-bit floats.

Format: ggml's docs/gguf.md, version 3. Of its ways to store weights, those are read that the
packaged model has: floats of 32 bits, and blocks of 32 weights in 8 or 4 bits with a scale.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]

MAGIC = b"GGUF"
VERSION = 3
BLOCK = 32
"""Weights of a block."""
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q",
            12: "d"}  # fmt: skip
_TEXT, _LIST = 8, 9
_FLOATS, _FOUR_BITS, _EIGHT_BITS = 0, 3, 8


@dataclass(frozen=True, slots=True)
class _Stored:
    """Where a tensor lies."""

    shape: tuple[int, ...]
    kind: int
    at: int


class GgufFile:
    """An open GGUF file. Its tensors are decoded when they are asked for."""

    def __init__(self, path: Path) -> None:
        """Map a file and read its header. Raises ValueError for another format."""
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = len(MAGIC)
        if self._data[: self._at] != MAGIC or self._number("I") != VERSION:
            raise ValueError(f"{path.name} is no GGUF file of version {VERSION}")
        tensors, entries = self._number("Q"), self._number("Q")
        self.says: dict[str, Any] = {}
        """What the file says of its model, by name."""
        for _ in range(entries):
            name = self._text()
            self.says[name] = self._value(self._number("I"))
        stored = {}
        for _ in range(tensors):
            name = self._text()
            sides = [self._number("Q") for _ in range(self._number("I"))]
            stored[name] = _Stored(tuple(reversed(sides)), self._number("I"), self._number("Q"))
        step = int(self.says.get("general.alignment", 32))
        start = -(-self._at // step) * step
        self._stored = {
            n: _Stored(one.shape, one.kind, start + one.at) for n, one in stored.items()
        }

    def tensor(self, name: str) -> F32:
        """Decode a tensor. Raises KeyError, and ValueError for weights stored in another way."""
        stored = self._stored[name]
        count = int(np.prod(stored.shape))
        if stored.kind == _FLOATS:
            values = np.frombuffer(self._data, "<f4", count, stored.at)
        elif stored.kind == _EIGHT_BITS:
            scales, rest = self._blocks(stored.at, count, 1, BLOCK)
            values = rest.view(np.int8) * scales
        elif stored.kind == _FOUR_BITS:
            scales, rest = self._blocks(stored.at, count, 2, BLOCK // 2)
            halves = np.concatenate([rest & 15, rest >> 4], axis=1)
            values = halves * scales[:, :1] + scales[:, 1:]
        else:
            raise ValueError(f"{name} is stored in a way that is not read, number {stored.kind}")
        return values.astype(np.float32).reshape(stored.shape)

    def _blocks(self, at: int, count: int, scales: int, size: int) -> tuple[F32, Any]:
        """Divide blocks into their scales and their weights."""
        row = np.dtype([("scales", "<f2", (scales,)), ("weights", np.uint8, (size,))])
        blocks = np.frombuffer(self._data, row, count // BLOCK, at)
        return blocks["scales"].astype(np.float32), np.ascontiguousarray(blocks["weights"])

    def _number(self, kind: str) -> Any:
        (value,) = struct.unpack_from(f"<{kind}", self._data, self._at)
        self._at += struct.calcsize(f"<{kind}")
        return value

    def _text(self) -> str:
        size = self._number("Q")
        self._at += size
        return self._data[self._at - size : self._at].decode("utf-8")

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind == _LIST:
            own, size = self._number("I"), self._number("Q")
            return [self._value(own) for _ in range(size)]
        return self._number(_NUMBERS[kind])

"""Columns of boards: a list for each row, and what a board's letters tell of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Arrays

_PERMILLE = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (85, 21, 45, 34, 112, 18, 25, 30, 75, 2, 11, 55, 30, 67, 72, 32, 2, 76, 57, 70, 36, 10, 13,
         3, 18, 3),
        strict=True,
    )
)  # fmt: skip
"""Letters in a thousand of those of a dictionary of English, about."""
RARE_PERMILLE = 1
"""What any other letter counts as."""
_VOWELS = np.array([ord(letter) for letter in "AEIOU"])
LETTER_FEATURES = ("log2_frequency", "vowel_share", "s_count")


def list_column(
    name: str, lists: Iterable[Sequence[int]], dtype: type[np.generic] = np.int32
) -> dict[str, npt.NDArray[Any]]:
    """Lay lists of whole numbers out as NAME.values and NAME.offsets (int32, rows + 1)."""
    # Not NumPy's sums: a single board is laid out for every solve, and its lists are short.
    values: list[int] = []
    offsets = [0]
    for row in lists:
        values += row
        offsets.append(len(values))
    return {
        f"{name}.values": np.array(values, dtype),
        f"{name}.offsets": np.array(offsets, np.int32),
    }


def list_of(arrays: Arrays, name: str, row: int) -> list[int]:
    """Take the list of one row out of a list column."""
    start, stop = arrays[f"{name}.offsets"][row : row + 2]
    values: list[int] = arrays[f"{name}.values"][start:stop].tolist()
    return values


def letter_features(arrays: Arrays) -> npt.NDArray[np.float64]:
    """Tell of each row of `letter` the LETTER_FEATURES: (rows, 3).

    Mean log2 of the letters' frequencies, share of vowels, and how often there is an S, which
    makes a plural of every noun.
    """
    values, offsets = arrays["letter.values"], arrays["letter.offsets"]
    sizes = np.diff(offsets)
    row = np.repeat(np.arange(len(sizes)), sizes)
    table = np.full(128, np.log2(RARE_PERMILLE))
    table[[ord(letter) for letter in _PERMILLE]] = np.log2(list(_PERMILLE.values()))
    frequency = np.where(values < 128, table[np.clip(values, 0, 127)], table[0])

    def mean(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.bincount(row, weights, len(sizes)) / np.maximum(sizes, 1)

    plurals = np.bincount(row[values == ord("S")], minlength=len(sizes))
    vowels = np.isin(values, _VOWELS).astype(np.float64)
    return np.column_stack([mean(frequency), mean(vowels), plurals])

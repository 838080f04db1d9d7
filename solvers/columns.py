"""Columns of boards: a list for each row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nightgrid.solvers.algebra import Arrays


def list_column(name: str, lists: Iterable[Sequence[int]]) -> dict[str, npt.NDArray[Any]]:
    """Encode lists of whole numbers as NAME.values and NAME.offsets (rows + 1), both int32."""
    # Not NumPy's sums: a single board is encoded for every solve, and its lists are short.
    values: list[int] = []
    offsets = [0]
    for row in lists:
        values += row
        offsets.append(len(values))
    return {
        f"{name}.values": np.array(values, np.int32),
        f"{name}.offsets": np.array(offsets, np.int32),
    }


def list_of(arrays: Arrays, name: str, row: int) -> list[int]:
    """Return the list of one row of a list column."""
    start, stop = arrays[f"{name}.offsets"][row : row + 2]
    values: list[int] = arrays[f"{name}.values"][start:stop].tolist()
    return values

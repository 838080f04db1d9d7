"""Convert Arrow tables of puzzles into the NumPy columns that solvers take."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

TEXTS = frozenset({"clue", "dictionary_id"})
"""Text columns that are part of a puzzle."""


def arrays_of(puzzles: pa.Table) -> dict[str, npt.NDArray[Any]]:
    """Convert the columns that solvers read into `nightgrid.solvers.algebra.Arrays`.

    A list column NAME becomes NAME.values and NAME.offsets (int32, rows + 1, starting at 0). Text
    columns are left out, except TEXTS, which become arrays of str. The arrays are writable copies:
    kernels are compiled for writable arrays.
    """
    arrays: dict[str, npt.NDArray[Any]] = {}
    for field in puzzles.schema:
        column = puzzles.column(field.name).combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            # An empty table combines to no chunk at all.
            column = column.chunk(0) if column.num_chunks else pa.array([], field.type)
        if pa.types.is_list(field.type):
            offsets = column.offsets.to_numpy()
            values = column.values.slice(offsets[0], offsets[-1] - offsets[0])
            arrays[f"{field.name}.values"] = np.array(values.to_numpy(zero_copy_only=False))
            arrays[f"{field.name}.offsets"] = (offsets - offsets[0]).astype(np.int32, copy=False)
        elif pa.types.is_integer(field.type):
            arrays[field.name] = np.array(column.to_numpy())
        elif field.name in TEXTS:
            arrays[field.name] = np.array(column.to_pylist(), dtype=np.str_)
    return arrays


def slice_arrays(
    arrays: dict[str, npt.NDArray[Any]], start: int, stop: int
) -> dict[str, npt.NDArray[Any]]:
    """Slice rows `start` to `stop` out of columns; offsets start at 0 again."""
    cut: dict[str, npt.NDArray[Any]] = {}
    for name, array in arrays.items():
        if name.endswith(".values"):
            continue
        if name.endswith(".offsets"):
            bounds = array[start : stop + 1]
            values = arrays[f"{name.removesuffix('.offsets')}.values"]
            cut[f"{name.removesuffix('.offsets')}.values"] = values[bounds[0] : bounds[-1]]
            cut[name] = bounds - bounds[0]
        else:
            cut[name] = array[start:stop]
    return cut

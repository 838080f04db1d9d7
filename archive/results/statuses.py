"""Statuses of jobs: which of them are answers, and which rows have them."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
import pyarrow.compute as pc

from nightgrid.solvers.algebra import Status

PROVEN = (str(Status.SOLVED), str(Status.UNSOLVABLE))
"""Statuses that are proven, and so can contradict each other."""
FINAL = (*PROVEN, str(Status.INVALID))
"""Statuses that no budget changes."""


def is_among(status: pa.ChunkedArray, wanted: Collection[str]) -> pa.ChunkedArray:
    """Return whether each status of a column is among some; null is not."""
    return pc.is_in(status, value_set=pa.array(sorted(wanted), pa.string()))

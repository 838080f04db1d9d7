"""Keep in memory which boards a segment of puzzles has: a night asks that several times.

A segment is named after its boards, so what was read under a name stays true. It is kept for a
minute, in bounded memory: a program that goes on for long finds damage by reading again.
"""

from __future__ import annotations

from contextlib import suppress
from threading import Lock

import pyarrow as pa
from cachetools import TTLCache

from nightgrid.archive.lake.storage import Lake

KEPT_BYTES = 8 * 2**20
"""Bytes of ids that are kept, at most, and ENTRY_BYTES for each segment."""
ENTRY_BYTES = 640
"""What an entry takes beside its ids: names, arrays and places in tables."""
KEPT_S = 60.0

_lock = Lock()
_kept: TTLCache[tuple[str, str], pa.ChunkedArray] = TTLCache(
    KEPT_BYTES, KEPT_S, getsizeof=lambda ids: ids.nbytes + ENTRY_BYTES
)


def kept_ids(lake: Lake, path: str) -> pa.ChunkedArray | None:
    """Return the ids of a segment that was read or written a moment ago; None for all else."""
    with _lock:
        return _kept.get((lake.url, path))


def keep_ids(lake: Lake, path: str, ids: pa.ChunkedArray) -> None:
    """Keep the ids of a segment. Those of a large one, and of one without a board, are not kept."""
    # A segment that is gone is read as one without a board.
    if len(ids) and ids.nbytes <= KEPT_BYTES:
        # A slice would hold the ids of the whole table that it is of.
        own = pa.chunked_array([pa.concat_arrays(ids.chunks)])
        with _lock, suppress(ValueError):
            _kept[lake.url, path] = own

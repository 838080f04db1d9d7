"""Chunk sizes: what one message should stand for, so that nobody waits and the end is not ragged.

Guided self-scheduling (Polychronopoulos and Kuck, 1987): a chunk is a fixed share of what is left,
so that chunks are long while there is much to do and short when it runs out. Within a plan jobs
stand from the most expensive down, and drivers send the most expensive chunks first (the longest
processing time first, Graham, 1969): whatever is worked last is short, whoever works it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

CHUNK_MAX_S = 4.0
"""Seconds of expected work that one chunk of many holds at most."""
CHUNK_MIN_S = 0.05
"""Below this a chunk would cost more in messages and files than in work."""
CHUNK_MAX_ROWS = 32_768
SHARES_PER_WORKER = 4
"""A chunk is one of so many shares of the work left, for each worker: expectations of single
jobs are off by a factor of two, those of chunks by less."""
CHUNKS_BEFORE_GROWTH = 16_384
"""Beyond so many chunks they become longer, twice as long after as many more: whatever the length
of a plan, a segment of its manifest has numbers enough."""


def chunk_s(left_s: float, worker_count: int, chunks_before: int = 0) -> float:
    """Choose the expected seconds of the next chunk from those of the work that is left."""
    share_s = left_s / (SHARES_PER_WORKER * max(1, worker_count))
    growth = 2.0 ** (chunks_before // CHUNKS_BEFORE_GROWTH)
    return growth * min(max(share_s, CHUNK_MIN_S), CHUNK_MAX_S)


def cut(
    cost_s: npt.NDArray[np.float64],
    stop_left_s: float,
    worker_count: int,
    chunks_before: int = 0,
) -> Iterator[tuple[int, int]]:
    """Cut jobs, from the most expensive down, into chunks: yield where each begins and ends.

    `stop_left_s` is what is left to do after these jobs. A job that takes as long as a chunk
    stands alone.
    """
    upto = np.cumsum(cost_s)
    total = float(upto[-1]) if len(upto) else 0.0
    start, chunks = 0, chunks_before
    while start < len(cost_s):
        before = float(upto[start - 1]) if start else 0.0
        wanted = chunk_s(total - before + stop_left_s, worker_count, chunks)
        # The job with which the chunk is long enough is its last.
        stop = int(np.searchsorted(upto, before + wanted, side="left")) + 1
        stop = min(max(stop, start + 1), start + CHUNK_MAX_ROWS, len(cost_s))
        if stop - start > 1 and cost_s[start] >= wanted:
            stop = start + 1
        yield start, stop
        start, chunks = stop, chunks + 1

"""Give freed memory back, so that what streams through a process does not add up in it."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache

_MMAP_THRESHOLD = -3
"""glibc's number for the size from which on a buffer is mapped by itself."""
MAPPED_BYTES = 131_072
"""As at the start: left alone, glibc raises it to the largest buffer ever freed."""


@cache
def _trim() -> Callable[[int], int]:
    """Set the C library up to return what is freed, and find what makes it return the rest."""
    library = ctypes.CDLL(None) if sys.platform.startswith("linux") else None
    trim: Callable[[int], int] | None = getattr(library, "malloc_trim", None)
    if library is None or trim is None:
        return lambda _: 0
    library.mallopt(_MMAP_THRESHOLD, MAPPED_BYTES)
    return trim


def give_back() -> None:
    """Let the C library return what it keeps of freed memory, where it can; takes milliseconds.

    Parquet files are read and written in many pieces that are larger than what it would return by
    itself: between two batches of a plan a driver would keep as much as it uses.
    """
    _trim()(0)

"""Give freed memory back, so that what streams through a process does not add up in it."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""glibc's numbers for the free memory from which on it returns some, for the size from which on a
buffer is mapped by itself, and for how many pools there are (malloc.h)."""
MAPPED_BYTES = TRIM_BYTES = 131_072
"""As at the start: left alone, glibc raises them to the largest buffer ever freed."""
KEPT_MAPPED_BYTES, KEPT_BYTES = 2**25, 2**26
"""What `keep_freed` raises them to, the former as far as glibc allows."""
LARGE_BYTES, LARGE_KEPT_BYTES = 2**18, 2**20
"""What `map_large` sets them to."""


@cache
def _library() -> Any:
    library = ctypes.CDLL(None) if sys.platform.startswith("linux") else None
    return library if hasattr(library, "malloc_trim") else None


def share_arena() -> None:
    """Have the C library make one pool for all threads, not one for each; before they start."""
    library = _library()
    if library is not None:
        library.mallopt(_ARENA_MAX, 1)


def keep_freed() -> None:
    """Let the C library keep what is freed for what is allocated next, until `give_back`.

    Parquet files are read and written through many short-lived buffers. To get the pages of each
    from the system anew takes longer than to fill them.
    """
    library = _library()
    if library is not None:
        library.mallopt(_MMAP_THRESHOLD, KEPT_MAPPED_BYTES)
        library.mallopt(_TRIM_THRESHOLD, KEPT_BYTES)


def map_large() -> None:
    """Have the C library map larger buffers by themselves, and unmap each when it is freed.

    Left alone, it keeps freed ones of up to 32 MB for what is allocated next. Where each step takes
    a few such buffers of its own sizes, those of the last step are too small for it and stay.
    """
    library = _library()
    if library is not None:
        library.mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
        library.mallopt(_TRIM_THRESHOLD, LARGE_KEPT_BYTES)


def give_back() -> None:
    """Undo `keep_freed`, and let the C library return what it keeps of freed memory."""
    library = _library()
    if library is not None:
        library.mallopt(_MMAP_THRESHOLD, MAPPED_BYTES)
        library.mallopt(_TRIM_THRESHOLD, TRIM_BYTES)
    trim()


def trim() -> None:
    """Let the C library return what lies free just now, where it can; takes milliseconds."""
    library = _library()
    if library is not None:
        library.malloc_trim(0)

"""Return freed memory to the system, so that streams through a process do not add up in it."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""glibc's numbers for the free memory from which on it returns some, for the size from which on a
buffer is mapped by itself, and for how many pools there are (malloc.h)."""
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


def map_large() -> None:
    """Have the C library map larger buffers by themselves, and unmap each when it is freed.

    Left alone, it keeps freed ones of up to 32 MB for what is allocated next. Where each step takes
    a few such buffers of its own sizes, those of the last step are too small for it and stay.
    """
    library = _library()
    if library is not None:
        library.mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
        library.mallopt(_TRIM_THRESHOLD, LARGE_KEPT_BYTES)


def trim() -> None:
    """Let the C library return what lies free just now, where it can; takes milliseconds."""
    library = _library()
    if library is not None:
        library.malloc_trim(0)

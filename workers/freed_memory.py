"""Return freed memory to the system, so that a process that streams data does not keep growing."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

LIBC: Any = ctypes.CDLL(None) if sys.platform.startswith("linux") else None
IS_GLIBC = hasattr(LIBC, "malloc_trim")
_MMAP_THRESHOLD = -3
"""M_MMAP_THRESHOLD of glibc (malloc.h): the size from which a buffer gets a mapping of its own."""
LARGE_BYTES = 2**18


def map_large() -> None:
    """Make the C library map large buffers separately, so that freeing one unmaps it.

    By default glibc keeps freed buffers of up to 32 MB for later allocations. When each step
    allocates a few buffers of different sizes, those of the last step are too small to reuse and
    pile up.
    """
    if IS_GLIBC:
        LIBC.mallopt(_MMAP_THRESHOLD, LARGE_BYTES)


def trim() -> None:
    """Return free heap memory to the system where the C library can; takes milliseconds."""
    if IS_GLIBC:
        LIBC.malloc_trim(0)

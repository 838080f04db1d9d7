"""Return freed memory to the system, so that streams through a process do not add up in it."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

LIBC: Any = ctypes.CDLL(None) if sys.platform.startswith("linux") else None
IS_GLIBC = hasattr(LIBC, "malloc_trim")
_MMAP_THRESHOLD = -3
"""glibc's number for the size from which on a buffer is mapped by itself (malloc.h)."""
LARGE_BYTES = 2**18


def map_large() -> None:
    """Have the C library map larger buffers by themselves, and unmap each when it is freed.

    Left alone, it keeps freed ones of up to 32 MB for what is allocated next. Where each step takes
    a few such buffers of its own sizes, those of the last step are too small for it and stay.
    """
    if IS_GLIBC:
        LIBC.mallopt(_MMAP_THRESHOLD, LARGE_BYTES)


def trim() -> None:
    """Let the C library return what lies free just now, where it can; takes milliseconds."""
    if IS_GLIBC:
        LIBC.malloc_trim(0)

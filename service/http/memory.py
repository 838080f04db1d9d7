"""One place for freed memory, however many threads ask: a service that runs for months stays small.

glibc and Arrow's own allocators keep pools for each thread. The threads of the service take turns,
and every pool grows to what the largest request of its thread once needed.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys

ARROW_POOL = "ARROW_DEFAULT_MEMORY_POOL"
"""Arrow reads this variable once, when it is loaded."""
M_ARENA_MAX = -8
"""glibc, malloc.h: the number of pools that `malloc` may make."""


def share_one_pool() -> None:
    """Let Arrow take its memory from `malloc`, and `malloc` have one pool.

    To be called before Arrow is loaded and threads are started. A pool of Arrow's that the
    environment names is left, and `malloc` where the C library is not glibc.
    """
    os.environ.setdefault(ARROW_POOL, "system")
    if sys.platform != "linux":
        return
    name = ctypes.util.find_library("c")
    mallopt = getattr(ctypes.CDLL(name), "mallopt", None) if name else None
    if mallopt is not None:
        mallopt(M_ARENA_MAX, 1)

"""One place for freed memory, however many threads ask: a service that runs for months stays small.

glibc and Arrow's own allocators keep pools for each thread. The threads of the service take turns,
and every pool grows to what the largest request of its thread once needed.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

ARROW_POOL = "ARROW_DEFAULT_MEMORY_POOL"
"""Arrow reads this variable once, when it is loaded."""
M_ARENA_MAX = -8
"""glibc, malloc.h: the number of pools that `malloc` may make."""
TRIM_S = 30.0
"""How often freed memory is given back; a request that needs memory may wait for it some ms."""


def share_one_pool() -> None:
    """Let Arrow take its memory from `malloc`, and `malloc` have one pool.

    To be called before Arrow is loaded and threads are started. A pool of Arrow's that the
    environment names is left, and `malloc` where the C library is not glibc.
    """
    os.environ.setdefault(ARROW_POOL, "system")
    mallopt = _of_glibc("mallopt")
    if mallopt is not None:
        mallopt(M_ARENA_MAX, 1)


def give_back() -> None:
    """Give whole pages of freed memory back to the system, also from the middle of the pool.

    `free` gives back only what lies at the pool's end (mallopt(3), M_TRIM_THRESHOLD). Nothing is
    done where the C library is not glibc. Blocks.
    """
    malloc_trim = _of_glibc("malloc_trim")
    if malloc_trim is not None:
        malloc_trim(0)


class FreedMemory:
    """Gives freed memory back now and then, as long as a service is at work."""

    def begin(self) -> None:
        """Give back now and then, in the running event loop."""
        self._task = asyncio.create_task(self._give_back_again())

    async def end(self) -> None:
        """Give back no more."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _give_back_again(self) -> None:
        while True:
            await asyncio.sleep(TRIM_S)
            await asyncio.to_thread(give_back)


def _of_glibc(function: str) -> Callable[..., Any] | None:
    if sys.platform != "linux":
        return None
    # What the process has loaded; looking for the library by its name runs other programs.
    return getattr(ctypes.CDLL(None), function, None)

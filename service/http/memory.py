"""One memory pool for all threads, so that a service that runs for months stays small.

glibc and Arrow's own allocators keep a pool for each thread. The threads of the service take turns,
and every pool would grow to the largest request that its thread ever had.
"""

from __future__ import annotations

import asyncio
import os
import sys

from nightgrid.workers.freed_memory import IS_GLIBC, LIBC, trim

ARROW_POOL = "ARROW_DEFAULT_MEMORY_POOL"
"""Variable that Arrow reads once, when it is loaded."""
_ARENA_MAX = -8
"""M_ARENA_MAX of glibc: the number of pools (malloc.h)."""
TRIM_S = 30.0
"""Interval at which freed memory is returned; a request that needs memory may wait some ms."""


class _NoPandas:
    """An import finder that hides pandas.

    If installed, Arrow imports it at its first conversion: 40 MB that nothing here uses.
    """

    def find_spec(self, name: str, *_: object) -> None:
        """Reject pandas; find nothing else."""
        if name == "pandas":
            raise ModuleNotFoundError("pandas is kept out of this process", name=name)


def share_one_pool() -> None:
    """Make Arrow allocate from `malloc`, and `malloc` use one pool.

    Call it before loading Arrow and starting threads. Keeps an Arrow pool named by the environment,
    and `malloc` if the C library is not glibc.
    """
    os.environ.setdefault(ARROW_POOL, "system")
    sys.meta_path.insert(0, _NoPandas())
    if IS_GLIBC:
        LIBC.mallopt(_ARENA_MAX, 1)


async def give_back_memory() -> None:
    """Return freed memory to the system every TRIM_S, until the task is cancelled.

    By default glibc returns only the end of its heap (mallopt(3), M_TRIM_THRESHOLD), and the
    long-lived data of a service is spread all over it.
    """
    while True:
        await asyncio.to_thread(trim)
        await asyncio.sleep(TRIM_S)

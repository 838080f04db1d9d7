"""One place for freed memory, however many threads ask: a service that runs for months stays small.

glibc and Arrow's own allocators keep pools for each thread. The threads of the service take turns,
and every pool grows to what the largest request of its thread once needed.
"""

from __future__ import annotations

import asyncio
import os
import sys

from nightgrid.workers.freed_memory import IS_GLIBC, LIBC, trim

ARROW_POOL = "ARROW_DEFAULT_MEMORY_POOL"
"""Arrow reads this variable once, when it is loaded."""
_ARENA_MAX = -8
"""glibc's number for how many pools there are (malloc.h)."""
TRIM_S = 30.0
"""How often freed memory is given back; a request that needs memory may wait for it some ms."""


class _NoPandas:
    """An import finder that hides pandas.

    Where it is installed, Arrow imports it at its first conversion: 40 MB that nothing here uses.
    """

    def find_spec(self, name: str, *_: object) -> None:
        """Refuse pandas; find nothing else."""
        if name == "pandas":
            raise ModuleNotFoundError("pandas is kept out of this process", name=name)


def share_one_pool() -> None:
    """Let Arrow take its memory from `malloc`, and `malloc` have one pool.

    To be called before Arrow is loaded and threads are started. A pool of Arrow's that the
    environment names is left, and `malloc` where the C library is not glibc.
    """
    os.environ.setdefault(ARROW_POOL, "system")
    sys.meta_path.insert(0, _NoPandas())
    if IS_GLIBC:
        LIBC.mallopt(_ARENA_MAX, 1)


async def give_back_memory() -> None:
    """Return freed memory to the system every TRIM_S, until the task is cancelled.

    By itself glibc returns only what lies at the end of its pool (mallopt(3), M_TRIM_THRESHOLD),
    and what a service keeps lies everywhere.
    """
    while True:
        await asyncio.to_thread(trim)
        await asyncio.sleep(TRIM_S)

"""Give freed memory back, so that what streams through a process does not add up in it."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any


@cache
def _trim() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)


def give_back() -> None:
    """Let the C library return what it keeps of freed memory, where it can; takes milliseconds.

    Parquet files are read and written in many pieces that are larger than what it would return by
    itself: between two batches of a plan a driver would keep as much as it uses.
    """
    trim = _trim()
    if trim is not None:
        trim(0)

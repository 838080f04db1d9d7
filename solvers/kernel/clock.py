"""A clock that kernels can read: budgets in seconds hold inside compiled code."""

from __future__ import annotations

import sys

import numpy as np
from numba import types

from nightgrid.solvers.kernel.compiling import kernel

_CLOCK_MONOTONIC = 6 if sys.platform == "darwin" else 1
# Resolved from the C library by name, which unlike a ctypes pointer can be cached on disk.
_clock_gettime = types.ExternalFunction(
    "clock_gettime", types.int32(types.int32, types.CPointer(types.int64))
)


@kernel
def monotonic_ns(timespec: np.ndarray) -> int:
    """Read the monotonic clock in nanoseconds; `timespec` is scratch, int64[2]."""
    _clock_gettime(np.int32(_CLOCK_MONOTONIC), timespec.ctypes)
    return timespec[0] * 1_000_000_000 + timespec[1]

"""A flag that a running solve looks at, so that another thread can end it."""

from __future__ import annotations

import ctypes
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from nightgrid.solvers.reasons import ReasonCode

LOOK_S = 0.05
"""A second thread looks this often whether the stop that a timed one follows is set."""
_CELLS_AT_ONCE = 64
_CODES = (None, ReasonCode.CANCELLED, ReasonCode.DEADLINE)
"""What the number in a cell means."""
_lock = threading.Lock()
_arenas: list[ctypes.Array[ctypes.c_int64]] = []
"""Memory of the cells. It is never freed: tables that outlive their solve keep an address."""
_free: list[ctypes.c_int64] = []


def _take() -> ctypes.c_int64:
    with _lock:
        if not _free:
            arena = (ctypes.c_int64 * _CELLS_AT_ONCE)()
            _arenas.append(arena)
            size = ctypes.sizeof(ctypes.c_int64)
            _free.extend(ctypes.c_int64.from_buffer(arena, i * size) for i in range(_CELLS_AT_ONCE))
        cell = _free.pop()
        cell.value = 0
        return cell


class Stop:
    """Ends the solves whose budget has it, from another thread: kernels look where the clock is.

    Kernels let go of the interpreter's lock, so that a thread runs beside them. A stop that is set
    stays set.
    """

    def __init__(self) -> None:
        self._cell = _take()
        weakref.finalize(self, _free.append, self._cell)

    @property
    def address(self) -> int:
        """Where the flag lies: an int64 that is 0 while nothing is to be stopped."""
        return ctypes.addressof(self._cell)

    @property
    def reason_code(self) -> ReasonCode | None:
        """Why it is set; None while it is not."""
        return _CODES[self._cell.value]

    def set(self, reason_code: ReasonCode) -> None:
        """Ask the solves to end: with `cancelled` or `deadline`. The first reason stands."""
        code = _CODES.index(reason_code)
        with _lock:
            self._cell.value = self._cell.value or code


class TimedStop(Stop):
    """Is set when its seconds are over, or when the stop that it follows is set."""

    def __init__(self, seconds: float, follows: Stop | None) -> None:
        super().__init__()
        self._ends_ns = time.monotonic_ns() + int(seconds * 1e9)
        self._follows = follows

    @property
    def reason_code(self) -> ReasonCode | None:
        """Why it is set; None while it is not."""
        if self._follows is not None and self._follows.reason_code is not None:
            self.set(self._follows.reason_code)
        elif time.monotonic_ns() >= self._ends_ns:
            self.set(ReasonCode.DEADLINE)
        return super().reason_code

    def seconds_left(self) -> float:
        """Return how long it is until its seconds are over."""
        return max(0.0, (self._ends_ns - time.monotonic_ns()) / 1e9)


@contextmanager
def stopped_after(seconds: float, follows: Stop | None = None) -> Iterator[Stop]:
    """Yield a stop that is set when its seconds are over, or when the stop that it follows is."""
    stop, done = TimedStop(seconds, follows), threading.Event()

    def look() -> None:
        # Kernels read the flag alone: this look sets it.
        while stop.reason_code is None:
            left = stop.seconds_left()
            if done.wait(left if follows is None else min(left, LOOK_S)):
                return

    thread = threading.Thread(target=look, name="stopped-after", daemon=True)
    thread.start()
    try:
        yield stop
    finally:
        done.set()
        thread.join()

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
"""A timed stop looks this often whether the stop that it follows is set."""
_CODES = (None, ReasonCode.CANCELLED, ReasonCode.DEADLINE)
"""What the number in a cell means."""
_lock = threading.Lock()
_free: list[ctypes.c_int64] = []
"""Cells of stops that are gone. They are never freed: tables that outlive their solve keep an
address."""


class Stop:
    """Ends the solves whose budget has it, from another thread: kernels look where the clock is.

    Kernels let go of the interpreter's lock, so that a thread runs beside them. A stop that is set
    stays set.
    """

    def __init__(self) -> None:
        with _lock:
            self._cell = _free.pop() if _free else ctypes.c_int64()
        self._cell.value = 0
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


@contextmanager
def stopped_after(seconds: float, follows: Stop | None = None) -> Iterator[Stop]:
    """Yield a stop that is set when its seconds are over, or when the stop that it follows is."""
    stop, done = Stop(), threading.Event()
    ends = time.monotonic() + seconds

    def look() -> None:
        while stop.reason_code is None:
            left = ends - time.monotonic()
            followed = None if follows is None else follows.reason_code
            if followed is not None or left <= 0:
                stop.set(followed or ReasonCode.DEADLINE)
            elif done.wait(min(left, LOOK_S)):
                return

    thread = threading.Thread(target=look, name="stopped-after", daemon=True)
    thread.start()
    try:
        yield stop
    finally:
        done.set()
        thread.join()

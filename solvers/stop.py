"""A flag that running solves poll, so that another thread can stop them."""

from __future__ import annotations

import ctypes
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from nightgrid.solvers.reasons import ReasonCode

LOOK_S = 0.05
"""How often a timed stop checks the stop that it follows."""
_CODES = (None, ReasonCode.CANCELLED, ReasonCode.DEADLINE)
"""Meanings of the values of a cell."""
_lock = threading.Lock()
_free: list[ctypes.c_int64] = []
"""Cells of deleted stops. They are never freed, because tables that outlive their solve keep an
address."""


class Stop:
    """Stops the solves whose budget has it, from another thread: kernels poll it with the clock.

    Kernels release the GIL, so that a thread can run meanwhile. A stop stays set.
    """

    def __init__(self) -> None:
        with _lock:
            self._cell = _free.pop() if _free else ctypes.c_int64()
        self._cell.value = 0
        weakref.finalize(self, _free.append, self._cell)

    @property
    def address(self) -> int:
        """Address of the flag: an int64 that is 0 unless set."""
        return ctypes.addressof(self._cell)

    @property
    def reason_code(self) -> ReasonCode | None:
        """Why it is set; None if it is not."""
        return _CODES[self._cell.value]

    def set(self, reason_code: ReasonCode) -> None:
        """Stop the solves, with `cancelled` or `deadline`. The first reason wins."""
        code = _CODES.index(reason_code)
        with _lock:
            self._cell.value = self._cell.value or code


@contextmanager
def stopped_after(seconds: float, follows: Stop | None = None) -> Iterator[Stop]:
    """Yield a stop that is set after some seconds, or when the stop that it follows is set."""
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

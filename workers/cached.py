"""A value that takes long to find, found at most once in a while, however many ask for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Cached(Generic[T]):
    """What a function found, for some seconds. One thread finds it, the others wait for it."""

    def __init__(
        self, find: Callable[[], T], kept_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Find nothing yet."""
        self._find = find
        self._kept_s = kept_s
        self._clock = clock
        self._lock = threading.Lock()
        self._found: tuple[float, T] | None = None

    def get(self) -> T:
        """Give what was found lately, or find it. Raises what the function raises."""
        with self._lock:
            if self._found is None or self._clock() - self._found[0] >= self._kept_s:
                value = self._find()
                self._found = self._clock(), value
            return self._found[1]

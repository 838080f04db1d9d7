"""Caches for several threads: the values used last by key, and one value for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from cachetools import Cache, LRUCache, TTLCache

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Thread-safe LRU cache of at most `most` values.

    With `seconds` an entry expires so long after it was put.
    """

    def __init__(self, most: int, seconds: float | None = None) -> None:
        self._values: Cache[K, V] = LRUCache(most) if seconds is None else TTLCache(most, seconds)
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return a value that is kept, or None."""
        with self._lock:
            return self._values.get(key)

    def put(self, key: K, value: V) -> None:
        """Keep a value; the one that was used longest ago may be evicted."""
        with self._lock:
            self._values[key] = value

    def drop(self, key: K) -> None:
        """Evict a value."""
        with self._lock:
            self._values.pop(key, None)


class Cached(Generic[V]):
    """The result of a function, for some seconds. One thread calls it, the others wait."""

    def __init__(self, find: Callable[[], V], kept_s: float) -> None:
        """Call nothing yet."""
        self._find, self._kept_s = find, kept_s
        self._lock = threading.Lock()
        self._found: tuple[float, V] | None = None

    def get(self) -> V:
        """Return the cached result, or call the function. Raises what it raises."""
        with self._lock:
            if self._found is None or time.monotonic() - self._found[0] >= self._kept_s:
                value = self._find()
                self._found = time.monotonic(), value
            return self._found[1]

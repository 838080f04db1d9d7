"""Thread-safe LRU cache, whose entries may expire."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from cachetools import Cache, LRUCache, TTLCache

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """At most `most` values by key, those used last; any thread may use it.

    With `seconds` an entry expires so long after it was put.
    """

    def __init__(self, most: int, seconds: float | None = None) -> None:
        self._values: Cache[K, V] = LRUCache(most) if seconds is None else TTLCache(most, seconds)
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: K) -> bool:
        """Tell whether a value is kept. That does not count as a use."""
        return key in self._values

    def get(self, key: K) -> V | None:
        """Return a value that is kept, or None."""
        with self._lock:
            return self._values.get(key)

    def put(self, key: K, value: V) -> None:
        """Keep a value; the one that was used longest ago may go for it."""
        with self._lock:
            self._values[key] = value

    def drop(self, key: K) -> None:
        """Keep a value no more."""
        with self._lock:
            self._values.pop(key, None)

    def drop_where(self, is_unwanted: Callable[[K], bool]) -> None:
        """Keep those values no more whose keys are unwanted.

        `is_unwanted` may take locks, and use this cache. A key that comes meanwhile is not asked
        about.
        """
        with self._lock:
            keys = list(self._values)
        for key in filter(is_unwanted, keys):
            self.drop(key)

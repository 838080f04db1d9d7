"""Caches keep the values that were used last, and one value for a while, whatever threads do."""

from __future__ import annotations

from threading import Lock

import pytest
from cachetools import LRUCache

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.caches import BoundedCache, Cached


@pytest.fixture
def kept() -> BoundedCache[str, int]:
    """Three values, of which `b` was used longest ago."""
    cache: BoundedCache[str, int] = BoundedCache(3)
    for number, key in enumerate("abc"):
        cache.put(key, number)
    assert cache.get("a") == 0
    return cache


def test_the_value_used_longest_ago_goes_first(kept: BoundedCache[str, int]) -> None:
    kept.put("d", 3)
    assert {key: kept.get(key) for key in "abcd"} == {"a": 0, "b": None, "c": 2, "d": 3}
    assert len(kept) == 3


def test_a_look_whether_a_value_is_kept_is_no_use(kept: BoundedCache[str, int]) -> None:
    assert "b" in kept
    kept.put("d", 3)
    assert "b" not in kept


def test_a_value_that_is_put_again_takes_the_place_of_the_first(
    kept: BoundedCache[str, int],
) -> None:
    kept.put("b", 7)
    assert (len(kept), kept.get("b")) == (3, 7)
    kept.put("d", 3)
    assert "c" not in kept, "to put a value is a use of it"


def test_a_value_is_dropped_once_or_twice(kept: BoundedCache[str, int]) -> None:
    kept.drop("a")
    kept.drop("a")
    assert (len(kept), kept.get("a")) == (2, None)


class Watched(LRUCache[str, int]):
    """A cache that notes whether a lock is held while it is changed."""

    def __init__(self, lock: Lock) -> None:
        super().__init__(3)
        self.lock, self.held = lock, list[bool]()

    def __getitem__(self, key: str) -> int:
        self.held.append(self.lock.locked())
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: int) -> None:
        self.held.append(self.lock.locked())
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        self.held.append(self.lock.locked())
        super().__delitem__(key)


def test_one_thread_at_a_time_changes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cache: BoundedCache[str, int] = BoundedCache(3)
    watched = Watched(cache._lock)
    monkeypatch.setattr(cache, "_values", watched)
    cache.put("a", 1)
    assert cache.get("a") == 1
    cache.drop("a")
    assert len(watched.held) >= 3
    assert all(watched.held)


def test_a_look_is_kept_for_a_while_and_a_failure_is_not():
    now = [0.0]
    looks: list[float] = []

    def look() -> float:
        looks.append(now[0])
        if now[0] == 2:
            raise TransientError("away")
        return now[0]

    cached = Cached(look, 1.0, lambda: now[0])
    assert [cached.get(), cached.get()] == [0, 0]
    now[0] = 1
    assert cached.get() == 1
    now[0] = 2
    with pytest.raises(TransientError):
        cached.get()
    now[0] = 3
    assert cached.get() == 3
    assert looks == [0, 1, 2, 3]

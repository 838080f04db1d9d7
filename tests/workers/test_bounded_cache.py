"""A bounded cache keeps the values that were used last, whatever threads do with it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from nightgrid.workers.bounded_cache import BoundedCache


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


@pytest.fixture
def restless_threads() -> Iterator[None]:
    """Threads that take turns as often as the interpreter lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("restless_threads")
def test_threads_may_use_it_at_the_same_time() -> None:
    cache: BoundedCache[int, int] = BoundedCache(8)

    def use(thread: int) -> None:
        for step in range(5_000):
            key = (step * (thread + 1)) % 24
            cache.put(key, key)
            assert cache.get(key) in (key, None)
            cache.drop((key + thread) % 24)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(use, range(4)))
    kept = [key for key in range(24) if key in cache]
    assert len(kept) == len(cache) <= 8
    assert [cache.get(key) for key in kept] == kept

"""Caches keep the values that were used last, and one value for a while."""

from __future__ import annotations

import pytest

from nightgrid.service.http import caches
from nightgrid.service.http.caches import BoundedCache, Cached
from nightgrid.solvers.errors import TransientError


def test_the_value_used_longest_ago_goes_first() -> None:
    kept: BoundedCache[str, int] = BoundedCache(3)
    for number, key in enumerate("abc"):
        kept.put(key, number)
    assert kept.get("a") == 0
    kept.put("d", 3)
    assert {key: kept.get(key) for key in "abcd"} == {"a": 0, "b": None, "c": 2, "d": 3}
    for _ in range(2):
        kept.drop("a")
    assert kept.get("a") is None


def test_a_look_is_kept_for_a_while_and_a_failure_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    looks: list[float] = []
    monkeypatch.setattr(caches.time, "monotonic", lambda: now[0])

    def look() -> float:
        looks.append(now[0])
        if now[0] == 2:
            raise TransientError("away")
        return now[0]

    cached = Cached(look, 1.0)
    assert [cached.get(), cached.get()] == [0, 0]
    now[0] = 1
    assert cached.get() == 1
    now[0] = 2
    with pytest.raises(TransientError):
        cached.get()
    now[0] = 3
    assert cached.get() == 3
    assert looks == [0, 1, 2, 3]

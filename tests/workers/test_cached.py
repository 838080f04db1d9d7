"""What was found is kept for a while."""

from __future__ import annotations

import pytest

from nightgrid.solvers.errors import TransientError
from nightgrid.workers.cached import Cached


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

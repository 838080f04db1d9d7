"""A new job is refused by what those before it are expected to take, as far as that is known."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from nightgrid.service.http.problems import Problem
from nightgrid.service.http.solves import admission as module
from nightgrid.service.http.solves.admission import JOB_S, Admission
from nightgrid.workers.settings import Settings

SETTINGS = Settings(ondemand_seconds=10, ondemand_wait_seconds=30, interactive_processes=2)  # type: ignore[call-arg]


class Queue:
    """A queue of so many messages, of which the first are told."""

    def __init__(self, waiting: list[str], number: int | None = None) -> None:
        self.waiting = waiting
        self.number = len(waiting) if number is None else number

    def llen(self, _: str) -> int:
        return self.number


@pytest.fixture
def admission(monkeypatch: pytest.MonkeyPatch) -> Admission:
    def told(client: Any, *_: Any) -> list[str]:
        if client.number < 0:
            raise redis.ConnectionError("away")
        return client.waiting

    monkeypatch.setattr(module, "waiting_in_order", told)
    made = Admission(Queue([]), SETTINGS)  # type: ignore[arg-type]
    made.note("small", 0.1)
    made.note("large", 1000.0)
    return made


@pytest.mark.parametrize(
    ("waiting", "number", "expected_s"),
    [
        ([], None, 0.0),
        (["small"] * 20, None, 20 * (0.1 + JOB_S) / 2),
        (["large"], None, 10 / 2),
        (["unknown", "large/share"], None, 5 / 2),
        (["small"] * 10, 1000, 1000 * (0.1 + JOB_S) / 2),
        (["large"], -1, 0.0),
    ],
)
def test_a_wait_is_what_those_before_are_expected_to_take(
    admission: Admission, waiting: list[str], number: int | None, expected_s: float
) -> None:
    admission._client = Queue(waiting, number)  # type: ignore[assignment]
    assert admission.expected_wait_s() == pytest.approx(expected_s)


def test_many_small_jobs_are_taken_where_few_large_ones_are_not(admission: Admission) -> None:
    admission._client = Queue(["small"] * 400)  # type: ignore[assignment]
    admission.check()
    other = Admission(Queue(["unknown"] * 20), SETTINGS)  # type: ignore[arg-type]
    with pytest.raises(Problem) as caught:
        other.check()
    assert (caught.value.status, caught.value.slug) == (429, "queue-full")
    assert caught.value.headers == {"Retry-After": "20"}

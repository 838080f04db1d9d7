"""What is expected of the rest of a job."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from nightgrid.workers.ondemand import status
from nightgrid.workers.ondemand.status import JobStatus

RUN_ID = "a" * 32


class Ref(NamedTuple):
    segment: int
    chunk: int
    result_path: tuple[int, int]


@pytest.mark.parametrize(
    ("segments", "spent_s", "expected_s", "left_s"),
    [
        # The planner has foreseen both parts, and the first took twice as long.
        ([(4.0, 4.0)], {(0, 0): 8.0}, 14.0, 6.0),
        # A job that came back divided: nobody has foreseen its parts.
        ([(0.3,), ()], {(0, 0): 5.0}, None, None),
        # One of its four parts is done.
        ([(5.0,), ()], {(0, 0): 5.0, (1, 0): 10.0}, 45.0, 30.0),
    ],
)
def test_the_rest_is_known_once_the_planner_or_a_part_has_told_it(
    monkeypatch: pytest.MonkeyPatch,
    segments: list[tuple[float, ...]],
    spent_s: dict[tuple[int, int], float],
    expected_s: float | None,
    left_s: float | None,
) -> None:
    sizes = [len(costs_s) or 4 for costs_s in segments]
    refs = [Ref(i, j, (i, j)) for i, size in enumerate(sizes) for j in range(size)]
    run: Any = SimpleNamespace(
        run_id=RUN_ID,
        chunks=lambda: refs,
        segments=[SimpleNamespace(chunk_cost_s=costs_s) for costs_s in segments],
    )
    monkeypatch.setattr(status, "open_run", lambda *_: run)
    monkeypatch.setattr(status, "_spent", lambda _, ref, stamp: (1, stamp))
    lake: Any = SimpleNamespace(stamps=lambda _: spent_s)
    found = status._with_progress(lake, JobStatus(job_id="0" * 32, state="working", run_id=RUN_ID))
    assert (found.chunks_done, found.chunks_total) == (len(spent_s), sum(sizes))
    assert found.states == len(spent_s)
    assert (found.expected_s, found.left_s) == (expected_s, left_s)
